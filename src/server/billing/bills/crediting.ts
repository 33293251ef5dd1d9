import { eq } from 'drizzle-orm'
import { type BillRow, type InvoiceRow, invoices } from '../../../../db/schema.ts'
import { AppError } from '../../../domain/error.ts'
import type { InvoiceStep } from '../../../domain/money/invoice.ts'
import type { Context } from '../../context.ts'
import { chargeText } from './charge-text.ts'
import { syncInvoice } from './invoice-sync.ts'

/** The result of one call to Stripe for an invoice, and the next step. */
export type Done = { step: InvoiceStep; stripeInvoiceId?: string }

/**
 * The step for a negative correction: a credit note on the corrected bill's invoice. Waits until that invoice
 * is sent. A voided one owes nothing, so there is nothing to credit.
 */
export async function giveCredit(ctx: Context, { attempts }: InvoiceRow, record: BillRow): Promise<Done> {
  const invoiceId = await findCorrectedInvoice(ctx, record)
  const invoice = invoiceId ? await ctx.payments.findInvoice(invoiceId) : null
  if (!invoice || invoice.status === 'draft')
    throw new AppError('unavailable', "The invoice to credit hasn't been sent yet.", { retryable: true })
  if (invoice.status === 'void') return { step: 'credited' }
  const before = attempts > 1 ? await ctx.payments.findCredit(invoice.id, record.id) : null
  const cents = -record.amountCents
  const credit = {
    invoiceId: invoice.id,
    billId: record.id,
    cents,
    // Nothing is left to pay of a paid invoice, and earlier credits may have paid a part of an open one.
    toBalanceCents: Math.max(0, cents - invoice.remainingCents),
    description: chargeText(record).line,
  }
  // If something has been paid since, this is a different request and needs a different key.
  const key = `${record.id}:credit:${credit.toBalanceCents}`
  const id = before ?? (await ctx.payments.creditInvoice(credit, key))
  // Updates what is left to pay, and whether the owner may start servers again.
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
