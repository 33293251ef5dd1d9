import { and, asc, eq, lte } from 'drizzle-orm'
import { users } from '../../../../db/schema/accounts.ts'
import { checkouts, plans } from '../../../../db/schema/billing.ts'
import { HOUR_MS } from '../../../domain/instant.ts'
import type { Context } from '../../runtime/context.ts'
import { fourAtOnce } from '../../runtime/four-at-once.ts'
import type { LogFields } from '../../settings/log.ts'
import { syncInvoice } from '../bills/invoice-sync.ts'
import { duePaymentsQuery, postponeCheck } from '../bills/plan-payments.ts'
import { closeUnopened } from './checkout.ts'
import { syncCheckout } from './checkout-sync.ts'
import { alertPaidAfterClosing } from './plan-alerts.ts'
import { checkPlan } from './plan-sync.ts'

const BATCH = 100

/**
 * Asks Stripe about everything we haven't checked for a day (an hour for open checkouts), to make up for lost
 * webhooks. Unpaid invoices of bills have their own schedule (`advanceInvoices`).
 */
export async function reconcilePlans(ctx: Context): Promise<void> {
  const now = ctx.now()
  const [planRows, visits, payments] = await ctx.db.batch([
    ctx.db
      .select({ plan: plans, closedAt: users.closedAt })
      .from(plans)
      .innerJoin(users, eq(users.id, plans.userId))
      .where(lte(plans.checkAt, now))
      .orderBy(asc(plans.checkAt))
      .limit(BATCH),
    ctx.db.select().from(checkouts).where(lte(checkouts.checkAt, now)).orderBy(asc(checkouts.checkAt)).limit(BATCH),
    duePaymentsQuery(ctx, BATCH),
  ])
  await eachOf(
    ctx,
    planRows,
    ({ plan }) => ({ subscriptionId: plan.id, userId: plan.userId }),
    async ({ plan, closedAt }) => {
      const stripeId = plan.stripeSubscriptionId ?? ''
      await ctx.db
        .update(plans)
        .set({ checkAt: now + HOUR_MS })
        .where(and(eq(plans.id, plan.id), eq(plans.checkAt, plan.checkAt ?? 0)))
      // A closed account must not pay for anything else.
      if (closedAt !== null && (await ctx.payments.findSubscription(stripeId))?.endedAt === null) {
        // Closing cancels the plan it knows. Tell the operator first: once canceled, we don't look again.
        if (plan.createdAt > closedAt) await alertPaidAfterClosing(ctx, stripeId)
        await ctx.payments.cancelNow(stripeId)
      }
      await checkPlan(ctx, stripeId)
    },
  )
  await eachOf(
    ctx,
    visits,
    ({ id, userId }) => ({ checkoutId: id, userId }),
    async (visit) => {
      await ctx.db
        .update(checkouts)
        .set({ checkAt: now + HOUR_MS })
        .where(eq(checkouts.id, visit.id))
      if (visit.stripeSessionId) await syncCheckout(ctx, visit.stripeSessionId)
      else await closeUnopened(ctx, visit)
    },
  )
  await eachOf(
    ctx,
    payments,
    ({ id, userId }) => ({ planPaymentId: id, userId }),
    async ({ id, stripeInvoiceId }) => {
      await postponeCheck(ctx, id)
      await syncInvoice(ctx, stripeInvoiceId)
    },
  )
}

/** A failure is logged and retried later; it doesn't stop the others. */
async function eachOf<T>(
  ctx: Context,
  rows: T[],
  idsOf: (row: T) => LogFields,
  work: (row: T) => Promise<unknown>,
): Promise<void> {
  await fourAtOnce(rows, (row) => work(row).catch((error) => ctx.log('reconcile_failed', idsOf(row), error)))
}
