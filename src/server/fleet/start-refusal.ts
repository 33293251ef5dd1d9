import { and, eq, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { users } from '../../../db/schema/accounts.ts'
import { places, runs } from '../../../db/schema/fleet.ts'
import { AppError } from '../../domain/error.ts'
import { HELD, SUSPENDED } from '../../domain/money/start-cost.ts'
import { ALL_RESERVED } from '../../domain/server-list.ts'
import { tooEarly, tooLongUnanswered, UNANSWERED_LIMIT } from '../../domain/start-limits.ts'
import type { Context } from '../runtime/context.ts'
import { countedStartsQuery, unansweredQuery } from './start-limits.ts'

const SMALLER_RESERVED = 'No smaller machine is free right now. Choose the larger one, or try again in a minute.'
const ALREADY_RUNNING = 'A server is already running. Stop it before you start another one.'
const STILL_STOPPING = 'Your last server is still stopping. Please try again in a minute.'
const CHANGED = 'Your plan, or the environment that you chose, just changed. Please try again.'

/** Rereads what a start's write required, and names the first condition that failed. */
export async function whyNotStarted(
  ctx: Context,
  userId: string,
  {
    placeId,
    gpus,
    isSmaller,
    included,
    now,
  }: { placeId: string | null; gpus: number; isSmaller: boolean; included: SQL; now: number },
): Promise<AppError> {
  const [[live], place, [account], starts, [unanswered]] = await ctx.db.batch([
    ctx.db
      .select({ stopRequestedAt: runs.stopRequestedAt })
      .from(runs)
      .where(and(eq(runs.userId, userId), isNull(runs.endedAt))),
    ctx.db
      .select({ id: places.id })
      .from(places)
      .where(and(eq(places.id, placeId ?? ''), isNull(places.retiredAt), lte(places.gpus, gpus))),
    ctx.db
      .select({
        closedAt: users.closedAt,
        suspendedAt: users.suspendedAt,
        heldAt: users.heldAt,
        included: sql<0 | 1>`${included}`,
      })
      .from(users)
      .where(eq(users.id, userId)),
    countedStartsQuery(ctx, userId, now),
    unansweredQuery(ctx, userId, now),
  ])
  // The account was closed after we let this request in: nobody could stop the server.
  if (account?.closedAt !== null) return new AppError('unauthenticated', 'Please sign in first.')
  if (account.suspendedAt !== null) return new AppError('suspended', SUSPENDED, { page: '/billing_history' })
  if (account.heldAt !== null) return new AppError('held', HELD)
  if (!account.included) return new AppError('conflict', CHANGED)
  if (placeId !== null && !place.length) return new AppError('not_found', "Your plan doesn't include this server.")
  if (live?.stopRequestedAt === null) return new AppError('has_server', ALREADY_RUNNING)
  if (live) return new AppError('stopping', STILL_STOPPING)
  const early =
    unanswered && unanswered.ms >= UNANSWERED_LIMIT.total && unanswered.oldest !== null
      ? tooLongUnanswered(unanswered.oldest, now)
      : tooEarly(starts, now)
  if (early) return new AppError('too_many', early.sentence, { retryAfter: early.seconds })
  if (placeId) return new AppError('no_capacity', 'This server is not free right now. Choose another one.')
  return new AppError('no_capacity', isSmaller ? SMALLER_RESERVED : ALL_RESERVED)
}
