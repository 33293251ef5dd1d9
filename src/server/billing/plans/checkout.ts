import { and, eq, isNull } from 'drizzle-orm'
import { isUniqueViolation } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { type CheckoutRow, checkouts } from '../../../../db/schema/billing.ts'
import { AppError } from '../../../domain/error.ts'
import { DAY_MS, HOUR_MS } from '../../../domain/instant.ts'
import { isUnpaid, type PlanType, planForSale } from '../../../domain/money/plan.ts'
import type { User } from '../../../domain/wire/accounts.ts'
import { newId } from '../../crypto/id.ts'
import { limitPerson, mayStill } from '../../limits/limits.ts'
import type { Checkout } from '../../ports/payments.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'
import { withCustomer } from '../bills/customers.ts'
import { syncCheckout } from './checkout-sync.ts'
import { findPaidPlan } from './paid-plan.ts'
import { syncPlan } from './plan-sync.ts'

const OTHER_WINDOW = 'You opened a checkout in another window. Please try again.'
const NOT_FOR_SALE = 'Plans are not for sale yet. Contact sales if you need one now.'

/**
 * The page to pay for a plan. Calling it again returns the same page; for another plan, it closes the
 * previous page first, so that nobody pays for two.
 * @throws invalid (no such plan is for sale, or they have one), too_many, unavailable, provider_failed,
 * conflict
 */
export async function createCheckout(ctx: Context, user: User, input: { planType: string }): Promise<{ url: string }> {
  if (!ctx.config.plansForSale) throw new AppError('not_offered', NOT_FOR_SALE)
  const plan = planForSale(input.planType)
  if (!plan) throw new AppError('invalid', 'Please choose the Basic or the Premium plan.')
  await limitPerson(ctx, 'checkout', user.id)
  const open = await settleOpenCheckout(ctx, user.id, plan.type)
  if (open?.url) return { url: open.url }
  await refuseSecondPlan(ctx, user.id)
  const row = open?.row ?? (await insertCheckout(ctx, user.id, plan.type))
  const checkout = await openAtStripe(ctx, row)
  if (!checkout.url) throw new AppError('conflict', 'This checkout is already complete. Please check your account.')
  return { url: checkout.url }
}

/**
 * Asks Stripe for the outcome when someone returns from the checkout page, since the webhook may take a
 * while.
 * @returns false if there was nothing to ask or we asked too often
 */
export async function settleCheckout(ctx: Context, userId: string): Promise<boolean> {
  const row = await findOpenCheckout(ctx, userId)
  if (!row?.stripeSessionId || !(await mayStill(ctx, 'ask_stripe', userId))) return false
  await syncCheckout(ctx, row.stripeSessionId)
  return true
}

async function findOpenCheckout(ctx: Context, userId: string): Promise<CheckoutRow | null> {
  const [row] = await ctx.db
    .select()
    .from(checkouts)
    .where(and(eq(checkouts.userId, userId), eq(checkouts.status, 'open')))
  return row ?? null
}

/**
 * Settles the previous checkout: returns its page if it is open for the same plan, or its row if we never
 * reached Stripe.
 */
async function settleOpenCheckout(ctx: Context, userId: string, planType: PlanType) {
  const row = await findOpenCheckout(ctx, userId)
  if (!row) return null
  if (!row.stripeSessionId) {
    // Not later: Stripe keeps a page open for a day, and cycles wait 25 hours at most for one
    // (CHECKOUT_HOLDS_MS).
    if (row.planType === planType && row.createdAt > ctx.now() - HOUR_MS) return { row, url: null }
    await closeUnopened(ctx, row)
    return null
  }
  if (row.planType !== planType) {
    await expire(ctx, row.stripeSessionId)
    return null
  }
  const checkout = await syncCheckout(ctx, row.stripeSessionId)
  return checkout?.status === 'open' ? { row, url: checkout.url } : null
}

/**
 * Asks Stripe for plans that they have bought or paid and whose webhook is still on its way, before something
 * irreversible.
 * @returns whether a page where they may pay is open
 */
