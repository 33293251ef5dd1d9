import type { RunRow } from '../../../db/schema/fleet.ts'
import { AppError } from '../../domain/error.ts'
import { HOUR_MS } from '../../domain/instant.ts'
import { LATEST_END_MS } from '../../domain/run-change.ts'
import { canMoveEnd, END_MOVED, moveEnd, PAST_PLAN, STOPPED } from '../fleet/change-run.ts'
import type { Caller } from '../limits/limits.ts'
import type { Context } from '../runtime/context.ts'
import { getRunOfLink } from './run-link.ts'

const FREE_MINUTES_END_IT = 'Your free minutes end this server first. Choose a plan to keep it longer.'

/**
 * The end that the link would set; null if there is nothing to extend: without an end, or where a trial's minutes or a
 * smaller plan end it first.
 */
export function extendedEnd(run: RunRow, now: number): number | null {
  const { endsAt, mustStopAt, planEnds } = run
  if (endsAt === null || planEnds || endsAt >= (mustStopAt ?? Infinity) || !canMoveEnd(run, now)) return null
  return Math.min(endsAt + HOUR_MS, now + LATEST_END_MS)
}

/**
 * Adds an hour to the end that the page showed: a second click adds nothing.
 * @throws not_found, not_running, conflict, too_many
 */
export async function extendByLink(
  ctx: Context,
  runId: string,
  { key, endsAt, caller }: { key: string; endsAt: string; caller: Caller },
): Promise<RunRow> {
  const run = await getRunOfLink(ctx, 'extend', runId, key, caller)
  if (!canMoveEnd(run, ctx.now())) throw new AppError('not_running', STOPPED)
  if (run.endsAt !== Date.parse(endsAt)) throw new AppError('conflict', END_MOVED)
  const end = extendedEnd(run, ctx.now())
  if (end === null) throw new AppError('conflict', run.planEnds ? PAST_PLAN : FREE_MINUTES_END_IT)
  return moveEnd(ctx, run, end, 'mail')
}
