import { sql } from 'drizzle-orm'
import { users } from '../../../../db/schema/accounts.ts'
import type { PlanRow } from '../../../../db/schema/billing.ts'
import { AppError } from '../../../domain/error.ts'
import { MINUTE_MS } from '../../../domain/instant.ts'
import { upgradedHours } from '../../../domain/money/cycle.ts'
import { changeOf, isUnpaid, type Plan, planForSale, planName, upgradeWaits } from '../../../domain/money/plan.ts'
import { CONFIRM_UPGRADE, PAY_PLAN, PLAN_UNPAID } from '../../../domain/money/start-cost.ts'
import type { ChangeQuote } from '../../../domain/views.ts'
import type { User } from '../../../domain/wire/accounts.ts'
import { newId } from '../../crypto/id.ts'
import { limitPerson } from '../../limits/limits.ts'
import type { PaidSubscription } from '../../ports/payments.ts'
import type { Context } from '../../runtime/context.ts'
import { settleCheckout } from './checkout.ts'
import { changeAtStripe, findStandingPlan, justChanged, releaseSchedule } from './paid-plan.ts'
import { syncPlan } from './plan-sync.ts'

/** An upgrade may be confirmed at its quoted price for this long. */
const QUOTE_HOLDS_MS = 10 * MINUTE_MS

/** @throws not_found, invalid, not_offered, plan_unpaid, too_many, unavailable, provider_failed */
export async function quoteChange(ctx: Context, user: User, planType: string): Promise<ChangeQuote> {
  await limitPerson(ctx, 'quote_plan', user.id)
  const { row, found, kind, plan } = await findChange(ctx, user, planType)
  const to = plan.type
  const quotedAt = Math.max(ctx.now(), found.periodStart)
  const { periodEnd } = found
  if (kind === 'downgrade') return { from: row.planType, to, kind, cents: null, quotedAt, hours: row.hours, periodEnd }
  const change = { from: row.planType, to, at: quotedAt }
  const hours = upgradedHours(
    { at: Math.floor(quotedAt / 1000) * 1000, from: { planType: row.planType, hours: row.hours } },
    plan.hours,
    { start: found.periodStart, end: periodEnd },
  )
  return { ...change, kind, cents: await ctx.payments.quoteUpgrade(found.id, change), quotedAt, hours, periodEnd }
}

/**
 * A larger plan begins at once and charges the difference for the rest of the period. A smaller one begins with the
 * next period. Safe to repeat: Stripe's state says what is left to do.
 * @param quotedAt when the price was quoted, in ms since 1970; null: now
 * @throws not_found, invalid, not_offered, plan_unpaid (a declined card, or a bank that wants a confirmation),
 * conflict, too_many, unavailable, provider_failed
 */
export async function changePlan(
  ctx: Context,
  user: User,
  { planType, quotedAt }: { planType: string; quotedAt: number | null },
): Promise<Change['kind']> {
  await limitPerson(ctx, 'change_plan', user.id)
  const {
    row,
    found,
    kind,
    plan: { type: to },
  } = await findChange(ctx, user, planType)
  if (kind === 'downgrade') {
    const schedule = async () => {
      // Taking back the change and scheduling it again could fail in between.
      if (found.nextPlanType === to) return
      if (found.scheduleId) await releaseSchedule(ctx, found.id, found.scheduleId)
      await ctx.payments.scheduleChange(found.id, to, newId('req'))
    }
    await changeAtStripe(ctx, row, schedule, (plan) => plan?.nextPlanType === to).catch(async (error) => {
      if (!(error instanceof AppError && error.code === 'provider_failed')) throw error
      // Another click is scheduling it, in two calls.
      const scheduleId = (await ctx.payments.findSubscription(found.id))?.scheduleId ?? null
      throw scheduleId === null || scheduleId === found.scheduleId ? error : justChanged()
    })
    return kind
  }
  const now = ctx.now()
  const at = quotedAt ?? now
  // An earlier moment costs more, so naming one gains nothing.
  if (at > now || at < now - QUOTE_HOLDS_MS || at < found.periodStart)
    throw new AppError('conflict', 'The price has changed since you opened this page. Please check it again.')
  const change = { from: row.planType, to, at }
  const isDone = (plan: PlanRow | null) => plan?.planType === to || upgradeWaits(plan, ctx.now())
  // Two clicks on one quote share a key, and Stripe charges nothing for the plan that it already has.
  const upgrade = async () => {
    if (found.scheduleId) await releaseSchedule(ctx, found.id, found.scheduleId)
    await ctx.payments.upgrade(found.id, change, `${row.id}:${to}:${at}`)
  }
  await changeAtStripe(ctx, row, upgrade, isDone)
  const plan = await findStandingPlan(ctx, user.id)
  if (upgradeWaits(plan, ctx.now())) throw confirmUpgrade()
  // Someone voided the waiting invoice, or canceled, which discards the upgrade.
  if (plan?.planType !== to) throw justChanged()
  return kind
}