export async function hearOfPlans(ctx: Context, userId: string): Promise<boolean> {
  const open = await findOpenCheckout(ctx, userId)
  const checkout = open?.stripeSessionId ? await syncCheckout(ctx, open.stripeSessionId) : open
  const [user] = await ctx.db.select({ customerId: users.stripeCustomerId }).from(users).where(eq(users.id, userId))
  const live = user?.customerId ? await ctx.payments.listSubscriptions(user.customerId) : []
  for (const stripeId of live) await syncPlan(ctx, stripeId)
  return checkout?.status === 'open'
}

/** Closes the page that the user may still have open. If they already paid there, records the plan. */
export async function closeOpenCheckout(ctx: Context, userId: string): Promise<void> {
  const row = await findOpenCheckout(ctx, userId)
  if (!row) return
  if (!row.stripeSessionId) return closeUnopened(ctx, row)
  await expire(ctx, row.stripeSessionId)
}

/** Stripe only expires open pages. If it refuses, the page was paid or is over, so ask which. */
async function expire(ctx: Context, stripeSessionId: string): Promise<void> {
  try {
    await ctx.payments.expireCheckout(stripeSessionId)
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'provider_failed')) throw error
    await syncCheckout(ctx, stripeSessionId)
    return
  }
  await ctx.db
    .update(checkouts)
    .set({ status: 'expired', checkAt: null })
    .where(eq(checkouts.stripeSessionId, stripeSessionId))
}

async function refuseSecondPlan(ctx: Context, userId: string): Promise<void> {
  const current = await findPaidPlan(ctx, userId)
  // An unpaid plan ends at Stripe once another is paid: see plan-sync.ts.
  if (current && !isUnpaid(current) && (current.cancelAt ?? Infinity) > ctx.now())
    throw new AppError('invalid', 'You already have a plan. Change it on the Subscriptions page.')
}

async function insertCheckout(ctx: Context, userId: string, planType: PlanType): Promise<CheckoutRow> {
  const now = ctx.now()
  const row = { id: newId('chk'), userId, planType, status: 'open' as const, createdAt: now, checkAt: now + HOUR_MS }
  try {
    await ctx.db.insert(checkouts).values(row)
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause
    throw new AppError('conflict', OTHER_WINDOW, { cause })
  }
  return { ...row, stripeSessionId: null }
}

/** With the row's id in the idempotency key, Stripe returns the same page within a day. */
async function openAtStripe(ctx: Context, row: Pick<CheckoutRow, 'id' | 'userId' | 'planType'>): Promise<Checkout> {
  const checkout = await withCustomer(ctx, row.userId, (customerId) =>
    ctx.payments.createCheckout(
      {
        customerId,
        userId: row.userId,
        planType: row.planType,
        successUrl: `${siteOrigin(ctx)}/account_overview?checkout=done`,
        cancelUrl: `${siteOrigin(ctx)}/subscriptions`,
      },
      `${row.id}:${customerId}`,
    ),
  )
  const { rowsAffected } = await ctx.db
    .update(checkouts)
    .set({ stripeSessionId: checkout.id })
    .where(and(eq(checkouts.id, row.id), eq(checkouts.status, 'open')))
  if (rowsAffected) return checkout
  // Someone closed it in the meantime: nobody watches this page.
  await ctx.payments.expireCheckout(checkout.id)
  throw new AppError('conflict', OTHER_WINDOW)
}

/**
 * We lost the answer with the page's ID, so this closes any page that the customer has open. Nobody has seen its
 * address. It doesn't open one to learn its ID, because Stripe may refuse that as long as a price is missing. After a
 * day, Stripe has closed it.
 */
export async function closeUnopened(ctx: Context, row: CheckoutRow): Promise<void> {
  // First: an answer that is still on its way then finds it closed, and closes its own page.
  const [closed] = await ctx.db
    .update(checkouts)
    .set({ status: 'expired', checkAt: null })
    .where(and(eq(checkouts.id, row.id), eq(checkouts.status, 'open'), isNull(checkouts.stripeSessionId)))
    .returning({ id: checkouts.id })
  if (!closed) return closeOpenCheckout(ctx, row.userId)
  if (row.createdAt <= ctx.now() - DAY_MS) return
  const [user] = await ctx.db.select({ customerId: users.stripeCustomerId }).from(users).where(eq(users.id, row.userId))
  const open = user?.customerId ? await ctx.payments.listOpenCheckouts(user.customerId) : []
  for (const id of open) await expire(ctx, id)
}
