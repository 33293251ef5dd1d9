import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { jobs, type LaunchRow, type RunRow } from '../../../../db/schema.ts'
import { MINUTE_MS } from '../../../domain/instant.ts'
import { NOT_CHARGED } from '../../../domain/money/receipt.ts'
import { ANSWER_DEADLINE_MS, ENDING_MS, SERVER_WEB_PORT, START_DEADLINE_MS } from '../../../domain/server.ts'
import { ALL_RESERVED } from '../../../domain/server-list.ts'
import { getAllowance } from '../../billing/allowance.ts'
import { type Context, siteOrigin } from '../../context.ts'
import { eventQuery, sendSoon } from '../../events/outbox.ts'
import { alertOperator } from '../../mail/alerts.ts'
import { tellSoon } from '../../mail/notices.ts'
import { deliverMail } from '../../mail/outbox.ts'
import { addressOf } from '../machine.ts'
import { serverEvent } from '../server-events.ts'
import { requestStop } from '../stop-run.ts'
import { hasOwnImage, worldTags } from './images.ts'
import {
  clearLaunches,
  findOpenLaunch,
  freePlaceQueries,
  moveToNextPlace,
  recordInstance,
  recordLaunch,
  recordRefusal,
} from './launches.ts'
import { filesFailure, ownFailure } from './own-failures.ts'
import { alertLaunchRefused } from './refusals.ts'
import { nextLookIn, takeLook } from './sight.ts'
import type { Outcome, Step, StepInput } from './step.ts'
import { endedQueries } from './tell-ended.ts'

const LOOK_AGAIN_MS = 2_000
const LAUNCH_REFUSED =
  "Our cloud provider refused to launch a server. We've been notified. You weren't charged. Please try again later."

/** Launches an instance in the reserved place, watches it boot, and starts the meter once its simulator answers. */
export const stepServerStart: Step = async (input) => {
  const { ctx, job, run, report } = input
  if (job.errorCode) return clearUp(input)
  const address = addressOf(ctx, run)
  if (run.runningAt !== null && address) return awaitAnswer(input, run.runningAt, address)
  if (ctx.now() - job.createdAt >= START_DEADLINE_MS)
    return fail(input, 'timeout', "Your server wasn't ready within 10 minutes. You weren't charged. Please try again.")

  const open = await findOpenLaunch(ctx, run)
  if (!open) await report('Reserving a server…')
  const launch = open ?? (await recordLaunch(ctx, run))
  if (!launch.instanceId) {
    await report(`Launching ${run.instanceType}…`)
    return launchInstance(input, launch, open === null)
  }

  const instance = await takeLook(ctx, run, await ctx.cloud.findInstance(launch.instanceId))
  if (instance === 'unseen') return { wait: nextLookIn(ctx, run.unseenSince) }
  if (instance !== 'lost' && instance.state === 'pending') {
    await report('Booting…')
    return { wait: LOOK_AGAIN_MS }
  }
  if (instance !== 'lost' && instance.state !== 'running' && instance.shutItselfDown) {
    const { code, message } = await ownFailure(ctx, run)
    return fail(input, code, `${message} ${NOT_CHARGED}`)
  }
  if (instance === 'lost' || instance.state !== 'running')
    return fail(
      input,
      'instance_lost',
      "Your server stopped before it was ready. You weren't charged. Please try again.",
    )
  // Behind a door, a machine needs no public address.
  const isThroughDoor = ctx.machine !== null && run.doorLabel !== null
  const ipAddress = instance.publicIp ?? (isThroughDoor ? instance.privateIp : null)
  if (!ipAddress || (isThroughDoor && !instance.privateIp)) {
    await report('Getting an address…')
    return { wait: LOOK_AGAIN_MS }
  }
  return recordRunning(input, ipAddress, instance.privateIp)
}

