import { sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import type { RunRow } from '../../../../db/schema/fleet.ts'
import { isPullTooSlow, type Pull, pullProgress } from '../../../domain/image-pull.ts'
import { MINUTE_MS } from '../../../domain/instant.ts'
import { ANSWER_DEADLINE_MS, ENDING_MS, SERVER_WEB_PORT } from '../../../domain/server.ts'
import { getAllowance, isOnTrial } from '../../billing/allowance.ts'
import { eventQuery, sendSoon } from '../../events/outbox.ts'
import { alertOperator } from '../../mail/alerts.ts'
import type { Context } from '../../runtime/context.ts'
import { serverEvent } from '../server-events.ts'
import { requestStop } from '../stop-run.ts'
import { hasOwnImage } from './images.ts'
import { LOOK_AGAIN_MS, type Outcome, type StepInput } from './step.ts'

/** The machine is on. Its image may take minutes more, which are free. A run that ends with its program needn't answer. */
export async function awaitAnswer(input: StepInput, runningAt: number, address: string): Promise<Outcome> {
  const { ctx, run, report } = input
  // Its machine said so: people mustn't work where nothing is kept, and a program that died won't answer.
  if (run.filesPhase === 'failed' || run.diedOf !== null) {
    const { ownFailure } = await import('./own-failures.ts')
    await requestStop(ctx, run, ctx.now(), { failure: await ownFailure(ctx, run) })
    return 'finished'
  }
  const pull = run.containerStartedAt === null ? run.pull : null
  await report(progressOf(run, pull))
  const askedAt = ctx.now()
  const readyAt = run.untilExit ? run.containerStartedAt : await answeredAt(ctx, address)
  // Never before we saw its machine.
  if (readyAt !== null) return startMeter(input, Math.max(readyAt, runningAt))
  const now = ctx.now()
  if (pull && isPullTooSlow(pull, now)) {
    const { programFailure } = await import('./own-failures.ts')
    await requestStop(ctx, run, now, { failure: await programFailure(ctx, { ...run, diedOf: 'image_slow' }) })
    return 'finished'
  }
  if (pull || now - (run.containerStartedAt ?? runningAt) < ANSWER_DEADLINE_MS)
    return { wait: Math.max(0, askedAt + LOOK_AGAIN_MS - now) }
  const isOwn = await hasOwnImage(ctx, run)
  // Parameters may keep any program from answering.
  if (!isOwn && !run.parameters)
    await alertOperator(ctx, {
      matter: 'no_answer',
      subject: 'A server never answered',
      sentences: [
        `EC2 reports it as running, but nothing answered on port ${SERVER_WEB_PORT} for 10 minutes. We stop it and bill nothing.`,
        `Its environment is ${run.environment ?? '(none)'}, its image ${run.image ?? 'the default one'}. Start a server yourself. If it doesn't answer either, check the image and the security group of the launch template.`,
      ],
      fields: { instanceId: run.instanceId },
    })
  const what = run.untilExit ? "Your server's program did not start" : 'Your server did not answer'
  const message = `${what} within 10 minutes, so we stopped it.`
  const advice = isOwn && !run.untilExit ? ` Check that your image listens on port ${SERVER_WEB_PORT}.` : ''
  const failure = { code: 'no_answer' as const, message: message + advice }
  await requestStop(ctx, run, now, { failure })
  return 'finished'
}

/** Now, if it answers on its port. */
async function answeredAt(ctx: Context, address: string): Promise<number | null> {
  const answer = await ctx.reach(address, SERVER_WEB_PORT).catch((error) => {
    ctx.log('reach_failed', {}, error)
    return { status: 'unreachable' }
  })
  return answer.status === 'reachable' ? ctx.now() : null
}

function progressOf({ filesPhase, untilExit }: RunRow, pull: Pull | null): string {
  if (filesPhase === 'loading') return 'Loading your files…'
  if (pull) return pullProgress(pull)
  return untilExit ? 'Starting your program…' : 'Waiting for the simulator to answer…'
}

/**
 * Only if we have accepted no stop since: a start must never bill a run that its user already ended. A plan that began
 * since removes the trial's end. A run that ends with its program is never idle, and may have ended by now.
 * @param from when it answered, or its program started
 */
async function startMeter({ ctx, job, run }: StepInput, from: number): Promise<Outcome> {
  const now = ctx.now()
  const { trialSeconds } = await getAllowance(ctx, run.userId)
  const mustStopAt = trialSeconds === null ? null : (Math.ceil(from / 1000) + trialSeconds) * 1000
  const event = serverEvent(ctx, 'server.running', { ...run, billedFrom: from, confirmedAt: now })
  const isStarted = sql`EXISTS (SELECT 1 FROM server_sessions WHERE id = ${run.id} AND billed_from = ${from})`
  const [, told] = await writeBatch(ctx.db, [
    ctx.db.run(sql`UPDATE server_sessions SET billed_from = ${from},
      confirmed_at = CASE WHEN until_exit THEN max(confirmed_at, ${from}) ELSE ${now} END,
      idle_look_at = (SELECT ${from} + (idle_minutes * ${MINUTE_MS}) - ${ENDING_MS} FROM users WHERE users.id = user_id AND NOT until_exit),
      must_stop_at = CASE WHEN ${isOnTrial(run.userId)} THEN ${mustStopAt} END
      WHERE id = ${run.id} AND billed_from IS NULL AND stop_requested_at IS NULL`),
    eventQuery(ctx, run.userId, event, isStarted),
    ctx.db.run(sql`UPDATE jobs SET status = 'succeeded', result = 'Your server is running.', run_at = NULL, updated_at = ${now}
      WHERE id = ${job.id} AND run_at IS NOT NULL`),
  ])
  sendSoon(ctx, run.userId, told)
  return 'finished'
}
