import { and, asc, desc, eq, lte, ne, type SQL, sql } from 'drizzle-orm'
import type { Query } from '../../../../db/client.ts'
import { type PlanPaymentRow, planPayments } from '../../../../db/schema/billing.ts'
import { DAY_MS, HOUR_MS, toDay } from '../../../domain/instant.ts'
import type { Bill } from '../../../domain/money/bill.ts'
import { planName } from '../../../domain/money/plan.ts'
import { newId } from '../../crypto/id.ts'
import type { Invoice } from '../../ports/payments.ts'
import type { Context } from '../../runtime/context.ts'

/**
 * Stores Stripe's own invoices of plans, so that people find every payment in their books. Nothing else reads
 * them. Drafts don't count yet, and neither does an upgrade that waits for its payment: nobody owes it.
 */
export function planPaymentQueries(ctx: Context, invoices: Invoice[], askedAt: number): Query[] {
  return invoices.flatMap((invoice) => {
    const { plan, status } = invoice
    if (!plan || status === 'draft') return []
    const settled = status === 'paid' || status === 'void'
    const checkAt = settled ? null : askedAt + DAY_MS
    // The owner that we wrote on it at checkout. An unknown owner's invoice stores nothing.
    return ctx.db.run(sql`INSERT INTO plan_payments (id, user_id, stripe_invoice_id, number, plan_type, period_start, period_end,
        amount_cents, remaining_cents, status, due_at, paid_at, hosted_url, pdf_url, synced_at, check_at, created_at)
      SELECT ${newId('fee')}, id, ${invoice.id}, ${invoice.number},
        coalesce((SELECT CASE WHEN upgraded_at > ${plan.start} THEN upgraded_from ELSE plan_type END FROM subscriptions
          WHERE stripe_subscription_id = ${plan.subscriptionId}), ${plan.boughtAs}),
        ${plan.start}, ${plan.end}, ${plan.cents}, ${invoice.remainingCents}, ${status}, ${invoice.dueAt},
        ${invoice.paidAt}, ${invoice.hostedUrl}, ${invoice.pdfUrl}, ${askedAt}, ${checkAt}, ${ctx.now()}
      FROM users WHERE (id = ${plan.userId} OR stripe_customer_id = ${plan.customerId})
        AND NOT (${status} = 'open' AND EXISTS (SELECT 1 FROM subscriptions
          WHERE stripe_subscription_id = ${plan.subscriptionId} AND upgrade_until > ${askedAt}))
      ORDER BY id = ${plan.userId} DESC LIMIT 1
      ON CONFLICT (stripe_invoice_id) DO UPDATE SET number = excluded.number, amount_cents = excluded.amount_cents,
        remaining_cents = excluded.remaining_cents, status = excluded.status, due_at = excluded.due_at,
        paid_at = excluded.paid_at, hosted_url = excluded.hosted_url, pdf_url = excluded.pdf_url,
        synced_at = excluded.synced_at, check_at = excluded.check_at
      WHERE synced_at <= excluded.synced_at`)
  })
}

/** What stores every payment of a plan as Stripe has it now, in case we missed a webhook. */
export async function findPlanPayments(ctx: Context, subscriptionId: string): Promise<Query[]> {
  const askedAt = ctx.now()
  return planPaymentQueries(ctx, await ctx.payments.listPlanInvoices(subscriptionId), askedAt)
}

/** Unpaid ones that we haven't checked with Stripe for a day. People may still pay for a plan that has ended. */
export function duePaymentsQuery(ctx: Context, most: number) {
  return ctx.db
    .select({ id: planPayments.id, stripeInvoiceId: planPayments.stripeInvoiceId, userId: planPayments.userId })
    .from(planPayments)
    .where(lte(planPayments.checkAt, ctx.now()))
    .orderBy(asc(planPayments.checkAt))
    .limit(most)
}

/** Schedules the next look in an hour, whatever this one finds. */
export async function postponeCheck(ctx: Context, id: string): Promise<void> {
  await ctx.db
    .update(planPayments)
    .set({ checkAt: ctx.now() + HOUR_MS })
    .where(and(eq(planPayments.id, id), lte(planPayments.checkAt, ctx.now())))
}

/** Newest first. A voided invoice was neither owed nor paid. */
export function planPaymentsQuery(ctx: Context, userId: string | SQL, which?: SQL) {
  return ctx.db
    .select()
    .from(planPayments)
    .where(and(eq(planPayments.userId, userId), ne(planPayments.status, 'void'), which))
    .orderBy(desc(planPayments.periodStart))
}

export function toPlanBill(row: PlanPaymentRow, now: number): Bill {
  const paid = row.status === 'paid'
  return {
    id: row.id,
    kind: 'plan',
    start_date: toDay(row.periodStart),
    end_date: toDay(row.periodEnd - 1),
    amount_owed: row.amountCents / 100,
    seconds_used: 0,
    paid,
    overdue: !paid && row.dueAt !== null && row.dueAt <= now,
    transaction_id: row.stripeInvoiceId,
    plan: row.planType ? planName(row.planType) : 'Other',
    invoice_url: row.hostedUrl,
    invoice_pdf: row.pdfUrl,
    due_date: row.dueAt === null ? null : toDay(row.dueAt),
    invoice_number: row.number,
    dollars_due: paid ? 0 : row.remainingCents / 100,
    corrects: null,
    reason: null,
    ...reversalOf(row),
  }
}

/** What its customer got back. Stores nothing without an invoice. */
export function reversalOf(paid: Pick<PlanPaymentRow, 'refundedCents' | 'dispute'> | null) {
  return { amount_refunded: (paid?.refundedCents ?? 0) / 100, dispute: paid?.dispute ?? null }
}