async function launchInstance(input: StepInput, launch: LaunchRow, isFirstRequest: boolean): Promise<Outcome> {
  const { ctx, run } = input
  const [place] = await ctx.db.query.places.findMany({ where: (place, { eq }) => eq(place.id, launch.placeId) })
  if (!place) throw new Error(`launch ${launch.token} names no place`)
  const answer = await ctx.cloud.launch({
    token: launch.token,
    instanceType: place.instanceType,
    availabilityZone: place.availabilityZone,
    launchTemplate: place.launchTemplate,
    name: `proving-ground ${run.id}`,
    tags: { session: run.id, user: run.userId, ...worldTags(run) },
  })
  if (!('refused' in answer)) {
    await recordInstance(ctx, launch, answer)
    await input.report('Booting…')
    return { wait: LOOK_AGAIN_MS }
  }
  await alertLaunchRefused(input, place, answer)
  if (answer.refused === 'account') {
    // An earlier request with this token may have gone through: only a look can tell.
    if (isFirstRequest) await recordRefusal(ctx, launch, answer)
    return fail(input, 'launch_refused', LAUNCH_REFUSED)
  }
  // EC2 answers a repeated token with its instance before it checks capacity, so a refusal means that there
  // is none. If an earlier request is still in flight, the sweep ends what it creates.
  const { gpus } = await getAllowance(ctx, run.userId)
  if (await moveToNextPlace(ctx, run, launch, answer, Math.min(gpus, run.maxGpus ?? gpus))) {
    await input.report(`No server free in ${place.availabilityZone}. Trying another place…`)
    return { wait: 0 }
  }
  return fail(input, 'no_capacity', ALL_RESERVED)
}

/** From now on we watch the run and count its uptime, but don't bill it yet. */
async function recordRunning(
  { ctx, run }: StepInput,
  ipAddress: string,
  privateAddress: string | null,
): Promise<Outcome> {
  const now = ctx.now()
  await ctx.db.run(sql`UPDATE server_sessions SET running_at = ${now}, confirmed_at = ${now}, ip_address = ${ipAddress},
    private_address = ${privateAddress}
    WHERE id = ${run.id} AND running_at IS NULL AND stop_requested_at IS NULL`)
  return { wait: 0 }
}

/** The machine is on. Its image may take minutes more, which are free. */
async function awaitAnswer(input: StepInput, runningAt: number, address: string): Promise<Outcome> {
  const { ctx, run, report } = input
  if (run.filesPhase === 'failed') return stopWithoutFiles(ctx, run)
  await report(run.filesPhase === 'loading' ? 'Loading your files…' : 'Waiting for the simulator to answer…')
  const askedAt = ctx.now()
  const answer = await ctx.reach(address, SERVER_WEB_PORT).catch((error) => {
    ctx.log('reach_failed', {}, error)
    return { status: 'unreachable' }
  })
  if (answer.status === 'reachable') return startMeter(input)
  const now = ctx.now()
  if (now - runningAt < ANSWER_DEADLINE_MS) return { wait: Math.max(0, askedAt + LOOK_AGAIN_MS - now) }
  const isOwn = await hasOwnImage(ctx, run)
  if (!isOwn)
    await alertOperator(ctx, {
      matter: 'no_answer',
      subject: 'A server never answered',
      sentences: [
        `EC2 reports it as running, but nothing answered on port ${SERVER_WEB_PORT} for 10 minutes. We stop it and bill nothing.`,
        `Its environment is ${run.environment ?? '(none)'}, its image ${run.image ?? 'the default one'}. Start a server yourself. If it doesn't answer either, check the image and the security group of the launch template.`,
      ],
      fields: { instanceId: run.instanceId },
    })
  const message = 'Your server did not answer within 10 minutes, so we stopped it.'
  const advice = isOwn ? ` Check that your image listens on port ${SERVER_WEB_PORT}.` : ''
  const failure = { code: 'no_answer', message: message + advice }
  await requestStop(ctx, run, now, { failure })
  return 'finished'
}

/** Its machine said so. Nobody should work where nothing is kept. */
async function stopWithoutFiles(ctx: Context, run: RunRow): Promise<Outcome> {
  await requestStop(ctx, run, ctx.now(), { failure: await filesFailure(ctx, run) })
  return 'finished'
}

/**
 * Only if we accepted no stop since: a start must never bill a run that its user already ended. A plan that
 * began since removes the trial's end.
 */
