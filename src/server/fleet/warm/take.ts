import { type SQL, sql } from 'drizzle-orm'
import type { Query } from '../../../../db/client.ts'
import { HOUR_MS, MINUTE_MS } from '../../../domain/instant.ts'
import type { Context } from '../../runtime/context.ts'

/** A machine that has asked within this time still works. */
const FRESH_MS = MINUTE_MS

/** A row of `warm_machines` that a start may take. */
export const IS_KEPT = sql`ended_at IS NULL AND ending_at IS NULL`

/**
 * Whether a row of `warm_machines` can take this person's start at once. Each is used up by one start, so someone who
 * took one and ended that start before it answered, which costs them nothing, gets none for an hour.
 */
const isReady = (
  userId: string | SQL,
  now: number,
) => sql`(${IS_KEPT} AND ready_at IS NOT NULL AND asked_at > ${now - FRESH_MS}
  AND NOT EXISTS (SELECT 1 FROM server_sessions AS earlier WHERE earlier.user_id = ${userId} AND earlier.requested_at > ${now - HOUR_MS}
    AND (earlier.warm OR earlier.told_warm) AND earlier.stop_requested_at IS NOT NULL AND earlier.billed_from IS NULL))`

/** Whether such a machine is waiting in a row of `servers`. */
export function hasReady(userId: string | SQL, now: number): SQL<0 | 1> {
  return sql`EXISTS (SELECT 1 FROM warm_machines WHERE warm_machines.server_id = servers.id AND ${isReady(userId, now)})`
}

/**
 * The place of the same size with a warm machine, if there is one, or else the given one. Looks through the few warm
 * machines, so that the others cost nothing.
 * @param place a query of the place that a start would get
 * @param isOffered whether this start may have a row of `servers`
 */
export function warmFirst(place: SQL, isOffered: SQL, userId: string | SQL, now: number): SQL {
  return sql`(SELECT coalesce((SELECT servers.id FROM warm_machines CROSS JOIN servers ON servers.id = server_id
    WHERE ${isReady(userId, now)} AND ${isOffered}
    AND gpus = (SELECT gpus FROM servers AS sized WHERE sized.id = cold.id)
    ORDER BY position LIMIT 1), cold.id) FROM (${place}) AS cold)`
}

/**
 * For the batch in which a run reserves its place: the machine that is waiting there becomes the run's only launch. If
 * we don't know yet whether it exists, the run's own launch continues under the same token.
 */
export function takeWarmQueries(ctx: Pick<Context, 'db' | 'now'>, runId: string): Query[] {
  const isIt = sql`${IS_KEPT} AND warm_machines.server_id = (SELECT servers.id FROM servers WHERE reserved_by = ${runId})`
  const taken = sql`(SELECT token FROM warm_machines WHERE ${isIt})`
  return [
    ctx.db.run(sql`UPDATE server_sessions SET warm = 1, work_given_at = NULL, instance_id = (SELECT instance_id FROM warm_machines WHERE ${isIt})
      WHERE id = ${runId} AND EXISTS ${taken}`),
    ctx.db.run(sql`INSERT INTO launches (token, session_id, server_id, created_at, instance_id, launched_at, outcome)
      SELECT token, ${runId}, server_id, ${ctx.now()}, instance_id, launched_at, CASE WHEN instance_id IS NOT NULL THEN 'launched' END
      FROM warm_machines WHERE ${isIt} AND EXISTS (SELECT 1 FROM server_sessions WHERE id = ${runId} AND warm)`),
    ctx.db.run(
      sql`DELETE FROM warm_machines WHERE ${isIt} AND token IN (SELECT token FROM launches WHERE session_id = ${runId})`,
    ),
  ]
}
