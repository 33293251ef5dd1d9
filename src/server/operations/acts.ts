import { eq, or, type SQL, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../db/client.ts'
import { bills, type LineGroupRow, launches, runs, signIns, users } from '../../../db/schema.ts'
import { LONGEST_REASON } from '../../domain/audit.ts'
import { AppError } from '../../domain/error.ts'
import type { PlanType } from '../../domain/money/plan.ts'
import type { User } from '../../domain/wire.ts'
import { revokeTokensQuery } from '../accounts/api-tokens.ts'
import { requireCurrentPassword } from '../accounts/credentials/current-password.ts'
import { auditQuery, type Hand, isDoneAlready } from '../audit.ts'
import { correctBill } from '../billing/bills/corrections.ts'
import { endGrantedPlan, grantPlan } from '../billing/plans/grants.ts'
import type { Context } from '../context.ts'
import type { EnvironmentChange, NewEnvironment } from '../fleet/catalog.ts'
import * as catalog from '../fleet/catalog.ts'
import { endedCause } from '../fleet/jobs/ends.ts'
import * as groups from '../fleet/line/groups.ts'
import { addPlaces, drainPlace, type NewPlaces, resumePlace, retirePlace } from '../fleet/places.ts'
import { requestStop } from '../fleet/stop-run.ts'
import { noticeQuery, tellQueries } from '../mail/notices.ts'
import { heldMail, liftedNotice, signedOutNotice, stoppedByUsMail } from '../mail/operator-letters.ts'
import { deliverMail } from '../mail/outbox.ts'

/** What every act in the console requires, and the ID that its form carries. A form sent twice acts once. */
export type Why = { reason: string; confirmed: boolean; act_id?: string }

/** An admin at work. Each act is recorded in the batch that does it. */
export type Operator = { ctx: Context; admin: User }

/** @throws invalid */
function handOf(
  { ctx, admin }: Operator,
  { reason, confirmed, act_id }: Why,
): Hand & { by: { id: string; reason: string } } {
  const why = reason.trim()
  if (!why || why.length > LONGEST_REASON)
    throw new AppError('invalid', `Please give a reason of at most ${LONGEST_REASON} characters.`, { field: 'reason' })
  if (!confirmed) throw new AppError('invalid', 'Please tick the box to confirm.', { field: 'confirmed' })
  const hand = { db: ctx.db, now: ctx.now, by: { id: admin.id, reason: why } }
  return act_id && FORM_ACT.test(act_id) ? { ...hand, actId: act_id } : hand
}

const FORM_ACT = /^act_[\w-]{20}\.[a-z-]+$/

/** Does an act, unless the same form did it before: a double click, or a page from the browser's history. @throws conflict */
export async function once<T>(act: Promise<T>): Promise<T> {
  try {
    return await act
  } catch (cause) {
    if (!isDoneAlready(cause)) throw cause
    throw new AppError('conflict', 'You already sent this form, and it worked. To do it again, reload the page.', {
      cause,
    })
  }
}

/** Nobody grants, credits, or frees themselves. @throws forbidden */
function requireOther({ admin }: Operator, userId: string): void {
  if (admin.id === userId) throw new AppError('forbidden', "You can't do this to your own account. Ask another admin.")
}

/** @throws not_found */
async function getAccount({ ctx }: Operator, userId: string): Promise<{ email: string; closedAt: number | null }> {
  const [account] = await ctx.db
    .select({ email: users.email, closedAt: users.closedAt })
    .from(users)
    .where(eq(users.id, userId))
  if (!account) throw new AppError('not_found', `No account has the ID ${userId}.`)
  return account
}

/** Lets the admin act for 15 minutes. @throws invalid, too_many */
export async function confirmPassword({ ctx, admin }: Operator, signInId: string, password: string): Promise<void> {
  await requireCurrentPassword(ctx, admin.id, password)
  await ctx.db.update(signIns).set({ passwordAt: ctx.now() }).where(eq(signIns.id, signInId))
}

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
  const failure = { code: 'stopped_by_us', message: 'We stopped your server. Contact us to find out why.' }
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

const alreadyStopping = () => new AppError('conflict', 'This server is already stopping or stopped.')

/** Ends one of our instances that no live run owns. @throws not_found, conflict, invalid, unavailable, provider_failed */
export async function endInstance(operator: Operator, instanceId: string, why: Why): Promise<void> {
  const { ctx } = operator
  const hand = handOf(operator, why)
  if (!/^i-[0-9a-f]{8,17}$/.test(instanceId))
    throw new AppError('invalid', 'Please enter an instance ID, such as i-0123456789abcdef0.', {
      field: 'instance',
    })
  const instance = await ctx.cloud.findInstance(instanceId)
  if (!instance?.token) throw new AppError('not_found', `EC2 doesn't have our instance ${instanceId}.`)
  if (instance.state === 'shutting-down' || instance.state === 'terminated')
    throw new AppError('conflict', 'This instance is already ending or has ended.')
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

/** Refuses this person's starts until the suspension is lifted. What runs keeps running. */
export async function suspend(operator: Operator, userId: string, why: Why): Promise<void> {
  const { ctx } = operator
  const hand = handOf(operator, why)
  requireOther(operator, userId)
  const { email } = await getAccount(operator, userId)
  const open = sql`id = ${userId} AND held_at IS NULL AND closed_at IS NULL`
  await change(operator, 'This account is already suspended or closed.', [
    auditQuery(hand, { act: 'suspend', subject: userId, userId }, isUser(open)),
    ...tellQueries(ctx, { id: userId, email }, heldMail(), isUser(open)),
    ctx.db.run(sql`UPDATE users SET held_at = ${ctx.now()} WHERE ${open}`),
  ])
  ctx.background(Promise.all([ctx.channel(userId).tellAccount(), deliverMail(ctx)]))
}

/** Lifts an operator's suspension. One for an overdue invoice ends when it is paid. */
export async function lift(operator: Operator, userId: string, why: Why): Promise<void> {
  const { ctx } = operator
  const hand = handOf(operator, why)
  requireOther(operator, userId)
  const held = sql`id = ${userId} AND held_at IS NOT NULL`
  await change(operator, 'No operator suspended this account.', [
    auditQuery(hand, { act: 'lift', subject: userId, userId }, isUser(held)),
    noticeQuery(ctx, userId, liftedNotice(), { when: isUser(held) }),
    ctx.db.run(sql`UPDATE users SET held_at = NULL WHERE ${held}`),
  ])
  ctx.background(ctx.channel(userId).tellAccount())
}

/** What an act changes shows at once, and so does its notice. */
function tellPages({ ctx }: Operator, userId: string): void {
  ctx.background(ctx.channel(userId).tellAccount())
}

const isUser = (condition: SQL) => sql`EXISTS (SELECT 1 FROM users WHERE ${condition})`

/** @throws conflict if the last write changed nothing */
async function change(operator: Operator, otherwise: string, queries: Query[]): Promise<void> {
  const results = await writeBatch(operator.ctx.db, queries)
  if (!results.at(-1)?.rowsAffected) throw new AppError('conflict', otherwise)
}

export async function grant(
  operator: Operator,
  userId: string,
  plan: { type: PlanType; hours: number },
  why: Why,
): Promise<void> {
  const hand = handOf(operator, why)
  requireOther(operator, userId)
  if (!Number.isFinite(plan.hours) || plan.hours < 0 || plan.hours > 10_000)
    throw new AppError('invalid', 'The hours must be a number from 0 to 10,000.', { field: 'hours' })
  const { email, closedAt } = await getAccount(operator, userId)
  if (closedAt !== null) throw new AppError('conflict', 'This account is closed.')
  await grantPlan(hand, email, plan)
  tellPages(operator, userId)
}

export async function endGrant(operator: Operator, userId: string, why: Why): Promise<void> {
  const hand = handOf(operator, why)
  requireOther(operator, userId)
  if (!(await endGrantedPlan(hand, (await getAccount(operator, userId)).email)))
    throw new AppError('conflict', 'They have no trial or granted plan.')
  tellPages(operator, userId)
}

/** The customer sees the reason. @returns false if the bill already says so */
export async function correct(operator: Operator, billId: string, seconds: number, why: Why): Promise<boolean> {
  const hand = handOf(operator, why)
  const [bill] = await operator.ctx.db.select({ userId: bills.userId }).from(bills).where(eq(bills.id, billId))
  if (bill) requireOther(operator, bill.userId)
  const correction = await correctBill(hand, billId, { seconds, reason: hand.by.reason })
  if (correction) tellPages(operator, correction.userId)
  return correction !== null
}

/** Ends every sign-in and every API token. */
export async function signOutPerson(operator: Operator, userId: string, why: Why): Promise<void> {
  const { ctx } = operator
  const hand = handOf(operator, why)
  requireOther(operator, userId)
  await getAccount(operator, userId)
  await writeBatch(ctx.db, [
    auditQuery(hand, { act: 'sign_out', subject: userId, userId }),
    noticeQuery(ctx, userId, signedOutNotice()),
    ctx.db.run(sql`UPDATE sign_ins SET revoked_at = ${ctx.now()} WHERE user_id = ${userId} AND revoked_at IS NULL`),
    revokeTokensQuery(ctx, userId),
  ])
  ctx.background(ctx.channel(userId).disconnect('all'))
}

export async function newPlaces(operator: Operator, input: NewPlaces, why: Why): Promise<string[]> {
  return addPlaces(handOf(operator, why), input)
}

const PLACE_ACTS = { drain: drainPlace, resume: resumePlace, retire: retirePlace }
export type PlaceAct = keyof typeof PLACE_ACTS

export function isPlaceAct(text: string): text is PlaceAct {
  return Object.hasOwn(PLACE_ACTS, text)
}

export async function changePlace(operator: Operator, placeId: string, act: PlaceAct, why: Why): Promise<void> {
  await PLACE_ACTS[act](handOf(operator, why), placeId)
}

export async function newEnvironment(operator: Operator, input: NewEnvironment, why: Why): Promise<void> {
  await catalog.addEnvironment(handOf(operator, why), input)
}

export async function changeEnvironment(
  operator: Operator,
  name: string,
  change: EnvironmentChange,
  why: Why,
): Promise<void> {
  await catalog.changeEnvironment(handOf(operator, why), name, change)
}

export async function newGroup(operator: Operator, input: groups.NewGroup, why: Why): Promise<LineGroupRow> {
  return groups.makeGroup(handOf(operator, why), input)
}

export async function endGroup(operator: Operator, groupId: string, why: Why): Promise<void> {
  await groups.endGroup(handOf(operator, why), groupId)
}

export async function retireEnvironment(operator: Operator, name: string, why: Why): Promise<void> {
  await catalog.retireEnvironment(handOf(operator, why), name)
}
