import { and, asc, eq, sql } from 'drizzle-orm'
import { readInPieces } from '../../../db/client.ts'
import { type JobRow, jobs, type RunEventRow, runEvents } from '../../../db/schema/fleet.ts'
import { type NoticeRow, notices, outbox } from '../../../db/schema/mail.ts'
import { toIso } from '../../domain/instant.ts'
import type { User } from '../../domain/wire/accounts.ts'
import { listAllRuns } from '../fleet/run-list.ts'
import { toJob } from '../fleet/wire.ts'
import { toNotice } from '../mail/bell.ts'
import type { Context } from '../runtime/context.ts'

/** What grows with every run, oldest first, a piece at a time. */
export function runLists(ctx: Context, { id, email }: Pick<User, 'id' | 'email'>) {
  const { db } = ctx
  const happened = readInPieces<RunEventRow>((last, limit) =>
    db
      .select()
      .from(runEvents)
      .where(
        and(
          sql`session_id IN (SELECT id FROM server_sessions WHERE user_id = ${id})`,
          last && sql`(at, id) > (${last.at}, ${last.id})`,
        ),
      )
      .orderBy(asc(runEvents.at), asc(runEvents.id))
      .limit(limit),
  )
  const work = readInPieces<JobRow>((last, limit) =>
    db
      .select()
      .from(jobs)
      .where(and(eq(jobs.userId, id), last && sql`(created_at, id) > (${last.createdAt}, ${last.id})`))
      .orderBy(asc(jobs.createdAt), asc(jobs.id))
      .limit(limit),
  )
  const told = readInPieces<NoticeRow>((last, limit) =>
    db
      .select()
      .from(notices)
      .where(and(eq(notices.userId, id), last && sql`(at, id) > (${last.at}, ${last.id})`))
      .orderBy(asc(notices.at), asc(notices.id))
      .limit(limit),
  )
  const mails = readInPieces<Mailed>((last, limit) =>
    db
      .select({ id: outbox.id, subject: outbox.subject, createdAt: outbox.createdAt, sentAt: outbox.sentAt })
      .from(outbox)
      .where(and(eq(outbox.recipient, email), last && sql`(created_at, id) > (${last.createdAt}, ${last.id})`))
      .orderBy(asc(outbox.createdAt), asc(outbox.id))
      .limit(limit),
  )
  return {
    servers: listAllRuns(ctx, id, { oldestFirst: true }),
    server_events: each(happened, ({ runId, at, what, detail, by }) => ({
      server: runId,
      at: toIso(at),
      what,
      detail,
      by,
    })),
    jobs: each(work, (row) => toJob(row, null)),
    notices: each(told, (row) => ({ ...toNotice(row), read_at: toIso(row.readAt) })),
    // Subjects only: a link that opens the account belongs only in its mailbox.
    mails: each(mails, ({ subject, createdAt, sentAt }) => ({
      subject,
      created_at: toIso(createdAt),
      sent_at: toIso(sentAt),
    })),
  }
}

type Mailed = { id: string; subject: string; createdAt: number; sentAt: number | null }

async function* each<Row, Shown>(pieces: AsyncIterable<Row[]>, show: (row: Row) => Shown): AsyncGenerator<Shown[]> {
  for await (const rows of pieces) yield rows.map(show)
}
