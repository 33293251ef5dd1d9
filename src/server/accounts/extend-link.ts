import { eq } from 'drizzle-orm'
import { type RunRow, runs } from '../../../db/schema.ts'
import { AppError } from '../../domain/error.ts'
import { HOUR_MS } from '../../domain/instant.ts'
import { LATEST_END_MS } from '../../domain/run-change.ts'
import type { Context } from '../context.ts'
import { isExtendKey } from '../extend-key.ts'
import { canMoveEnd, END_MOVED, moveEnd, PAST_PLAN, STOPPED } from '../fleet/change-run.ts'
import { type Caller, limitCalls } from '../limits/limits.ts'

const FREE_MINUTES_END_IT = 'Your free minutes end this server first. Choose a plan to keep it longer.'

/** The run that a mailed link may keep for longer. @throws not_found, too_many */
export async function getRunOfLink(ctx: Context, runId: string, key: string, caller: Caller): Promise<RunRow> {
  await limitCalls(ctx, 'extend', caller)
  const isRight = isExtendKey(ctx.config.secretKey, runId, key)
  const [run] = isRight ? await ctx.db.select().from(runs).where(eq(runs.id, runId)) : []
  if (!run) throw new AppError('not_found', "This link doesn't work. Copy the whole address from the email.")
  return run
}

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
  const run = await getRunOfLink(ctx, runId, key, caller)
  if (!canMoveEnd(run, ctx.now())) throw new AppError('not_running', STOPPED)
  if (run.endsAt !== Date.parse(endsAt)) throw new AppError('conflict', END_MOVED)
  const end = extendedEnd(run, ctx.now())
  if (end === null) throw new AppError('conflict', run.planEnds ? PAST_PLAN : FREE_MINUTES_END_IT)
  return moveEnd(ctx, run, end, 'mail')
}
