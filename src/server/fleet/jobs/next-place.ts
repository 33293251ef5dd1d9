import { eq, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { type LaunchRow, launches, type RunRow } from '../../../../db/schema/fleet.ts'
import type { CloudInstance, LaunchRefusal } from '../../ports/cloud.ts'
import type { Context } from '../../runtime/context.ts'
import { vendorErrorOf } from '../../settings/log.ts'
import { isFreeFor, isNobodysTurn } from '../line/turns.ts'
import { IS_FREE, setAsideQuery } from '../places.ts'
import { takeWarmQueries, warmFirst } from '../warm/take.ts'
import { ec2Record } from './launches.ts'

/** The start fails after this many instances died before they ran. */
const MOST_DEAD = 3

const refused = ({ code, error }: LaunchRefusal, dead: CloudInstance | null) => ({
  outcome: 'refused' as const,
  refusalCode: code,
  refusalRequestId: vendorErrorOf(error).vendor_request_id ?? null,
  ...(dead && ec2Record(dead)),
})

/**
 * Records that nothing is left to look for: EC2 refused the only request with this token, or its instance died while it
 * was booting.
 * @param dead the instance that EC2 ended; null if it made none
 */
export async function recordRefusal(
  ctx: Context,
  launch: LaunchRow,
  refusal: LaunchRefusal,
  dead: CloudInstance | null,
): Promise<void> {
  await ctx.db.update(launches).set(refused(refusal, dead)).where(eq(launches.token, launch.token))
}

/**
 * EC2 refused this place. Sets it aside so that the next customer isn't sent there, frees it, and reserves the next
 * place that this run hasn't tried. People in line come first, unless it was this run's turn.
 * @param dead the instance that died while booting; null if there was none
 * @param gpus the most that the user's plan and wishes allow
 * @returns false if no place is left, or too many instances died; the old one then stays reserved until the run is
 * cleaned up
 */
export async function moveToNextPlace(
  ctx: Context,
  run: RunRow,
  launch: LaunchRow,
  refusal: LaunchRefusal,
  dead: CloudInstance | null,
  gpus: number,
): Promise<boolean> {
  const now = ctx.now()
  const isNext = sql`${isFreeFor(run.userId, now)} AND gpus <= ${gpus} AND servers.id NOT IN
    (SELECT server_id FROM launches WHERE session_id = ${run.id})
    AND (SELECT count(instance_id) FROM launches WHERE session_id = ${run.id} AND outcome = 'refused') < ${MOST_DEAD}
    AND (${isNobodysTurn(run.userId, now)} OR EXISTS (SELECT 1 FROM line WHERE session_id = ${run.id}))`
  const cold = sql`SELECT id FROM servers WHERE ${isNext} ORDER BY gpus DESC, position LIMIT 1`
  const next = warmFirst(cold, isNext, run.userId, now)
  const [, , , , moved] = await writeBatch(ctx.db, [
    ctx.db.update(launches).set(refused(refusal, dead)).where(eq(launches.token, launch.token)),
    setAsideQuery(ctx, sql`id = ${launch.placeId}`),
    ctx.db.run(
      sql`UPDATE server_sessions SET server_id = coalesce(${next}, server_id), instance_id = NULL, warm = 0 WHERE id = ${run.id}`,
    ),
    ctx.db.run(sql`UPDATE servers SET reserved_by = NULL, reserved_at = NULL WHERE reserved_by = ${run.id}
      AND id <> (SELECT server_id FROM server_sessions WHERE id = ${run.id})`),
    ctx.db.run(sql`UPDATE servers SET reserved_by = ${run.id}, reserved_at = ${now} WHERE ${IS_FREE}
      AND id = (SELECT server_id FROM server_sessions WHERE id = ${run.id})`),
    ctx.db.run(sql`UPDATE server_sessions SET (instance_type, availability_zone) =
      (SELECT instance_type, availability_zone FROM servers WHERE id = server_id) WHERE id = ${run.id}`),
    ...takeWarmQueries(ctx, run.id),
  ])
  return moved?.rowsAffected === 1
}
