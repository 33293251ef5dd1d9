import { and, desc, eq, lt, or } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { auditLog, users } from '../../../db/schema.ts'
import { type AuditLine, isAct } from '../../domain/audit.ts'
import { toIso } from '../../domain/instant.ts'
import type { Context } from '../context.ts'

const AT_ONCE = 50
const MOST_IN_FILE = 10_000

export type AuditFilter = {
  /** One of the acts; anything else: all. */
  act: string
  /** A user's id, a subject's id, or an actor's email; empty: all. */
  of: string
  /** `older` of the previous page. */
  before?: string | null
}

export type AuditPage = { lines: AuditLine[]; older: string | null }

/** Newest first. @param whole for a file: as many as a spreadsheet takes, instead of a page */
export async function listAudit(
  ctx: Pick<Context, 'db'>,
  { act, of, before = null }: AuditFilter,
  { whole = false } = {},
): Promise<AuditPage> {
  const actors = alias(users, 'actors')
  const [, time = '', lastId = ''] = /^(\d+)_(.+)$/.exec(before ?? '') ?? []
  const limit = whole ? MOST_IN_FILE : AT_ONCE
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
