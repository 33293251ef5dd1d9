import { and, asc, eq, or, sql } from 'drizzle-orm'
import { type BillRow, bills, type InvoiceRow, invoices } from '../../../../db/schema/billing.ts'
import { AppError } from '../../../domain/error.ts'
import type { InvoiceStep } from '../../../domain/money/invoice.ts'
import type { Invoice } from '../../ports/payments.ts'
import type { Context } from '../../runtime/context.ts'
import { chargeText } from './charge-text.ts'
import { syncInvoice } from './invoice-sync.ts'

/** The result of one call to Stripe for an invoice, and the next step. */
export type Done = { step: InvoiceStep; stripeInvoiceId?: string }

/**
 * The step for a negative correction: credit notes on the corrected bill's invoice and then, if that isn't enough, on
 * those of its extra charges. Together they charge at least what we credit. Waits until they are sent. A voided one
 * owes nothing: credits count against it without a note, each cent once.
 */
export async function giveCredit(ctx: Context, { attempts }: InvoiceRow, record: BillRow): Promise<Done> {
  let left = -record.amountCents
  let earlier = await sumEarlierCredits(ctx, record)
  let stripeInvoiceId: string | undefined
  for (const { step, invoiceId } of await listInvoicesToCredit(ctx, record)) {
    const invoice = step === 'sent' && invoiceId ? await ctx.payments.findInvoice(invoiceId) : null
    // An amount that a bank is already paying can't shrink.
    if (!invoice || invoice.status === 'draft' || invoice.processing)
      throw new AppError('unavailable', "The invoice to credit isn't sent yet, or a bank is paying it.", {
        retryable: true,
      })
    const isVoid = invoice.status === 'void'
    const before = attempts > 1 ? await ctx.payments.findCredit(invoice.id, record.id) : null
    const taken = Math.min(earlier, invoice.totalCents)
    earlier -= taken
    const credited = isVoid ? Math.max(taken, invoice.creditedCents) : invoice.creditedCents
    const cents = before?.cents ?? Math.min(left, invoice.totalCents - credited)
    left -= cents
    if (cents > 0 && !isVoid) {
      const id = before?.id ?? (await creditInvoice(ctx, invoice, record, cents))
      stripeInvoiceId ??= id
      // Updates what is left to pay, and whether the owner may start servers again.
      await syncInvoice(ctx, invoice.id)
    }
    if (left === 0) return { step: 'credited', ...(stripeInvoiceId && { stripeInvoiceId }) }
  }
  throw new AppError('unexpected', "Stripe's invoices leave less to credit than our bills.", {
    cause: new Error(`${left} cents of ${record.id} are left to credit`),
  })
}

/** What the same bill's earlier credits took off these invoices, in the order in which they took it. */
async function sumEarlierCredits(ctx: Context, { id, corrects }: BillRow): Promise<number> {
  const [row] = await ctx.db.all<{ cents: number | null }>(sql`SELECT -sum(amount_cents) AS cents FROM billing_records
    WHERE corrects = ${corrects} AND amount_cents < 0 AND rowid < (SELECT rowid FROM billing_records WHERE id = ${id})`)
  return row?.cents ?? 0
}

function creditInvoice(ctx: Context, invoice: Invoice, record: BillRow, cents: number): Promise<string> {
  const credit = {
    invoiceId: invoice.id,
    billId: record.id,
    cents,
    // Nothing is left to pay on a paid invoice, and earlier credits may have paid part of an open one.
    toBalanceCents: Math.max(0, cents - invoice.remainingCents),
    description: chargeText(record).line,
  }
  // If something has been paid or credited since, this is a different request and needs a different key.
  return ctx.payments.creditInvoice(credit, `${record.id}:credit:${invoice.id}:${cents}:${credit.toBalanceCents}`)
}

function listInvoicesToCredit(ctx: Context, { corrects }: BillRow) {
  const isBill = eq(bills.id, corrects ?? '')
  return ctx.db
    .select({ step: invoices.step, invoiceId: invoices.stripeInvoiceId })
    .from(invoices)
    .innerJoin(bills, eq(bills.id, invoices.billId))
    .where(or(isBill, and(eq(bills.corrects, corrects ?? ''), sql`${bills.amountCents} > 0`)))
    .orderBy(sql`NOT ${isBill}`, asc(bills.createdAt))
}
