import { eq, type SQL, sql } from 'drizzle-orm'
import { type Database, isUniqueViolation, type Query, writeBatch } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { plans } from '../../../../db/schema/billing.ts'
import { FIRST_STOP_AFTER } from '../../../domain/ending.ts'
import { AppError } from '../../../domain/error.ts'
import { MINUTE_MS, toIso } from '../../../domain/instant.ts'
import { gpusOf, type PlanType, planName, TRIAL_MINUTES } from '../../../domain/money/plan.ts'
import { newId } from '../../crypto/id.ts'
import { noticeQuery } from '../../mail/notices.ts'
import { grantEndedNotice, planGrantedNotice } from '../../mail/operator-letters.ts'
import { auditQuery, type Hand } from '../../runtime/audit.ts'
import { dueQuery } from '../bills/close-cycles.ts'
import { firstPaidAt } from '../bills/usage.ts'

/**
 * Grants a plan as of now, replacing a trial or another granted plan.
 * @throws not_found, conflict (they pay for a plan through Stripe)
 */
export async function grantPlan(hand: Hand, email: string, plan: { type: PlanType; hours: number }): Promise<void> {
  const { db } = hand
  const { userId } = await findGrantee(db, email)
  const at = hand.now()
  const isDemo = plan.type === 'demo'
  await writeBatch(db, [
    endGrantedQuery(db, userId, at),
    db.insert(plans).values({
      id: newId('sub'),
      userId,
      planType: plan.type,
      subType: isDemo ? 'demo' : 'paid',
      status: isDemo ? 'trialing' : 'active',
      anchor: at,
      hours: plan.hours,
      createdAt: at,
    }),
    dueQuery(db, userId, at),
    ...(isDemo ? [setTrialEndQuery(db, userId, at)] : liftTrialEndQueries(hand, userId)),
    auditQuery(hand, { act: 'grant_plan', subject: userId, userId, detail: plan }),
    noticeQuery(hand, userId, planGrantedNotice(planName(plan.type))),
  ]).catch((cause) => {
    // Stripe's plan was written since we looked.
    throw isUniqueViolation(cause) ? paysThroughStripe(cause) : cause
  })
}

/**
 * Running servers end with the trial's minutes, whatever plan they started under. A server that hasn't
 * answered yet gets its end once it does.
 */
function setTrialEndQuery(db: Database, userId: string, at: number) {
  const end = Math.ceil(at / 1000) * 1000 + TRIAL_MINUTES * MINUTE_MS
  return db.run(sql`UPDATE server_sessions SET must_stop_at = coalesce(must_stop_at, ${end})
    WHERE user_id = ${userId} AND stop_requested_at IS NULL AND billed_from IS NOT NULL`)
}

/** Ends a granted plan or a trial. @returns false if there is none @throws not_found, conflict */
export async function endGrantedPlan(hand: Hand, email: string): Promise<boolean> {
  const { db, now } = hand
  const { userId } = await findGrantee(db, email)
  const granted = sql`EXISTS (SELECT 1 FROM subscriptions
    WHERE user_id = ${userId} AND ended_at IS NULL AND stripe_subscription_id IS NULL)`
  const [, , ended] = await writeBatch(db, [
    auditQuery(hand, { act: 'end_plan', subject: userId, userId }, granted),
    noticeQuery(hand, userId, grantEndedNotice(), { when: granted }),
    endGrantedQuery(db, userId, now()),
    dueQuery(db, userId, now()),
  ])
  return ended?.rowsAffected === 1
}

/** @throws not_found */
export async function setAdmin(hand: Hand, email: string, admin: boolean): Promise<void> {
  const { db } = hand
  const { userId } = await findAccount(db, email)
  await writeBatch(db, [
    db.update(users).set({ admin }).where(eq(users.id, userId)),
    auditQuery(hand, { act: admin ? 'make_admin' : 'end_admin', subject: userId, userId }),
  ])
}

async function findGrantee(db: Database, email: string): Promise<{ userId: string }> {
  const account = await findAccount(db, email)
  if (account.plan?.stripeSubscriptionId) throw paysThroughStripe()
  return account
}

