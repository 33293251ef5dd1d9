import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { jobs } from '../../../db/schema.ts'
import { trialSecondsLeft } from '../../domain/billing.ts'
import { AppError } from '../../domain/error.ts'
import { gpusOf } from '../../domain/plan.ts'
import { START_DEADLINE_MS } from '../../domain/server.ts'
import { ALL_RESERVED } from '../../domain/server-list.ts'
import { getUsage } from '../services/usage.ts'
import {
  clearLaunches,
  findOpenLaunch,
  freePlace,
  type LaunchRow,
  moveToNextPlace,
  recordInstance,
  recordLaunch,
  recordRetry,
} from './launches.ts'
import type { Outcome, Run, Step } from './step.ts'

const LOOK_AGAIN_MS = 2_000
/** An instance that EC2 does not know after this time was never there, or is gone. */
const UNKNOWN_FOR_MS = 60_000

/** Launches an instance in the reserved place, watches it boot, and starts the meter when it is seen running with an address. */
export const stepServerStart: Step = async (run) => {
  const { ctx, job, session, report } = run
  if (job.errorCode) return clearUp(run)
  if (ctx.now() - job.createdAt >= START_DEADLINE_MS)
    return fail(run, 'timeout', 'The server was not ready within 10 minutes. Nothing was billed; please try again.')

  let launch = await findOpenLaunch(ctx, session)
  if (!launch) {
    await report('Reserving a server…')
    launch = await recordLaunch(ctx, session)
  } else if (!launch.instanceId) await recordRetry(ctx, launch)
  if (!launch.instanceId) {
    await report(`Launching ${session.instanceType}…`)
    return launchInstance(run, launch)
  }

  const instance = await ctx.cloud.findInstance(launch.instanceId)
  if (!instance && ctx.now() - launch.createdAt < UNKNOWN_FOR_MS) return { wait: LOOK_AGAIN_MS }
  if (instance?.state === 'pending') {
    await report('Booting…')
    return { wait: LOOK_AGAIN_MS }
  }
  if (instance?.state !== 'running')
    return fail(run, 'instance_lost', 'The server ended before it was ready. Nothing was billed; please try again.')
  if (!instance.publicIp) {
    await report('Waiting for an address…')
    return { wait: LOOK_AGAIN_MS }
  }
  return startMeter(run, instance.publicIp)
}

async function launchInstance(run: Run, launch: LaunchRow): Promise<Outcome> {
  const { ctx, session } = run
  const [place] = await ctx.db.query.servers.findMany({ where: (servers, { eq }) => eq(servers.id, launch.serverId) })
  if (!place) throw new Error(`launch ${launch.token} names no place`)
  try {
    const launched = await ctx.cloud.launch({
      token: launch.token,
      instanceType: place.instanceType,
      availabilityZone: place.availabilityZone,
      name: `proving-ground ${session.id}`,
      tags: { session: session.id, user: session.userId },
    })
    if (launched !== 'no_capacity') {
      await recordInstance(ctx, launch, launched.id)
      await run.report('Booting…')
      return { wait: LOOK_AGAIN_MS }
    }
  } catch (error) {
    if (error instanceof AppError && !error.retryable) return fail(run, 'launch_refused', error.message)
    throw error
  }
  const { subscription } = await getUsage(ctx, session.userId)
  if (await moveToNextPlace(ctx, session, launch, gpusOf(subscription))) return { wait: 0 }
  return fail(run, 'no_capacity', ALL_RESERVED)
}

/**
 * Conditional on no stop having been accepted meanwhile: a start never bills a run that its user already ended. And a plan that began
 * meanwhile is not ended with the trial.
 */
async function startMeter({ ctx, job, session }: Run, ipAddress: string): Promise<Outcome> {
  const now = ctx.now()
  const usage = await getUsage(ctx, session.userId)
  const mustStopAt =
    usage.subscription?.subType === 'demo' ? (Math.ceil(now / 1000) + trialSecondsLeft(usage.seconds)) * 1000 : null
  await writeBatch(ctx.db, [
    ctx.db.run(sql`UPDATE server_sessions SET running_at = ${now}, billed_from = ${now}, confirmed_at = ${now}, ip_address = ${ipAddress},
      must_stop_at = CASE WHEN EXISTS (SELECT 1 FROM subscriptions WHERE user_id = ${session.userId} AND ended_at IS NULL
        AND sub_type = 'demo') THEN ${mustStopAt} END
      WHERE id = ${session.id} AND running_at IS NULL AND stop_requested_at IS NULL`),
    ctx.db.run(sql`UPDATE jobs SET status = 'succeeded', result = 'Your server is running.', run_at = NULL, updated_at = ${now}
      WHERE id = ${job.id} AND run_at IS NOT NULL`),
  ])
  return 'finished'
}

/** First the reason is written down, then everything is cleared up, and only then does the job fail. */
async function fail(run: Run, errorCode: string, errorMessage: string): Promise<Outcome> {
  const { ctx, job } = run
  const { rowsAffected } = await ctx.db
    .update(jobs)
    .set({ errorCode, errorMessage })
    .where(and(eq(jobs.id, job.id), isNotNull(jobs.runAt)))
  // Stopped meanwhile: the stop clears up.
  if (!rowsAffected) return 'finished'
  return clearUp({ ...run, job: { ...job, errorCode, errorMessage } })
}

async function clearUp({ ctx, job, session, report }: Run): Promise<Outcome> {
  await report('Clearing up…')
  if (!(await clearLaunches(ctx, session))) return { wait: LOOK_AGAIN_MS }
  const now = ctx.now()
  await writeBatch(ctx.db, [
    // A stop accepted meanwhile ends the run itself.
    ctx.db.run(sql`UPDATE server_sessions SET ended_at = ${now}, stop_requested_at = ${now}, error_message = ${job.errorMessage}
      WHERE id = ${session.id} AND stop_requested_at IS NULL`),
    freePlace(ctx, session),
    ctx.db.run(
      sql`UPDATE jobs SET status = 'failed', run_at = NULL, updated_at = ${now} WHERE id = ${job.id} AND run_at IS NOT NULL`,
    ),
  ])
  return 'finished'
}
