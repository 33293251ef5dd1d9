import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../../db/client.ts'
import { environments, type RunRow } from '../../../../db/schema/fleet.ts'
import { warmMachines } from '../../../../db/schema/warm.ts'
import { toIso } from '../../../domain/instant.ts'
import { limitMachine } from '../../limits/limits.ts'
import type { Context } from '../../runtime/context.ts'
import { launchTags } from '../jobs/images.ts'
import { alertIfRefused } from '../jobs/refusals.ts'
import { findRunOfMachine, type Identity, isSameLaunch, refused } from '../machines/identity.ts'

/** How often a warm machine asks. A start waits half of this on average. */
const ASK_EVERY_SECONDS = 2
/** How often we note that it asks. */
const NOTE_EVERY_MS = 15_000

export type Work =
  | { run: string; environment: string; vehicle: string; image: string; agent: string }
  /** No work yet. In the meantime, it pulls these. */
  | { run: null; images: string[]; every_seconds: number }

/**
 * What a warm machine is for. Before it hears of its run, EC2 has the tags that `npm run restore` reads.
 * @param isReady it has everything that it can have beforehand
 * @throws forbidden, too_many, unavailable, provider_failed
 */
export async function giveWork(
  ctx: Context,
  identity: Identity | null,
  address: string | null,
  isReady: boolean,
): Promise<Work> {
  if (!identity) throw refused()
  const run = await findRunOfMachine(ctx, identity, address)
  if (run) {
    // Until it has its run, no customer's program runs there, so it needs no limit.
    if (run.workGivenAt === null) await give(ctx, run, identity.instanceId)
    else await limitMachine(ctx, run.id)
    const { environment = '', vehicle = '', image = '', agent = '' } = launchTags(run)
    return { run: run.id, environment, vehicle, image, agent }
  }
  const [machine] = await ctx.db
    .select()
    .from(warmMachines)
    .where(
      and(
        eq(warmMachines.instanceId, identity.instanceId),
        isNull(warmMachines.endedAt),
        isNull(warmMachines.endingAt),
      ),
    )
  // No customer's program runs there, so it needs no limit, and no one else can have its document.
  if (!machine || !isSameLaunch(identity, machine.launchedAt)) throw refused()
  const now = ctx.now()
  const isNewlyReady = isReady && machine.readyAt === null
  if (now - (machine.askedAt ?? 0) >= NOTE_EVERY_MS || isNewlyReady)
    await writeBatch(ctx.db, [
      ctx.db
        .update(warmMachines)
        .set({ askedAt: now, ...(isReady && { readyAt: sql`coalesce(ready_at, ${now})` }) })
        .where(and(eq(warmMachines.token, machine.token), isNull(warmMachines.endedAt))),
      ...(isNewlyReady ? [forgetFailuresQuery(ctx, machine.placeId, HAD_NO_START)] : []),
    ])
  return { run: null, images: await catalogImages(ctx), every_seconds: ASK_EVERY_SECONDS }
}

/** Once. Whichever is first decides: this, or the start that gives up on the machine. @throws forbidden */
async function give(ctx: Context, run: RunRow, instanceId: string): Promise<void> {
  if (run.stopRequestedAt !== null) throw refused()
  const instance = await ctx.cloud.findInstance(instanceId)
  const owner = instance?.tags.session
  // After a restore, it may belong to someone whom this database doesn't know.
  if (!instance || (owner !== undefined && owner !== run.id)) throw refused()
  try {
    if (owner === undefined) await ctx.cloud.tag(instanceId, { ...launchTags(run), given: toIso(run.requestedAt) })
  } catch (error) {
    await alertIfRefused(ctx, error)
    throw error
  }
  if (!(await noteGiven(ctx, run, instanceId))) throw refused()
}

/** Unless its start has given up on the machine. Its kind works again. @returns whether it did */
export async function noteGiven(ctx: Context, { id, placeId }: RunRow, instanceId: string): Promise<boolean> {
  const isGiven = sql`EXISTS (SELECT 1 FROM server_sessions WHERE id = ${id} AND work_given_at IS NOT NULL)`
  const [given] = await writeBatch(ctx.db, [
    ctx.db.run(sql`UPDATE server_sessions SET work_given_at = coalesce(work_given_at, ${ctx.now()})
      WHERE id = ${id} AND warm AND instance_id = ${instanceId} AND stop_requested_at IS NULL AND NOT EXISTS
      (SELECT 1 FROM launches WHERE session_id = ${id} AND instance_id = ${instanceId} AND terminate_asked_at IS NOT NULL)`),
    forgetFailuresQuery(ctx, placeId, isGiven),
  ])
  return given?.rowsAffected === 1
}

/** The catalog's images that a machine doesn't name itself, in the catalog's order. It knows its own. */
async function catalogImages(ctx: Context): Promise<string[]> {
  const rows = await ctx.db
    .select({ image: environments.image })
    .from(environments)
    .where(and(isNull(environments.userId), isNull(environments.retiredAt)))
    .orderBy(environments.position)
  return [...new Set(rows.flatMap(({ image }) => image ?? []))]
}

/** Whether no start had given up on that machine: once a start gets one, those are forgotten. */
const HAD_NO_START = sql`NOT EXISTS (SELECT 1 FROM launches WHERE launches.token = warm_machines.token)`

/** Machines of its kind work again, so the keeper needn't wait. */
function forgetFailuresQuery(ctx: Context, placeId: string, when: SQL): Query {
  return ctx.db.run(sql`UPDATE warm_machines SET failed_at = NULL WHERE failed_at IS NOT NULL AND ${when} AND server_id IN
    (SELECT id FROM servers WHERE (instance_type, availability_zone) =
    (SELECT instance_type, availability_zone FROM servers WHERE id = ${placeId}))`)
}