async function findAccount(db: Database, email: string) {
  const rows = await db
    .select({ userId: users.id, plan: plans })
    .from(users)
    .leftJoin(plans, sql`${plans.userId} = ${users.id} AND ${plans.endedAt} IS NULL`)
    .where(eq(users.email, email))
  const [row] = rows
  if (!row) throw new AppError('not_found', `There is no account with the address ${email}.`)
  return row
}

function paysThroughStripe(cause?: unknown): AppError {
  return new AppError('conflict', 'This account pays for a plan through Stripe. End it there first.', { cause })
}

/**
 * Ends a trial or a granted plan. If it was canceled and has expired, it ended then, not now.
 * @param when an SQL condition on its row
 */
export function endGrantedQuery(db: Database, userId: string, at: number, when: SQL = sql`1`) {
  return db.run(sql`UPDATE subscriptions SET ended_at = max(anchor, min(${at}, coalesce(cancel_at, ${at}))), cancel_at = NULL,
    status = CASE sub_type WHEN 'demo' THEN 'ended' ELSE 'canceled' END
    WHERE user_id = ${userId} AND ended_at IS NULL AND stripe_subscription_id IS NULL AND ${when}`)
}

/** Grants that another one has replaced since then, before we heard of a paid plan: they never counted. @param when an SQL condition */
export function voidGrantsQuery(db: Database, userId: string, since: number, when: SQL) {
  return db.run(sql`UPDATE subscriptions SET ended_at = anchor WHERE user_id = ${userId} AND stripe_subscription_id IS NULL
    AND ended_at > anchor AND anchor >= ${since} AND ${when}`)
}

/**
 * Running servers no longer belong to a trial, so they don't stop when its minutes are used up. A server that began in
 * a trial has no end of its user's choosing: unless they set one, or it ends with its program, it gets a plan's default
 * end, and the dashboard asks.
 */
export function liftTrialEndQueries(
  { db, now }: Pick<Hand, 'db' | 'now'>,
  userId: string,
  when: SQL = sql`1`,
): Query[] {
  const end = now() + FIRST_STOP_AFTER * 1000
  const isLive = sql`user_id = ${userId} AND stop_requested_at IS NULL AND ended_at IS NULL AND ${when}`
  // Rows from before `in_trial` don't have it. A server that began on a plan may also have a trial's end.
  const beganInTrial = sql`(in_trial OR must_stop_at IS NOT NULL AND requested_at < ${firstPaidAt(userId)})`
  const lacksEnd = sql`${beganInTrial} AND NOT until_exit AND default_ends_at IS NULL AND ends_set_at IS NULL
    AND CASE WHEN idle_ends THEN own_ends_at ELSE ends_at END IS NULL`
  return [
    db.run(sql`INSERT INTO run_events (id, session_id, at, what, detail, by)
      SELECT ${newId('rev')}, id, ${now()}, 'end_set', ${toIso(end)}, 'plan' FROM server_sessions WHERE ${isLive} AND ${lacksEnd}`),
    db.run(sql`UPDATE server_sessions SET default_ends_at = ${end},
      ends_at = coalesce(ends_at, ${end}), own_ends_at = CASE WHEN idle_ends THEN ${end} END WHERE ${isLive} AND ${lacksEnd}`),
    // Last, because it says what began in a trial.
    db.run(sql`UPDATE server_sessions SET must_stop_at = NULL WHERE ${isLive}`),
  ]
}

/** A plan that stays lifts the end that a smaller one would have set: their own end counts again. */
export function liftPlanEndQuery(db: Database, userId: string, type: PlanType, now: number, newer: SQL) {
  return db.run(sql`UPDATE server_sessions SET ends_at = own_ends_at, own_ends_at = NULL, plan_ends = 0
    WHERE user_id = ${userId} AND plan_ends AND stop_requested_at IS NULL AND ended_at IS NULL AND ends_at > ${now} AND NOT ${newer}
    AND (SELECT gpus FROM servers WHERE id = server_id) <= ${gpusOf({ planType: type, status: 'active' })}`)
}
