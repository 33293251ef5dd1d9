import { sql } from 'drizzle-orm'
import { type RunRow, runs } from '../../../../db/schema/fleet.ts'
import type { Context } from '../../runtime/context.ts'

/** The tags of a run's instance. From them, `npm run restore` knows whose it is. */
export function launchTags(run: RunRow): Record<string, string> {
  return { Name: `proving-ground ${run.id}`, session: run.id, user: run.userId, ...worldTags(run) }
}

/** What the machine reads to learn what to run: infra/image/simulator.sh. */
function worldTags({ environment, vehicle, image, ...told }: RunRow): Record<string, string> {
  // Only the agent gets these, so without it such a container must not start.
  const agent = told.parameters || told.secrets || told.registry || told.untilExit ? 'required' : null
  return Object.fromEntries(
    Object.entries({ environment, vehicle, image, agent }).filter(([, value]) => value !== null),
  ) as Record<string, string>
}

/** A condition on rows of `server_sessions`: their environment isn't in the catalog, so only its owner can repair its image. */
export const HAS_OWN_IMAGE = sql`(server_sessions.environment IS NOT NULL AND NOT EXISTS (SELECT 1 FROM environments
  WHERE user_id IS NULL AND environments.name = server_sessions.environment
  AND (retired_at IS NULL OR retired_at > server_sessions.requested_at)))`

export async function hasOwnImage(ctx: Context, run: Pick<RunRow, 'id'>): Promise<boolean> {
  return (await ctx.db.$count(runs, sql`${runs.id} = ${run.id} AND ${HAS_OWN_IMAGE}`)) > 0
}
