import { and, desc, eq, lt, or } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { users } from '../../../db/schema/accounts.ts'
import { auditLog } from '../../../db/schema/operations.ts'
import { AUDIT_CSV_HEAD, type AuditLine, auditCsv, isAct } from '../../domain/audit.ts'
import { toIso } from '../../domain/instant.ts'
import type { Context } from '../runtime/context.ts'

const AT_ONCE = 50
const AT_ONCE_IN_FILE = 5_000

export type AuditFilter = {
  /** One of the acts; any other value means all. */
  act: string
  /** A user's ID, a subject's ID, or an actor's email; empty means all. */
  of: string
  /** `older` of the previous page. */
  before?: string | null
}

export type AuditPage = { lines: AuditLine[]; older: string | null }

/** The whole log, newest first, read no faster than the client downloads it. */
export function auditFile(ctx: Pick<Context, 'db'>, filter: AuditFilter): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder()
  let before: string | null = null
  return new ReadableStream({
    start: (file) => file.enqueue(utf8.encode(AUDIT_CSV_HEAD)),
    async pull(file) {
      const { lines, older } = await listAudit(ctx, { ...filter, before }, AT_ONCE_IN_FILE)
      if (lines.length) file.enqueue(utf8.encode(auditCsv(lines)))
      before = older
      if (!older) file.close()
    },
  })
}

/** Newest first. */
export async function listAudit(
  ctx: Pick<Context, 'db'>,
  { act, of, before = null }: AuditFilter,
  limit = AT_ONCE,
): Promise<AuditPage> {
  const actors = alias(users, 'actors')
  const [, time = '', lastId = ''] = /^(\d+)_(.+)$/.exec(before ?? '') ?? []
  const rows = await ctx.db
    .select({ row: auditLog, email: actors.email })
    .from(auditLog)
    .leftJoin(actors, eq(actors.id, auditLog.actor))
    .where(
      and(
        isAct(act) ? eq(auditLog.act, act) : undefined,
        of
          ? or(eq(auditLog.userId, of), eq(auditLog.subject, of), eq(auditLog.actor, of), eq(actors.email, of))
          : undefined,
        time
          ? or(lt(auditLog.at, Number(time)), and(eq(auditLog.at, Number(time)), lt(auditLog.id, lastId)))
          : undefined,
      ),
    )
    .orderBy(desc(auditLog.at), desc(auditLog.id))
    .limit(limit + 1)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)?.row
  return {
    lines: shown.map(({ row, email }) => ({ ...row, at: toIso(row.at), actor: email ?? row.actor })),
    older: last && rows.length > limit ? `${last.at}_${last.id}` : null,
  }
}
