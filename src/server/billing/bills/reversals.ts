import { eq, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { invoices, planPayments } from '../../../../db/schema/billing.ts'
import { disputedMail } from '../../mail/charge-letters.ts'
import { composeMail } from '../../mail/letter.ts'
import { tellQueries } from '../../mail/notices.ts'
import { mailQuery } from '../../mail/outbox.ts'
import type { Reversal } from '../../ports/payments.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'
import { chargeAnswerQueries } from './charge-consent.ts'
import { syncInvoice } from './invoice-sync.ts'

/**
 * Stores what its customer got back of a payment, by refunds or through their bank. The bill stays as it is, and paid.
 * Someone who disputes a payment doesn't agree to the next charge, so each dispute ends their consent once.
 * @param also written in the same batch
 */
export async function syncPayment(ctx: Context, paymentId: string, also: Query[]): Promise<void> {
  const invoiceId = await ctx.payments.findPaidInvoice(paymentId)
  if (!invoiceId) {
    await writeBatch(ctx.db, also)
    return
  }
  const askedAt = ctx.now()
  const { refundedCents, dispute } = await ctx.payments.findReversal(paymentId)
  const before = await findDispute(ctx, invoiceId)
  const news = dispute === before?.dispute ? [] : operatorQueries(ctx, invoiceId, dispute)
  const isFirst = dispute !== null && before?.dispute == null
  const stores = ['invoices', 'plan_payments'].map((table) =>
    ctx.db.run(sql`UPDATE ${sql.raw(table)} SET refunded_cents = ${refundedCents}, dispute = ${dispute},
      reversal_asked_at = ${askedAt} WHERE stripe_invoice_id = ${invoiceId} AND reversal_asked_at <= ${askedAt}`),
  )
  await syncInvoice(ctx, invoiceId, [
    ...(isFirst ? await consentQueries(ctx, invoiceId) : []),
    ...stores,
    ...news,
    ...also,
  ])
}

async function findDispute({ db }: Context, invoiceId: string) {
  const [[usage], [plan]] = await db.batch([
    db.select({ dispute: invoices.dispute }).from(invoices).where(eq(invoices.stripeInvoiceId, invoiceId)),
    db.select({ dispute: planPayments.dispute }).from(planPayments).where(eq(planPayments.stripeInvoiceId, invoiceId)),
  ])
  return usage ?? plan
}

/** Before the dispute is stored: of two looks at once, the first ends the consent. */
async function consentQueries(ctx: Context, invoiceId: string): Promise<Query[]> {
  const owner = sql`id IN (SELECT user_id FROM invoices WHERE stripe_invoice_id = ${invoiceId} AND dispute IS NULL
    UNION SELECT user_id FROM plan_payments WHERE stripe_invoice_id = ${invoiceId} AND dispute IS NULL)`
  const agreed = sql`${owner} AND charge_consent_at > coalesce(charge_refused_at, 0)`
  const [to] = await ctx.db
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(sql`${agreed} AND closed_at IS NULL`)
  const isDue = sql`EXISTS (SELECT 1 FROM users WHERE ${agreed})`
  return [
    ...(to ? tellQueries(ctx, to, disputedMail(siteOrigin(ctx)), isDue, `disputed:${invoiceId}`) : []),
    ...chargeAnswerQueries(ctx, false, owner),
  ]
}

/** In the same batch, so that none is lost: the bank sets a deadline. */
function operatorQueries(ctx: Context, invoiceId: string, dispute: Reversal['dispute']): Query[] {
  if (dispute !== 'open' && dispute !== 'lost') return []
  const { matter, subject, sentences } = ALERTS[dispute](invoiceId)
  ctx.log('alert', { matter, subject, stripeInvoiceId: invoiceId })
  return [mailQuery(ctx, ctx.config.operatorEmail, composeMail(subject, sentences), sql`1`, matter)]
}

const ALERTS = {
  open: (invoiceId: string) => ({
    matter: `payment_disputed:${invoiceId}`,
    subject: 'A customer disputes a payment',
    sentences: [
      `A customer told their bank that they didn't want to pay the invoice ${invoiceId}. The bank has taken the money back until it decides.`,
      'Answer in the Stripe dashboard before its deadline. Until the customer agrees again, we charge their card for no usage.',
    ],
  }),
  lost: (invoiceId: string) => ({
    matter: `dispute_lost:${invoiceId}`,
    subject: 'A bank gave a payment back to its customer',
    sentences: [
      `The dispute about the invoice ${invoiceId} is lost, and the money is gone. Stripe still calls the invoice paid, and so do we.`,
      "If they owe it, ask them for it, or suspend the account in the console. If they don't, there is nothing to do.",
    ],
  }),
}
