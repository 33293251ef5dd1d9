import { eq } from 'drizzle-orm'
import { type BillRow, type InvoiceRow, invoices } from '../../../../db/schema.ts'
import { AppError } from '../../../domain/error.ts'
import type { InvoiceStep } from '../../../domain/money/invoice.ts'
import type { Context } from '../../context.ts'
import { chargeText } from './charge-text.ts'
import { syncInvoice } from './invoice-sync.ts'

/** What a call to Stripe on an invoice's way brought, and which step is next. */
export type Done = { step: InvoiceStep; stripeInvoiceId?: string }

/**
 * The step of a correction that is below 0: a credit note on the corrected record's invoice. Waits until that is sent; one that was voided owes
 * nothing, so there is nothing to take off.
 */
export async function giveCredit(ctx: Context, { attempts }: InvoiceRow, record: BillRow): Promise<Done> {
  const invoiceId = await findCorrectedInvoice(ctx, record)
  const invoice = invoiceId ? await ctx.payments.findInvoice(invoiceId) : null
  if (!invoice || invoice.status === 'draft')
    throw new AppError('unavailable', 'The invoice that is to be credited is not sent yet.', { retryable: true })
  if (invoice.status === 'void') return { step: 'credited' }
  const before = attempts > 1 ? await ctx.payments.findCredit(invoice.id, record.id) : null
  const paid = invoice.status === 'paid'
  const credit = {
    invoiceId: invoice.id,
    billId: record.id,
    cents: -record.amountCents,
    paid,
    description: chargeText(record).line,
  }
  // Paid meanwhile it is another request, which must not have the key of the one before.
  const id = before ?? (await ctx.payments.creditInvoice(credit, `${record.id}:credit:${paid ? 'paid' : 'open'}`))
  // What is left to pay, and whether their owner may start servers again.
  await syncInvoice(ctx, invoice.id)
  return { step: 'credited', stripeInvoiceId: id }
}

async function findCorrectedInvoice(ctx: Context, record: BillRow): Promise<string | null> {
  const [corrected] = await ctx.db
    .select()
    .from(invoices)
    .where(eq(invoices.billId, record.corrects ?? ''))
  return corrected?.step === 'sent' ? corrected.stripeInvoiceId : null
}
