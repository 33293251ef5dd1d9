import { eq, or, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { launches, runs } from '../../../db/schema/fleet.ts'
import { AppError } from '../../domain/error.ts'
import { endedCause } from '../fleet/jobs/ends.ts'
import { requestStop } from '../fleet/stop-run.ts'
import { tellQueries } from '../mail/notices.ts'
import { stoppedByUsMail } from '../mail/operator-letters.ts'
import { deliverMail } from '../mail/outbox.ts'
import { auditQuery } from '../runtime/audit.ts'
import { getAccount, handOf, type Operator, requireOther, type Why } from './operator.ts'

/** Stops someone's server, as they could themselves. @throws not_found, conflict, forbidden, invalid */
export async function forceStop(operator: Operator, runId: string, why: Why): Promise<void> {
  const { ctx } = operator
  const hand = handOf(operator, why)
  const [run] = await ctx.db.select().from(runs).where(eq(runs.id, runId))
  if (!run) throw new AppError('not_found', `No run has the ID ${runId}.`)
  requireOther(operator, run.userId)
  if (run.stopRequestedAt !== null || run.endedAt !== null) throw alreadyStopping()
  const { email } = await getAccount(operator, run.userId)
  const channel = ctx.channel(run.userId)
  await channel.arm(run.userId)
  const failure = { code: 'stopped_by_us' as const, message: 'We stopped your server. Contact us to find out why.' }
  const stopped = await requestStop(ctx, run, ctx.now(), {
    failure,
    before: (isOpen) => [
      auditQuery(hand, { act: 'stop_run', subject: runId, userId: run.userId }, isOpen),
      ...tellQueries(ctx, { id: run.userId, email }, stoppedByUsMail(), isOpen, endedCause(runId)),
    ],
  })
  // Someone was faster: they are in the audit log, and we aren't.
  if (!stopped) throw alreadyStopping()
  ctx.background(Promise.all([channel.wake(run.userId), channel.tellAccount(), deliverMail(ctx)]))
}

const alreadyStopping = () => new AppError('not_running', 'This server is already stopping or stopped.')

/** Ends one of our instances that no live run owns. @throws not_found, conflict, invalid, unavailable, provider_failed */
export async function endInstance(operator: Operator, instanceId: string, why: Why): Promise<void> {
  const { ctx } = operator
  const hand = handOf(operator, why)
  if (!/^i-[0-9a-f]{8,17}$/.test(instanceId))
    throw new AppError('invalid', `${JSON.stringify(instanceId)} is no instance ID, such as i-0123456789abcdef0.`)
  const instance = await ctx.cloud.findInstance(instanceId)
  if (!instance?.token) throw new AppError('not_found', `EC2 doesn't have our instance ${instanceId}.`)
  if (instance.state === 'shutting-down' || instance.state === 'terminated')
    throw new AppError('not_running', 'This instance is already ending or has ended.')
  const owned = ctx.db
    .select({ id: runs.id })
    .from(launches)
    .innerJoin(runs, eq(runs.id, launches.runId))
    .where(
      sql`${or(eq(launches.token, instance.token), eq(launches.instanceId, instanceId))} AND ${runs.endedAt} IS NULL
        AND coalesce(${launches.outcome}, 'launched') = 'launched'`,
    )
  const [owner] = await owned
  if (owner) throw new AppError('conflict', `The run ${owner.id} owns this instance. Stop that instead.`)
  const entry = { subject: instanceId, userId: instance.tags.user ?? null, detail: { run: instance.tags.session } }
  await writeBatch(ctx.db, [auditQuery(hand, { act: 'end_instance', ...entry })])
  try {
    await ctx.cloud.terminate(instanceId)
  } catch (error) {
    const { actId, ...again } = hand
    await writeBatch(ctx.db, [auditQuery(again, { act: 'end_instance_failed', ...entry })])
    throw error
  }
}
