import { eq, sql } from 'drizzle-orm'
import { type LaunchRow, type PlaceRow, places, type RunRow, runs } from '../../../../db/schema/fleet.ts'
import { AppError } from '../../../domain/error.ts'
import { NOT_CHARGED } from '../../../domain/money/receipt.ts'
import { START_DEADLINE_MS } from '../../../domain/server.ts'
import { ALL_RESERVED } from '../../../domain/server-list.ts'
import { getAllowance } from '../../billing/allowance.ts'
import type { CloudInstance, LaunchRefusal } from '../../ports/cloud.ts'
import type { Context } from '../../runtime/context.ts'
import { addressOf } from '../machine.ts'
import { requestStop } from '../stop-run.ts'
import { awaitAnswer } from './await-answer.ts'
import { launchTags } from './images.ts'
import { findOpenLaunch, recordInstance, recordLaunch } from './launches.ts'
import { nextLookIn, takeLook } from './sight.ts'
import { clearUp, fail } from './start-failure.ts'
import { LOOK_AGAIN_MS, type Outcome, type Step, type StepInput } from './step.ts'

const LAUNCH_REFUSED =
  "Our cloud provider refused to launch a server. We've been notified. You weren't charged. Please try again later."

/** Launches an instance in the reserved place, watches it boot, and starts the meter once its simulator answers. */
export const stepServerStart: Step = async (input) => {
  const { ctx, job, run, report } = input
  if (job.errorCode) return clearUp(input)
  const address = addressOf(ctx, run)
  if (run.runningAt !== null && address) return awaitAnswer(input, run.runningAt, address)
  // It spoke before our next look at it.
  if (run.diedOf !== null) return failByItself(input)
  if (ctx.now() - job.createdAt >= START_DEADLINE_MS) {
    if (await hasEndedWithProgram(ctx, run)) return 'finished'
    return fail(input, 'timeout', "Your server wasn't ready within 10 minutes. You weren't charged. Please try again.")
  }

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
  if (run.warm && run.workGivenAt === null)
    return (await import('../warm/await-work.ts')).awaitWork(input, launch, instance)
  if (instance === 'lost' || instance.state !== 'running') {
    const [latest = run] = await ctx.db.select().from(runs).where(eq(runs.id, run.id))
    if (await hasEndedWithProgram(ctx, latest)) return 'finished'
    if (instance !== 'lost' && instance.shutItselfDown) return failByItself({ ...input, run: latest })
  }
  if (instance !== 'lost' && instance.state !== 'running' && instance.refusal)
    return tryElsewhere(input, launch, await placeOf(input, launch), refusalOf(instance.refusal), instance)
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

/** Its program may have ended before we saw its machine run, or while we asked EC2. Such a run costs nothing. */
async function hasEndedWithProgram(ctx: Context, run: RunRow): Promise<boolean> {
  if (run.exitedAt === null) return false
  await requestStop(ctx, run, run.exitedAt)
  return true
}

/** Loaded when needed: EC2 rarely refuses. */
const alertLaunchRefused: Alert = async (...about) => (await import('./refusals.ts')).alertLaunchRefused(...about)
type Alert = typeof import('./refusals.ts').alertLaunchRefused

async function failByItself(input: StepInput): Promise<Outcome> {
  const { ownFailure } = await import('./own-failures.ts')
  const { code, message } = await ownFailure(input.ctx, input.run)
  return fail(input, code, `${message} ${NOT_CHARGED}`)
}

async function launchInstance(input: StepInput, launch: LaunchRow, isFirstRequest: boolean): Promise<Outcome> {
  const { ctx, run } = input
  const place = await placeOf(input, launch)
  const answer = await ctx.cloud.launch({
    token: launch.token,
    instanceType: place.instanceType,
    availabilityZone: place.availabilityZone,
    launchTemplate: place.launchTemplate,
    tags: launchTags(run),
  })
  if (!('refused' in answer)) {
    await recordInstance(ctx, launch, answer)
    await input.report('Booting…')
    return { wait: LOOK_AGAIN_MS }
  }
  if (answer.refused === 'account' && !isFirstRequest) {
    await alertLaunchRefused(input, place, answer)
    // An earlier request with this token may have gone through: only a look can tell.
    return fail(input, 'launch_refused', LAUNCH_REFUSED)
  }
  return tryElsewhere(input, launch, place, answer, null)
}

async function placeOf({ ctx }: StepInput, launch: LaunchRow): Promise<PlaceRow> {
  const [place] = await ctx.db.select().from(places).where(eq(places.id, launch.placeId))
  if (!place) throw new Error(`launch ${launch.token} names no place`)
  return place
}

function refusalOf({ words, ...refusal }: NonNullable<CloudInstance['refusal']>): LaunchRefusal {
  const cause = Object.assign(new Error(words), { code: refusal.code })
  return {
    ...refusal,
    error: new AppError('provider_failed', LAUNCH_REFUSED, { cause }),
  }
}

/** Moves on to the next place, or fails. @param dead the instance that EC2 ended before it ran; null if it made none */
async function tryElsewhere(
  input: StepInput,
  launch: LaunchRow,
  place: PlaceRow,
  refusal: LaunchRefusal,
  dead: CloudInstance | null,
): Promise<Outcome> {
  const { ctx, run } = input
  const { moveToNextPlace, recordRefusal } = await import('./next-place.ts')
  await alertLaunchRefused(input, place, refusal)
  if (refusal.refused === 'account') {
    await recordRefusal(ctx, launch, refusal, dead)
    return fail(input, 'launch_refused', LAUNCH_REFUSED)
  }
  // EC2 answers a repeated token with its instance before it checks capacity, so a refusal means that there
  // is none. If an earlier request is still in flight, the sweep ends what it creates.
  const { gpus } = await getAllowance(ctx, run.userId)
  if (await moveToNextPlace(ctx, run, launch, refusal, dead, Math.min(gpus, run.maxGpus ?? gpus))) {
    await input.report(`No server free in ${place.availabilityZone}. Trying another place…`)
    return { wait: 0 }
  }
  return refusal.noCapacity ? fail(input, 'no_capacity', ALL_RESERVED) : fail(input, 'launch_refused', LAUNCH_REFUSED)
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
