import { PAYMENT_DAYS } from '../../domain/money/plan.ts'
import type { Payments } from '../ports/payments.ts'
import type { Ask } from './stripe-changes.ts'
import { orNull, withKey } from './stripe-errors.ts'
import { toInvoice } from './stripe-objects.ts'

/** We send the link ourselves. */
const SENT = { collection_method: 'send_invoice', days_until_due: PAYMENT_DAYS } as const
/** Why a charge failed is on the payment's intent. */
const PAYMENTS = 'payments.data.payment.payment_intent'

/** The calls that invoice our bills, and credit them. */
export function billInvoices(
  ask: Ask,
): Pick<
  Payments,
  | 'findInvoiceOf'
  | 'findInvoice'
  | 'createInvoice'
  | 'chargeNothing'
  | 'addInvoiceLine'
  | 'finalizeInvoice'
  | 'sendInvoice'
  | 'setAdvance'
  | 'findCredit'
  | 'creditInvoice'
> {
  return {
    findInvoiceOf: (customer, billId) =>
      ask(async (s) => {
        for await (const invoice of s.invoices.list({ customer, limit: 100 }))
          if (invoice.metadata?.record_id === billId) return toInvoice(invoice)
        return null
      }),

    findInvoice: (id) =>
      orNull(() => ask(async (s) => toInvoice(await s.invoices.retrieve(id, { expand: [PAYMENTS] })))),

    createInvoice: ({ customerId, billId, description, charges }, idempotencyKey) =>
      ask(async (s) =>
        toInvoice(
          await withKey(idempotencyKey, (key) =>
            s.invoices.create(
              {
                customer: customerId,
                ...(charges ? { collection_method: 'charge_automatically' } : SENT),
                // On, Stripe would finalize the draft after an hour.
                auto_advance: false,
                currency: 'usd',
                description,
                metadata: { record_id: billId },
                pending_invoice_items_behavior: 'exclude',
              },
              key,
            ),
          ),
        ),
      ),

    chargeNothing: (id, idempotencyKey) =>
      ask(async (s) => toInvoice(await withKey(idempotencyKey, (key) => s.invoices.update(id, SENT, key)))),

    addInvoiceLine: ({ customerId, invoiceId, cents, description }, idempotencyKey) =>
      ask(async (s) => {
        const item = { customer: customerId, invoice: invoiceId, amount: cents, currency: 'usd', description }
        await withKey(idempotencyKey, (key) => s.invoiceItems.create(item, key))
      }),

    finalizeInvoice: ({ id, charges }, idempotencyKey) =>
      ask(async (s) => {
        const finalize = (key: { idempotencyKey: string }) =>
          s.invoices.finalizeInvoice(id, { auto_advance: charges }, key)
        return toInvoice(await withKey(idempotencyKey, finalize))
      }),

    sendInvoice: (id, idempotencyKey) =>
      ask(async (s) => toInvoice(await withKey(idempotencyKey, (key) => s.invoices.sendInvoice(id, {}, key)))),

    setAdvance: (id, advances) =>
      ask(async (s) => {
        await s.invoices.update(id, { auto_advance: advances })
      }),

    findCredit: (invoice, billId) =>
      ask(async (s) => {
        for await (const note of s.creditNotes.list({ invoice, limit: 100 }))
          if (note.metadata?.record_id === billId) return { id: note.id, cents: note.amount }
        return null
      }),

    creditInvoice: ({ invoiceId, billId, cents, toBalanceCents, description }, idempotencyKey) =>
      ask(async (s) => {
        const note = {
          invoice: invoiceId,
          lines: [{ type: 'custom_line_item' as const, description, quantity: 1, unit_amount: cents }],
          ...(toBalanceCents ? { credit_amount: toBalanceCents } : {}),
          metadata: { record_id: billId },
        }
        return (await withKey(idempotencyKey, (key) => s.creditNotes.create(note, key))).id
      }),
  }
}
