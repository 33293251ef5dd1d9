import { and, eq, isNull, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { type LaunchRow, launches } from '../../../../db/schema/fleet.ts'
import { MINUTE_MS } from '../../../domain/instant.ts'
import type { CloudInstance, InstanceState } from '../../ports/cloud.ts'
import type { Context } from '../../runtime/context.ts'
import { ec2Record } from '../jobs/launches.ts'
import { nextLookIn, UNSEEN_MS } from '../jobs/sight.ts'
import { LOOK_AGAIN_MS, type Outcome, type StepInput } from '../jobs/step.ts'
import { alertWarmFailed } from './failures.ts'
import { isForeign } from './foreign.ts'
import { noteGiven } from './work.ts'

/** It asks every 2 s, once it has booted. */
const ASKS_WITHIN_MS = MINUTE_MS
const BOOTS_WITHIN_MS = 2 * MINUTE_MS
/** EC2 says `shutting-down` within seconds. A machine that EC2 can't find counts as gone after the same time. */
const GONE_WITHIN_MS = UNSEEN_MS
/** EC2 no longer counts it, so another one may have its place. */
const GONE: ReadonlySet<InstanceState> = new Set(['shutting-down', 'terminated'])

/**
 * For a start whose warm machine hasn't heard of it: gives up on a machine that can't do the work, so that the next
 * launch is an ordinary one. The run keeps its place, whose quota is for one machine, so the next launch waits a little
 * for EC2 to end this one.
 */
export async function awaitWork(
  { ctx, run, report }: StepInput,
  launch: LaunchRow,
  instance: CloudInstance | 'lost',
): Promise<Outcome> {
  const { token, terminateAskedAt, instanceId } = launch
  const now = ctx.now()
  const alert = (what: string) => alertWarmFailed(ctx, run.availabilityZone, instanceId, what)
  if (instance === 'lost' || GONE.has(instance.state)) {
    const isGivenUp = await giveUp(ctx, launch, instance)
    if (isGivenUp && terminateAskedAt === null) await alert('ended before it got its run')
    return { wait: 0 }
  }
  if (isForeign(instance, run)) {
    await giveUp(ctx, launch, 'foreign')
    return { wait: 0 }
  }
  await report('Preparing your server…')
  if (terminateAskedAt !== null) return endFirst(ctx, launch, instance, terminateAskedAt)
  const asksFrom = Math.max(launch.createdAt, (launch.launchedAt ?? 0) + BOOTS_WITHIN_MS)
  if (instance.state === 'running' && now < asksFrom + ASKS_WITHIN_MS) return { wait: LOOK_AGAIN_MS }
  if (instance.tags.session === run.id) {
    // It has heard of the run, and this database has forgotten that, as after a restore.
    await noteGiven(ctx, run, instance.id)
    return { wait: 0 }
  }
  const { rowsAffected } = await ctx.db
    .update(launches)
    .set({ terminateAskedAt: now })
    .where(
      and(
        eq(launches.token, token),
        isNull(launches.terminateAskedAt),
        sql`EXISTS (SELECT 1 FROM server_sessions WHERE ${isUntold(launch)})`,
      ),
    )
  if (rowsAffected === 0) return { wait: 0 }
  await alert("didn't get its run within a minute")
  return endFirst(ctx, launch, instance, now)
}

/** From `askedAt` on, the machine can't get the run. Each look asks EC2 again. */
async function endFirst(ctx: Context, launch: LaunchRow, instance: CloudInstance, askedAt: number): Promise<Outcome> {
  if (ctx.now() >= askedAt + GONE_WITHIN_MS) {
    // Launch the next one now. The fleet's watcher ends this one.
    await giveUp(ctx, launch, instance)
    return { wait: 0 }
  }
  await ctx.cloud.terminate(instance.id)
  return { wait: nextLookIn(ctx, askedAt) }
}

/** A condition on its row of `server_sessions`: the run is waiting for this machine, which hasn't heard of it. */
const isUntold = ({ runId, instanceId }: LaunchRow) =>
  sql`id = ${runId} AND warm AND work_given_at IS NULL AND instance_id = ${instanceId} AND stop_requested_at IS NULL`

/** Unless the machine got the run in the meantime. The keeper counts it as a failure. @returns whether it gave up */
async function giveUp(ctx: Context, launch: LaunchRow, instance: CloudInstance | 'lost' | 'foreign'): Promise<boolean> {
  const { token, runId } = launch
  const now = ctx.now()
  const isGivenUp = sql`token = ${token} AND EXISTS (SELECT 1 FROM server_sessions WHERE id = ${runId} AND NOT warm)`
  const [given] = await writeBatch(ctx.db, [
    ctx.db.run(sql`UPDATE server_sessions SET instance_id = NULL, warm = 0, unseen_since = NULL, unseen_looks = 0
      WHERE ${isUntold(launch)}`),
    instance === 'foreign'
      ? ctx.db.run(sql`DELETE FROM launches WHERE ${isGivenUp}`)
      : ctx.db
          .update(launches)
          .set({ outcome: 'gone', ...(instance !== 'lost' && ec2Record(instance)) })
          .where(isGivenUp),
    // Someone else's machine has no row left.
    ctx.db.run(sql`INSERT INTO warm_machines (token, server_id, created_at, instance_id, launched_at, failed_at, ended_at)
      SELECT token, server_id, created_at, instance_id, launched_at, ${now}, ${now} FROM launches WHERE ${isGivenUp}
      ON CONFLICT DO NOTHING`),
  ])
  return given?.rowsAffected === 1
}
