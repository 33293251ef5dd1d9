import { type SQL, sql } from 'drizzle-orm'
import type { Query } from '../../../../db/client.ts'
import type { RunRow } from '../../../../db/schema/fleet.ts'
import type { EndReason } from '../../../domain/run-end.ts'
import type { Message } from '../../mail/letter.ts'
import { emailQuery, noticeQuery } from '../../mail/notices.ts'
import type { Context } from '../../runtime/context.ts'
import { endedCause, isOpenAccount } from './ends.ts'

/**
 * Tells a run's user that it ended. Also by email if it wasn't their doing: they may not be looking.
 * @param isEnded an SQL condition: this batch ended it
 * @param because `full`: there was no server for them, which they see at once; in line, they keep their turn
 * @returns the notice's query last
 */
export function endedQueries(
  ctx: Context,
  run: RunRow,
  message: Message,
  isEnded: SQL,
  because: EndReason | 'full' | null,
): Query[] {
  const cause = endedCause(run.id)
  const notice = noticeQuery(ctx, run.userId, message, { when: isEnded, cause, read: because === 'you' })
  if (because === 'you' || because === 'exited' || because === 'full') return [notice]
  const to = { id: run.userId, email: sql`(SELECT email FROM users WHERE id = ${run.userId})` }
  const isNews = because === 'budget' ? sql`NOT ${isToldOfBudget(run)}` : sql`1`
  const isTold = sql`${isEnded} AND ${isOpenAccount(run)} AND ${isNews}`
  return [emailQuery(ctx, to, message, isTold, cause), notice]
}

/** The email about their budget has said that it stops this server. */
function isToldOfBudget({ userId, endsAt }: RunRow): SQL {
  return sql`EXISTS (SELECT 1 FROM outbox WHERE cause > ${`budget:${userId}:`} AND cause < ${`budget:${userId};`}
    AND created_at >= ${endsAt})`
}
