import { sql } from 'drizzle-orm'
import { type AnySQLiteColumn, index, integer, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { BillTo } from '../../src/domain/money/bill.ts'
import type { DisputeState, InvoiceStatus, InvoiceStep } from '../../src/domain/money/invoice.ts'
import type { PlanType } from '../../src/domain/money/plan.ts'
import { userId } from './accounts.ts'

export const plans = sqliteTable(
  'subscriptions',
  {
    id: text().primaryKey(),
    userId: userId(),
    planType: text('plan_type').$type<PlanType>().notNull(),
    subType: text('sub_type').$type<'demo' | 'paid'>().notNull(),
    status: text().notNull(),
    /** The start of the first period; all others count from here. */
    anchor: integer().notNull(),
    hours: real().notNull().default(0),
    /**
     * The plan before a change at Stripe, and the end of the last period in which Stripe reported it. Those
     * cycles get the larger plan's hours.
     */
    earlierPlanType: text('earlier_plan_type').$type<PlanType>(),
    earlierHours: real('earlier_hours'),
    earlierUntil: integer('earlier_until'),
    /** When they last upgraded here, and from which plan: that period includes a share of the additional hours. */
    upgradedAt: integer('upgraded_at'),
    upgradedFrom: text('upgraded_from').$type<PlanType>(),
    /** When an upgrade that is waiting for its payment expires, or the last one did; null once it was paid. */
    upgradeUntil: integer('upgrade_until'),
    /** What it becomes with its next period, if that's scheduled. */
    nextPlanType: text('next_plan_type').$type<PlanType>(),
    /** When that period begins. */
    nextPlanAt: integer('next_plan_at'),
    cancelAtPeriodEnd: integer('cancel_at_period_end', { mode: 'boolean' }).notNull().default(false),
    /** When it will end, if that's scheduled. */
    cancelAt: integer('cancel_at'),
    /** Stripe couldn't collect: no hours are included from here on. Null while the plan is paid. */
    paidUntil: integer('paid_until'),
    stripeSubscriptionId: text('stripe_subscription_id').unique(),
    /** When we asked Stripe for this state: an older answer never overwrites a newer one. */
    syncedAt: integer('synced_at').notNull().default(0),
    /** When to ask Stripe again, in case we missed a webhook; null if there is nothing to ask. */
    checkAt: integer('check_at'),
    createdAt: integer('created_at').notNull(),
    endedAt: integer('ended_at'),
  },
  (t) => [
    uniqueIndex('one_current_subscription_per_user').on(t.userId).where(sql`ended_at IS NULL`),
    index('subscriptions_by_user').on(t.userId),
    index('subscriptions_to_check').on(t.checkAt).where(sql`check_at IS NOT NULL`),
  ],
)
export type PlanRow = typeof plans.$inferSelect

/**
 * A visit to Stripe's checkout page, recorded before we open it there. While one is open, cycles that end
 * wait up to 25 hours.
 */
export const checkouts = sqliteTable(
  'checkouts',
  {
    /** Also the idempotency key. */
    id: text().primaryKey(),
    userId: userId(),
    planType: text('plan_type').$type<PlanType>().notNull(),
    stripeSessionId: text('stripe_session_id').unique(),
    status: text().$type<'open' | 'complete' | 'expired'>().notNull(),
    createdAt: integer('created_at').notNull(),
    checkAt: integer('check_at'),
  },
  (t) => [
    uniqueIndex('one_open_checkout_per_user').on(t.userId).where(sql`status = 'open'`),
    index('checkouts_to_check').on(t.checkAt).where(sql`check_at IS NOT NULL`),
  ],
)
export type CheckoutRow = typeof checkouts.$inferSelect

/**
 * One closed cycle of one user, or a correction of one: the same period, with what to add to its seconds and
 * its amount. Written once, never changed.
 */
export const bills = sqliteTable(
  'billing_records',
  {
    id: text().primaryKey(),
    userId: userId(),
    /** Half-open: `periodEnd` is the next one's start. */
    periodStart: integer('period_start').notNull(),
    periodEnd: integer('period_end').notNull(),
    /** Null: no plan. */
    planType: text('plan_type').$type<PlanType>(),
    includedHours: real('included_hours').notNull(),
    trial: integer({ mode: 'boolean' }).notNull(),
    seconds: integer().notNull(),
    amountCents: integer('amount_cents').notNull(),
    /** The record that this one corrects, and why. Null for a cycle's own record. */
    corrects: text().references((): AnySQLiteColumn => bills.id),
    reason: text(),
    /** The run whose missing seconds a correction credits: see `shortSeconds`. */
    runId: text('session_id'),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [
    uniqueIndex('one_record_per_period').on(t.userId, t.periodStart).where(sql`corrects IS NULL`),
    index('billing_records_by_user').on(t.userId, t.periodStart),
    uniqueIndex('one_credit_per_run').on(t.runId, t.corrects).where(sql`session_id IS NOT NULL`),
  ],
)
export type BillRow = typeof bills.$inferSelect

/** What its customer got back of a payment; a new column for each table. */
const reversal = () => ({
  /** By refunds. */
  refundedCents: integer('refunded_cents').notNull().default(0),
  /** At their bank; null if they never disputed it. */
  dispute: text().$type<DisputeState>(),
  /** When we asked Stripe for these: an older answer never overwrites a newer one. */
  reversalAskedAt: integer('reversal_asked_at').notNull().default(0),
})

/**
 * The progress of a record's invoice, or of the credit if its amount is below 0. Each call to Stripe is
 * recorded before we make it. A record of 0 cents has none.
 */
export const invoices = sqliteTable(
  'invoices',
  {
    billId: text('record_id')
      .primaryKey()
      .references(() => bills.id),
    userId: userId(),
    /** The next call to make. `sent`: it only needs to be paid; `credited`: nothing is left to do. */
    step: text().$type<InvoiceStep>().notNull(),
    /** How often we tried this step. */
    attempts: integer().notNull().default(0),
    /** When to continue, or to ask Stripe again; null once settled. */
    nextAt: integer('next_at'),
    lastError: text('last_error'),
    /** When Stripe may start to charge a card for it, as we announced; null if we didn't. */
    chargeAt: integer('charge_at'),
    /** Set while an operator holds it: nobody is charged, reminded, or overdue. */
    heldAt: integer('held_at'),
    /** By how much holds, and a bank debit that failed late, have postponed its due date. */
    heldMs: integer('held_ms').notNull().default(0),
    /** Since when we know of a payment on its way: a bank debit takes days. During the first one, the invoice isn't overdue. */
    processingAt: integer('processing_at'),
    /** When a bank debit first came back. That gave them days to pay another way, and the next debit postpones nothing. */
    debitReturnedAt: integer('debit_returned_at'),
    /** For a credit: the credit note's id. */
    stripeInvoiceId: text('stripe_invoice_id').unique(),
    /** Stripe's number for it, on its page and its PDF and for bookkeepers. */
    number: text(),
    /** The customer on it: a company, its address, and its tax IDs as they were at Stripe when it was finalized. */
    billTo: text('bill_to', { mode: 'json' }).$type<BillTo>(),
    /** Stripe's status, as of `syncedAt`. */
    status: text().$type<InvoiceStatus>(),
    /** Ours: 15 days after Stripe finalized it, however it is collected. */
    dueAt: integer('due_at'),
    paidAt: integer('paid_at'),
    /** What is left to pay: after a credit, less than the record's amount. */
    remainingCents: integer('remaining_cents'),
    hostedUrl: text('hosted_url'),
    pdfUrl: text('pdf_url'),
    syncedAt: integer('synced_at').notNull().default(0),
    ...reversal(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [index('invoices_by_user').on(t.userId), index('invoices_due').on(t.nextAt).where(sql`next_at IS NOT NULL`)],
)
export type InvoiceRow = typeof invoices.$inferSelect

/**
 * Stripe's own invoices for a plan's price, as last seen there. For people's books only: no rule about hours, bills, or
 * suspension reads them.
 */
export const planPayments = sqliteTable(
  'plan_payments',
  {
    id: text().primaryKey(),
    userId: userId(),
    stripeInvoiceId: text('stripe_invoice_id').notNull().unique(),
    number: text(),
    /** The plan when we first saw the invoice. Null: not one of ours. */
    planType: text('plan_type').$type<PlanType>(),
    /** What it pays for. Half-open, like a bill's period. */
    periodStart: integer('period_start').notNull(),
    periodEnd: integer('period_end').notNull(),
    /** Its total after credit notes. */
    amountCents: integer('amount_cents').notNull(),
    remainingCents: integer('remaining_cents').notNull(),
    /** Never a draft. */
    status: text().$type<InvoiceStatus>().notNull(),
    dueAt: integer('due_at'),
    paidAt: integer('paid_at'),
    hostedUrl: text('hosted_url'),
    pdfUrl: text('pdf_url'),
    /** When we asked Stripe for this state: an older answer never overwrites a newer one. */
    syncedAt: integer('synced_at').notNull(),
    /** When to ask Stripe again, in case we missed a webhook; null once settled. */
    checkAt: integer('check_at'),
    ...reversal(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [
    index('plan_payments_by_user').on(t.userId, t.periodStart),
    index('plan_payments_to_check').on(t.checkAt).where(sql`check_at IS NOT NULL`),
  ],
)
export type PlanPaymentRow = typeof planPayments.$inferSelect

/** Webhooks whose effect is in the database; written in the same batch. */
export const stripeEvents = sqliteTable('stripe_events', {
  id: text().primaryKey(),
  type: text().notNull(),
  receivedAt: integer('received_at').notNull(),
})