function confirmUpgrade(): AppError {
  return new AppError('plan_unpaid', CONFIRM_UPGRADE, { page: PAY_PLAN })
}

type Change = { row: PlanRow; found: PaidSubscription; kind: 'upgrade' | 'downgrade'; plan: Plan }

/** Whether the person may change to that plan, according to Stripe's current state. */
async function findChange(ctx: Context, user: User, planType: string): Promise<Change> {
  const plan = planForSale(planType)
  if (!plan) throw new AppError('invalid', 'Please choose the Basic or the Premium plan.')
  if (!ctx.config.plansForSale) throw new AppError('not_offered', 'Plans are not for sale yet. Contact sales.')
  // They may have bought it a moment ago.
  const row =
    (await findStandingPlan(ctx, user.id)) ??
    ((await settleCheckout(ctx, user.id)) ? await findStandingPlan(ctx, user.id) : null)
  if (!row) throw new AppError('not_found', "You don't have a plan to change yet. Choose one first.")
  const found = row.stripeSubscriptionId ? await ctx.payments.findSubscription(row.stripeSubscriptionId) : null
  if (!found) throw new AppError('not_offered', 'We set up your plan for you. Contact sales to change it.')
  if (found.planType !== row.planType || found.endedAt !== null) {
    await syncPlan(ctx, found.id)
    throw justChanged()
  }
  if (found.periodEnd <= ctx.now())
    throw new AppError('conflict', 'Stripe is renewing your plan right now. Please try again in five minutes.')
  if (found.upgradeUntil !== null) {
    await syncPlan(ctx, found.id)
    throw confirmUpgrade()
  }
  if (isUnpaid(found)) throw new AppError('plan_unpaid', PLAN_UNPAID, { page: PAY_PLAN })
  const kind = changeOf(row.planType, plan.type)
  if (!kind) throw new AppError('invalid', `You're already on ${planName(row.planType)}.`)
  if (kind === 'downgrade' && found.cancelAtPeriodEnd)
    throw new AppError('invalid', 'Your plan is set to end. Keep it first, then change it.')
  if (kind === 'upgrade' && (await owesEarlierBill(ctx, row, found.periodStart)))
    throw new AppError('conflict', "We're still writing your last bill. Please try again in five minutes.")
  return { row, found, kind, plan }
}

/**
 * Whether an earlier period, which had another plan, has no bill yet. The row remembers one plan before this one, and an
 * upgrade overwrites it: that bill would lack the hours they paid for.
 */
async function owesEarlierBill(ctx: Context, { userId, earlierUntil }: PlanRow, periodStart: number): Promise<boolean> {
  if (earlierUntil === null) return false
  const unbilled = sql`id = ${userId} AND billed_until < ${Math.min(earlierUntil, periodStart)}`
  return (await ctx.db.$count(users, unbilled)) > 0
}
