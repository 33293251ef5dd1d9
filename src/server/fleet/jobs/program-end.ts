import { eq, sql } from 'drizzle-orm'
import { type RunRow, runs } from '../../../../db/schema.ts'
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

/** A log that doesn't answer holds up an end for about a minute. */
const MOST_TRIES = 5

/**
 * What a run until exit costs whose machine is gone, so that no word follows: whatever stopped it, nobody pays for what
 * came after its exit or its last word. Nothing of its log is taken from then on. Writes nothing to the database.
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
 * Ends a run with its program, as of the moment it exited, or one whose machine has said nothing for 3 minutes, as of its
 * last word: nobody pays for what nobody can tell them.
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
  // Not heard because its log doesn't answer: then it isn't the machine that is silent.
  if (heardAt === null) return now + LOOK_AGAIN_MS
  const until = Math.max(heardAt, billedFrom)
  if (now < until + SILENT_MS) return until + SILENT_MS
  // Its word is proven, so it ran until then.
  await ctx.db
    .update(runs)
    .set({ confirmedAt: sql`max(confirmed_at, ${until})` })
    .where(eq(runs.id, id))
  await requestStop(ctx, run, until, { failure: SILENT, when: sql`exited_at IS NULL` })
  return now
}
