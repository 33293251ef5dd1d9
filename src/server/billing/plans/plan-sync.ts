import { and, eq, isNull, sql } from 'drizzle-orm'
import { isUniqueViolation, type Query, writeBatch } from '../../../../db/client.ts'
import { type PlanRow, plans, users } from '../../../../db/schema.ts'
import { AppError } from '../../../domain/error.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../domain/instant.ts'
import { ENTERPRISE, isUnpaid, PLANS, type PlanType, stands, upgradeWaits } from '../../../domain/money/plan.ts'
import type { Context } from '../../context.ts'
import { newId } from '../../id.ts'
import type { PaidSubscription } from '../../ports/payments.ts'
import { dueQuery } from '../bills/close-cycles.ts'
import { planBeforeChange, toSpan } from '../bills/plan-spans.ts'
import { endGrantedQuery, liftTrialEndQuery } from './grants.ts'
import { type Heard, hearOfPayments, isUnbilledUnpaid, paidUntilQuery } from './paid-until.ts'
import { alertIgnored, alertNotRecorded, alertSecond } from './plan-alerts.ts'

/**
 * Stores Stripe's state of a subscription. Safe to repeat, in any order.
 * @param also written in the same batch
 * @throws conflict if we can't record it: the operator is alerted, and the caller may retry
 */
export async function syncPlan(ctx: Context, stripeId: string, also: Query[] = []): Promise<void> {
  // The latest request gets the latest state: see invoice-sync.ts.
  const askedAt = ctx.now()
  const found = await ctx.payments.findSubscription(stripeId)
  const record = async () => {
    const queries = [...(found ? await takeOver(ctx, found, askedAt) : []), ...also]
    if (queries.length) await writeBatch(ctx.db, queries)
  }
  // Another plan of theirs was written since we read the rows. Read again: it is a rival now.
  await record()
    .catch((cause) => retryWhenTaken(cause, record))
    .catch((cause) => giveUp(ctx, stripeId, cause))
}

function retryWhenTaken(cause: unknown, record: () => Promise<void>): Promise<void> {
  if (!isUniqueViolation(cause)) throw cause
  return record()
}

async function giveUp(ctx: Context, stripeId: string, cause: unknown): Promise<never> {
  if (!isUniqueViolation(cause)) throw cause
  await alertNotRecorded(ctx, stripeId, cause)
  throw new AppError('conflict', "We couldn't set up the plan you paid for. We've been notified and will fix it.", {
    cause,
  })
}

async function takeOver(ctx: Context, found: PaidSubscription, askedAt: number): Promise<Query[]> {
  const userId = found.userId ?? ''
  const [[user], rows] = await ctx.db.batch([
    ctx.db.select({ id: users.id }).from(users).where(eq(users.id, userId)),
    ctx.db.select().from(plans).where(eq(plans.userId, userId)),
  ])
  const known = rows.find((row) => row.stripeSubscriptionId === found.id)
  // Its first payment is due or never came, so it doesn't replace a plan.
  if (
    !known &&
    (found.status === 'incomplete_expired' ||
      (found.status === 'incomplete' && rows.some((row) => stands(row, ctx.now()))))
  )
    return []
  // A second plan that we canceled at once never counted, so it must not cut a cycle of the plan beside it.
  // Alert again: the call that canceled it may have died before its alert.
  if (!known && found.endedAt !== null && rows.some((row) => stoodBeside(row, found))) {
    await alertSecond(ctx, found.id)
    return []
  }
  // If the price is no longer one of ours, a known plan stays what it was.
  const plan = sold(found.planType) ?? (known && { type: known.planType, hours: known.hours }) ?? sold(found.boughtAs)
  if (!user || !plan) {
    if (found.endedAt === null) await alertIgnored(ctx, found.id, user ? 'its price' : 'its user')
    return []
  }
  const rival = rows.find(
    (row) => row.endedAt === null && row.stripeSubscriptionId !== null && row.stripeSubscriptionId !== found.id,
  )
  if (rival?.stripeSubscriptionId && found.endedAt === null) {
    await syncPlan(ctx, rival.stripeSubscriptionId)
    let standing = await findStanding(ctx, rival.id)
    // A paid plan may replace an unpaid one.
    if (isUnpaid(standing) && !isUnpaid(found)) {
      await ctx.payments.cancelNow(rival.stripeSubscriptionId)
      await syncPlan(ctx, rival.stripeSubscriptionId)
      standing = await findStanding(ctx, rival.id)
    }
    // Its end has passed and Stripe is about to end it: the caller retries.
    if (standing && (standing.cancelAt ?? Infinity) <= ctx.now())
      throw new AppError('unavailable', 'Your previous plan is still closing. Please try again in a moment.', {
        retryable: true,
      })
    if (standing) return refuseSecond(ctx, found)
  }
  const { periodStart } = found
  const before = known && known.planType !== plan.type ? planBeforeChange(known, { type: plan.type, periodStart }) : {}
  const payments = await hearOfPayments(ctx, known, found)
  return subscriptionQueries(
    ctx,
    { ...found, ...upgradeOf(found, known, askedAt), ...payments, userId },
    { ...plan, before },
    askedAt,
  )
}

