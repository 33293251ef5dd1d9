import type Stripe from 'stripe'
import type { DisputeState } from '../../domain/money/invoice.ts'
import type { Payments } from '../ports/payments.ts'
import type { Ask } from './stripe-changes.ts'

/** The calls about payments that their customers got back. */
export function reversals(ask: Ask): Pick<Payments, 'findPaidInvoice' | 'findReversal'> {
  return {
    findPaidInvoice: (payment_intent) =>
      ask(async (s) => {
        const { data } = await s.invoicePayments.list({ payment: { type: 'payment_intent', payment_intent }, limit: 1 })
        const invoice = data[0]?.invoice
        return invoice ? (typeof invoice === 'string' ? invoice : invoice.id) : null
      }),

    findReversal: (payment_intent) =>
      ask(async (s) => {
        let refundedCents = 0
        for await (const { status, amount } of s.refunds.list({ payment_intent, limit: 100 }))
          if (status === 'succeeded' || status === 'pending') refundedCents += amount
        const { data } = await s.disputes.list({ payment_intent, limit: 100 })
        // An inquiry takes no money, and may never become a dispute.
        const dispute = data.find(({ status }) => !status.startsWith('warning_'))
        return { refundedCents, dispute: dispute ? toState(dispute.status) : null }
      }),
  }
}

/** The bank took the money until it decides; then it's ours again, or gone. */
function toState(status: Stripe.Dispute.Status): DisputeState {
  if (status === 'lost') return 'lost'
  return status === 'won' || status === 'prevented' ? 'won' : 'open'
}
