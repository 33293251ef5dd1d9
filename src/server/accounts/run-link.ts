import { eq } from 'drizzle-orm'
import { type RunRow, runs } from '../../../db/schema/fleet.ts'
import { AppError } from '../../domain/error.ts'
import { isRunLinkKey } from '../crypto/run-links.ts'
import { STOPPED } from '../fleet/change-run.ts'
import { requestStop } from '../fleet/stop-run.ts'
import { type Caller, limitCalls } from '../limits/limits.ts'
import type { Context } from '../runtime/context.ts'

/** The run that a mailed link may keep for longer, or stop. @throws not_found, too_many */
export async function getRunOfLink(
  ctx: Context,
  act: 'extend' | 'stop',
  runId: string,
  key: string,
  caller: Caller,
): Promise<RunRow> {
  await limitCalls(ctx, 'extend', caller)
  const isRight = isRunLinkKey(ctx.config.secretKey, act, runId, key)
  const [run] = isRight ? await ctx.db.select().from(runs).where(eq(runs.id, runId)) : []
  if (!run) throw new AppError('not_found', "This link doesn't work. Copy the whole address from the email.")
  return run
}

/** Stops the run, as its user would. @throws not_found, not_running, too_many */
export async function stopByLink(ctx: Context, runId: string, key: string, caller: Caller): Promise<void> {
  const run = await getRunOfLink(ctx, 'stop', runId, key, caller)
  const channel = ctx.channel(run.userId)
  await channel.arm(run.userId)
  if (!(await requestStop(ctx, run, ctx.now()))) throw new AppError('not_running', STOPPED)
  ctx.background(channel.wake(run.userId))
}