async function startMeter({ ctx, job, run }: StepInput): Promise<Outcome> {
  const now = ctx.now()
  const { trialSeconds } = await getAllowance(ctx, run.userId)
  const mustStopAt = trialSeconds === null ? null : (Math.ceil(now / 1000) + trialSeconds) * 1000
  const event = serverEvent(ctx, 'server.running', { ...run, billedFrom: now, confirmedAt: now })
  const isStarted = sql`EXISTS (SELECT 1 FROM server_sessions WHERE id = ${run.id} AND billed_from = ${now})`
  const [, told] = await writeBatch(ctx.db, [
    ctx.db.run(sql`UPDATE server_sessions SET billed_from = ${now}, confirmed_at = ${now},
      idle_look_at = (SELECT ${now} + (idle_minutes * ${MINUTE_MS}) - ${ENDING_MS} FROM users WHERE users.id = user_id),
      must_stop_at = CASE WHEN EXISTS (SELECT 1 FROM subscriptions WHERE user_id = ${run.userId} AND ended_at IS NULL
        AND sub_type = 'demo') THEN ${mustStopAt} END
      WHERE id = ${run.id} AND billed_from IS NULL AND stop_requested_at IS NULL`),
    eventQuery(ctx, run.userId, event, isStarted),
    ctx.db.run(sql`UPDATE jobs SET status = 'succeeded', result = 'Your server is running.', run_at = NULL, updated_at = ${now}
      WHERE id = ${job.id} AND run_at IS NOT NULL`),
  ])
  sendSoon(ctx, run.userId, told)
  return 'finished'
}

/** Records the reason, then cleans up, and only then fails the job. */
async function fail(input: StepInput, errorCode: string, errorMessage: string): Promise<Outcome> {
  const { ctx, job } = input
  const { rowsAffected } = await ctx.db
    .update(jobs)
    .set({ errorCode, errorMessage })
    .where(and(eq(jobs.id, job.id), isNotNull(jobs.runAt)))
  // A stop came first: it cleans up.
  if (!rowsAffected) return 'finished'
  return clearUp({ ...input, job: { ...job, errorCode, errorMessage } })
}

async function clearUp({ ctx, job, run, report }: StepInput): Promise<Outcome> {
  const wait = await clearLaunches(ctx, run)
  if (wait !== null) {
    // Give the reason at once, even if we still have to look for an earlier request to EC2.
    await report(`${job.errorMessage ?? ''} Cleaning up…`.trim())
    return { wait }
  }
  const now = ctx.now()
  const event = serverEvent(ctx, 'server.failed', {
    ...run,
    endedAt: now,
    stopRequestedAt: now,
    errorMessage: job.errorMessage,
  })
  const isEnded = sql`EXISTS (SELECT 1 FROM server_sessions
    WHERE id = ${run.id} AND ended_at = ${now} AND error_message = ${job.errorMessage})`
  const { startFailedMail } = await import('../../mail/ended-letters.ts')
  const message = startFailedMail(siteOrigin(ctx), run.id, `${job.errorMessage ?? ''} ${NOT_CHARGED}`.trim())
  const foundNoMachine = job.errorCode === 'no_capacity'
  const results = await writeBatch(ctx.db, [
    // If we accepted a stop since, it ends the run.
    ctx.db.run(sql`UPDATE server_sessions SET ended_at = ${now}, stop_requested_at = ${now}, error_message = ${job.errorMessage}
      WHERE id = ${run.id} AND stop_requested_at IS NULL`),
    eventQuery(ctx, run.userId, event, isEnded),
    ...freePlaceQueries(ctx, run, { foundNoMachine }),
    ctx.db.run(
      sql`UPDATE jobs SET status = 'failed', run_at = NULL, updated_at = ${now} WHERE id = ${job.id} AND run_at IS NOT NULL`,
    ),
    ...endedQueries(ctx, run, message, isEnded, foundNoMachine ? 'full' : 'failure'),
  ])
  sendSoon(ctx, run.userId, results[1])
  tellSoon(ctx, run.userId, results.at(-1))
  ctx.background(deliverMail(ctx))
  return 'finished'
}
