import { and, eq, isNull } from 'drizzle-orm'
import { isUniqueViolation, type Query, writeBatch } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { type PlanRow, plans } from '../../../../db/schema/billing.ts'
import { AppError } from '../../../domain/error.ts'
import { isUnpaid, planForSale, stands } from '../../../domain/money/plan.ts'
import type { PaidSubscription } from '../../ports/payments.ts'
import type { Context } from '../../runtime/context.ts'
import { findPlanPayments } from '../bills/plan-payments.ts'
import { planBeforeChange, toSpan } from '../bills/plan-spans.ts'
import { hearOfPayments } from './paid-until.ts'
import { type Asked, storePlanQueries } from './store-plan.ts'

/** Rarely needed. */
const alerts = () => import('./plan-alerts.ts')

/**
 * Stores Stripe's state of a subscription. Safe to repeat, in any order.
 * @param also written in the same batch
 * @throws conflict if we can't record it: the operator is alerted, and the caller may retry
 */
export async function syncPlan(ctx: Context, stripeId: string, also: Query[] = []): Promise<void> {
  await store(ctx, stripeId, also, null)
}

/** Stores its payments as well. Only this postpones the next check: a webhook says nothing about others that got lost. */
export async function checkPlan(ctx: Context, stripeId: string): Promise<void> {
  const checkedAt = ctx.now()
  await store(ctx, stripeId, await findPlanPayments(ctx, stripeId), checkedAt)
}

async function store(ctx: Context, stripeId: string, also: Query[], checkedAt: number | null): Promise<void> {
  // The latest request gets the latest state: see invoice-sync.ts.
  const askedAt = ctx.now()
  const found = await ctx.payments.findSubscription(stripeId)
  const record = async () => {
    const queries = [...(found ? await takeOver(ctx, found, { askedAt, checkedAt }) : []), ...also]
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
  await (await alerts()).alertNotRecorded(ctx, stripeId, cause)
  throw new AppError('conflict', "We couldn't set up the plan you paid for. We've been notified and will fix it.", {
    cause,
  })
}

async function takeOver(ctx: Context, found: PaidSubscription, asked: Asked): Promise<Query[]> {
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
    await (await alerts()).alertSecond(ctx, found.id)
    return []
  }
  // If the price is no longer one of ours, a known plan stays what it was.
  const plan =
    planForSale(found.planType) ??
    (known && { type: known.planType, hours: known.hours }) ??
    planForSale(found.boughtAs)
  if (!user || !plan) {
    if (found.endedAt === null) await (await alerts()).alertIgnored(ctx, found.id, user ? 'its price' : 'its user')
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
  return storePlanQueries(
    ctx,
    { ...found, ...upgradeOf(found, known, asked.askedAt), ...payments, userId },
    { ...plan, before },
    asked,
  )
}

/** Keeps the last upgrade after a downgrade, for the period that it counts in, and when an unpaid one lapsed. */
function upgradeOf(found: PaidSubscription, known: PlanRow | undefined, askedAt: number) {
  const { upgradedAt, upgradedFrom } = found.upgradedAt === null && known ? known : found
  const stays = known?.planType === found.planType && known?.upgradeUntil ? known.upgradeUntil : null
  const lapsed = stays === null ? null : Math.min(stays, askedAt)
  return { upgradedAt, upgradedFrom, upgradeUntil: found.upgradeUntil ?? lapsed }
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
  await (await alerts()).alertSecond(ctx, second.id)
  return []
}
