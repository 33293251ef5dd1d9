import { eq, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../../db/client.ts'
import { invoices } from '../../../../db/schema/billing.ts'
import { DAY_MS } from '../../../domain/instant.ts'
import { AFTER_DEBIT_MS, dueSoonAt, invoiceDueAt } from '../../../domain/money/invoice.ts'
import { tellSoon } from '../../mail/notices.ts'
import type { Context } from '../../runtime/context.ts'
import { planPaymentQueries } from './plan-payments.ts'
import { liftQuery, suspendQueries } from './suspension.ts'

/**
 * Stores Stripe's state of an invoice. If it is a bill's, suspends or reinstates its owner accordingly.
 * @param also written in the same batch
 */
export async function syncInvoice(ctx: Context, stripeInvoiceId: string, also: Query[] = []): Promise<void> {
  // An event follows every change at Stripe, so the answer to the latest request is the latest state, whichever is
  // written first.
  const askedAt = ctx.now()
  const invoice = await ctx.payments.findInvoice(stripeInvoiceId)
  if (!invoice?.billId) {
    const queries = [...planPaymentQueries(ctx, invoice ? [invoice] : [], askedAt), ...also]
    if (queries.length) await writeBatch(ctx.db, queries)
    return
  }
  const { billId, remainingCents, hostedUrl, finalizedAt, processing } = invoice
  const settled = invoice.status === 'paid' || invoice.status === 'void'
  const [row] = await ctx.db.select().from(invoices).where(eq(invoices.billId, billId))
  const before = finalizedAt === null ? Infinity : invoiceDueAt(finalizedAt) + (row?.heldMs ?? 0)
  const cameBack = row?.processingAt != null && !processing && !settled
  // A bank debit came back: once, they get time to pay another way.
  const lateMs = cameBack && row.debitReturnedAt === null ? Math.max(0, askedAt + AFTER_DEBIT_MS - before) : 0
  const dueAt = before + lateMs
  const overdue = !settled && dueAt <= askedAt
  // Checked again 3 days before it falls due, when it does, and daily: a lost webhook costs a day at most.
  const { invoiceMailQueries } = await import('./invoice-mails.ts')
  const soonAt = dueSoonAt(dueAt)
  const dates = [soonAt, dueAt].filter((at) => at > askedAt)
  const nextAt = settled ? null : Math.min(ctx.now() + DAY_MS, ...dates)
  const tells = [
    ...(await invoiceMailQueries(ctx, invoice, { dueAt, cameBack })),
    ...(overdue ? await suspendQueries(ctx, { billId, remainingCents, dueAt, hostedUrl, processing }) : []),
  ]
  // A hold that has just begun is due at once, and this answer must not put it off.
  const isWatched = sql`step = 'sent' AND (held_at IS NULL OR ${nextAt} IS NULL)`
  const heldMs = sql`held_ms + CASE WHEN processing_at IS NULL OR debit_returned_at IS NOT NULL THEN 0 ELSE ${lateMs} END`
  const results = await writeBatch(ctx.db, [
    ctx.db.run(sql`UPDATE invoices SET stripe_invoice_id = ${invoice.id}, status = ${invoice.status},
      due_at = ${finalizedAt === null ? null : invoiceDueAt(finalizedAt)} + ${heldMs}, held_ms = ${heldMs},
      debit_returned_at = CASE WHEN processing_at IS NULL OR NOT ${cameBack} THEN debit_returned_at
        ELSE coalesce(debit_returned_at, ${askedAt}) END,
      processing_at = CASE WHEN ${processing} THEN coalesce(processing_at, ${askedAt}) END,
      paid_at = ${invoice.paidAt}, remaining_cents = ${remainingCents},
      hosted_url = ${hostedUrl}, pdf_url = ${invoice.pdfUrl}, number = ${invoice.number},
      bill_to = ${finalizedAt === null ? null : JSON.stringify(invoice.billTo)}, synced_at = ${askedAt},
      next_at = CASE WHEN ${isWatched} THEN ${nextAt} ELSE next_at END,
      attempts = CASE WHEN step = 'sent' THEN 0 ELSE attempts END
      WHERE record_id = ${billId} AND synced_at <= ${askedAt}`),
    // An owner is suspended exactly while one of their invoices is overdue.
    liftQuery(ctx, billId),
    ...tells,
    ...also,
  ])
  const told = results.slice(2, 2 + tells.length).find(({ rowsAffected }) => rowsAffected)
  if (row) tellSoon(ctx, row.userId, told)
}
