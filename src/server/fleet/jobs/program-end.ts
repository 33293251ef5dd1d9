import { eq, sql } from 'drizzle-orm'
import { type RunRow, runs } from '../../../../db/schema/fleet.ts'
import { MINUTE_MS, SECOND_MS } from '../../../domain/instant.ts'
import type { Context } from '../../runtime/context.ts'
import { requestStop } from '../stop-run.ts'

/** A machine speaks at least every 30 s. */
const SILENT_MS = 3 * MINUTE_MS
const LOOK_AGAIN_MS = 30 * SECOND_MS

const SILENT = {
  code: 'silent' as const,
  message:
    'Your server stopped telling us about its program, so we stopped it. We only count the time until we last heard from it.',
}

/** A log that doesn't answer delays an end by about a minute. */
const MOST_TRIES = 5

/**
 * What a run until exit costs once its machine is gone and no further word can follow: whatever stopped it, nobody pays
 * for the time after its exit or its last word. From then on, its log takes nothing more. Writes nothing to the
 * database.
 * @throws while its log doesn't answer
 */
export async function meterToLastWord(ctx: Context, run: RunRow, attempts: number): Promise<RunRow> {
  const { id, billedFrom, meteredUntil } = run
  if (!run.untilExit || billedFrom === null || meteredUntil === null) return run
  const last = await ctx
    .runLog(id)
    .end(ctx.now())
    .catch((error) => {
      if (attempts < MOST_TRIES) throw error
      return null
    })
  if (!last) return run
  const { heardAt, exitedAt } = last
  const until = Math.min(meteredUntil, exitedAt ?? Infinity, heardAt ?? Infinity)
  return { ...run, meteredUntil: Math.max(billedFrom, until) }
}

/**
 * Ends a run with its program, as of the moment it exited; or if its machine has said nothing for 3 minutes, as of its
 * last word: nobody pays for time that we can't prove.
 * @returns when to look again; a time that has come if this run is ended now
 */
export async function endWithProgram(ctx: Context, run: RunRow): Promise<number> {
  const { id, billedFrom, exitedAt } = run
  if (billedFrom === null) return Infinity
  if (exitedAt !== null) {
    await requestStop(ctx, run, exitedAt)
    return exitedAt
  }
  const now = ctx.now()
  const heardAt = await ctx
    .runLog(id)
    .heardAt(now)
    .catch((error) => {
      ctx.log('log_not_read', { runId: id }, error)
      return null
    })
  // If we haven't heard because its log doesn't answer, the machine isn't the silent one.
  if (heardAt === null) return now + LOOK_AGAIN_MS
  const until = Math.max(heardAt, billedFrom)
  if (now < until + SILENT_MS) return until + SILENT_MS
  // Its last message proves that it ran until then.
  await ctx.db
    .update(runs)
    .set({ confirmedAt: sql`max(confirmed_at, ${until})` })
    .where(eq(runs.id, id))
  await requestStop(ctx, run, until, { failure: SILENT, when: sql`exited_at IS NULL` })
  return now
}