/** Keeps the last upgrade after a downgrade, for the period that it counts in, and when an unpaid one lapsed. */
function upgradeOf(found: PaidSubscription, known: PlanRow | undefined, askedAt: number) {
  const { upgradedAt, upgradedFrom } = found.upgradedAt === null && known ? known : found
  const stays = known?.planType === found.planType && known?.upgradeUntil ? known.upgradeUntil : null
  const lapsed = stays === null ? null : Math.min(stays, askedAt)
  return { upgradedAt, upgradedFrom, upgradeUntil: found.upgradeUntil ?? lapsed }
}

function subscriptionQueries(
  ctx: Context,
  found: Heard,
  plan: { type: PlanType; hours: number; before: Partial<PlanRow> },
  askedAt: number,
): Query[] {
  const now = ctx.now()
  const { userId, cancelAt } = found
  // It was never paid, so it never was a plan.
  const endedAt = found.status === 'incomplete_expired' ? found.anchor : found.endedAt
  const paidUntil = found.unpaid ? found.periodStart : null
  const lapsesAt = upgradeWaits(found, now) ? found.upgradeUntil : null
  const soon = Math.max(now, Math.min(cancelAt ?? Infinity, lapsesAt ?? Infinity)) + MINUTE_MS
  // Once more after its end: we may have missed its last payments. See reconcile.ts.
  const checkAt = endedAt === null ? Math.min(now + DAY_MS, soon) : now
  const isNow = endedAt === null ? 1 : 0
  const newer = sql`EXISTS (SELECT 1 FROM subscriptions WHERE stripe_subscription_id = ${found.id} AND synced_at > ${askedAt})`
  const row = {
    planType: plan.type,
    status: found.status,
    anchor: found.anchor,
    hours: plan.hours,
    cancelAtPeriodEnd: found.cancelAtPeriodEnd,
    cancelAt,
    paidUntil,
    upgradedAt: found.upgradedAt,
    upgradedFrom: found.upgradedFrom,
    upgradeUntil: found.upgradeUntil,
    // Its schedule stays attached for a while after the change.
    nextPlanType: found.nextPlanType === plan.type ? null : found.nextPlanType,
    ...plan.before,
    syncedAt: askedAt,
    checkAt,
    endedAt,
  }
  return [
    dueQuery(ctx.db, userId, now, sql`NOT ${isKnown(found, row)}`),
    // A trial or granted plan ends where the paid one begins, unless it ended earlier. If it was granted
    // after the paid one began, it never counted. A plan that is over at Stripe ends nothing that began
    // later, and an outdated answer ends nothing at all.
    endGrantedQuery(ctx.db, userId, found.anchor, sql`(anchor <= ${found.anchor} OR ${isNow}) AND NOT ${newer}`),
    ctx.db
      .insert(plans)
      .values({
        id: newId('sub'),
        userId,
        subType: 'paid',
        stripeSubscriptionId: found.id,
        createdAt: now,
        ...row,
      })
      .onConflictDoUpdate({
        target: plans.stripeSubscriptionId,
        set: {
          ...row,
          paidUntil: paidUntilQuery(found),
          // Soon: the paid period still lacks its hours.
          checkAt: sql`CASE WHEN ${isUnbilledUnpaid(found)} THEN ${Math.min(now + HOUR_MS, checkAt)}
            WHEN ${plans.endedAt} IS NULL THEN ${checkAt} ELSE ${plans.checkAt} END`,
        },
        setWhere: sql`${plans.syncedAt} <= ${askedAt}`,
      }),
    ctx.db.run(
      sql`UPDATE users SET stripe_customer_id = coalesce(stripe_customer_id, ${found.customerId}) WHERE id = ${userId}`,
    ),
    liftTrialEndQuery(ctx.db, userId, sql`${isNow} AND NOT ${newer}`),
    // If the account was closed meanwhile, the next trigger ends the plan.
    ctx.db.run(sql`UPDATE subscriptions SET check_at = ${now} WHERE stripe_subscription_id = ${found.id} AND ended_at IS NULL
      AND EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND closed_at IS NOT NULL)`),
  ]
}

/** True if nothing changed that decides where its cycles end and what they include. */
function isKnown(found: Heard, row: Pick<PlanRow, (typeof DECISIVE)[number]>) {
  const same = DECISIVE.map((field) => sql`${plans[field]} IS ${row[field]}`)
  return sql`EXISTS (SELECT 1 FROM ${plans} WHERE ${plans.stripeSubscriptionId} = ${found.id}
    AND ${sql.join(same, sql` AND `)} AND ${plans.paidUntil} IS ${paidUntilQuery(found)})`
}

const DECISIVE = ['planType', 'hours', 'anchor', 'cancelAt', 'endedAt', 'upgradedAt'] as const

function sold(planType: PlanType | null) {
  return PLANS.find(({ type }) => type === planType && type !== ENTERPRISE.type)
}

async function findStanding(ctx: Context, id: string): Promise<PlanRow | null> {
  const [row] = await ctx.db
    .select()
    .from(plans)
    .where(and(eq(plans.id, id), isNull(plans.endedAt)))
  return row ?? null
}

function stoodBeside(row: PlanRow, { anchor, endedAt }: PaidSubscription): boolean {
  const until = toSpan(row).endsAt ?? Infinity
  return row.stripeSubscriptionId !== null && row.anchor < (endedAt ?? Infinity) && anchor < until
}

/** They paid in two windows: keep the current plan, end the other before it costs more. */
async function refuseSecond(ctx: Context, second: PaidSubscription): Promise<Query[]> {
  await ctx.payments.cancelNow(second.id)
  await alertSecond(ctx, second.id)
  return []
}
