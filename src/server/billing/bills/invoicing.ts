import { and, asc, eq, lte } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { type BillRow, bills, type InvoiceRow, invoices } from '../../../../db/schema/billing.ts'
import { AppError } from '../../../domain/error.ts'
import { HOUR_MS, MINUTE_MS } from '../../../domain/instant.ts'
import type { InvoiceStep } from '../../../domain/money/invoice.ts'
import { alertOperator } from '../../mail/alerts.ts'
import { tellSoon } from '../../mail/notices.ts'
import type { PayMethod } from '../../ports/payments.ts'
import type { Context } from '../../runtime/context.ts'
import { fourAtOnce } from '../../runtime/four-at-once.ts'
import { chargeText } from './charge-text.ts'
import type { Done } from './crediting.ts'
import { withCustomer } from './customers.ts'
import { syncInvoice } from './invoice-sync.ts'
import { suspendQueries } from './suspension.ts'

const BATCH = 100
const LONGEST_WAIT_MS = 6 * HOUR_MS
/** About an hour of attempts without an answer. */
const SILENT_AFTER = 6

/** Only a person can fix it, and an invoice that is never sent is never paid. */
const REFUSED = {
  matter: 'invoice_refused',
  subject: "We couldn't invoice a bill",
  sentences: [
    "Stripe refused a step of an invoice or a credit, or its amount differs from our bill. We retry every few hours; until it works, the customer isn't asked to pay.",
    'The log names the bill (invoice_step_failed) and says why. Correct it in the Stripe dashboard.',
  ],
}

/** Advances every invoice that has a step due. */
export async function advanceInvoices(ctx: Context): Promise<number> {
  const due = await ctx.db
    .select({ invoice: invoices, record: bills })
    .from(invoices)
    .innerJoin(bills, eq(bills.id, invoices.billId))
    .where(lte(invoices.nextAt, ctx.now()))
    .orderBy(asc(invoices.nextAt))
    .limit(BATCH)
  await fourAtOnce(due, ({ invoice, record }) => advanceInvoice(ctx, invoice, record))
  return due.length
}

/**
 * Makes the remaining calls, one at a time. Each is written down first; a retry first checks whether the
 * earlier call went through. So calls stay safe to repeat, even after Stripe has forgotten their key.
 */
async function advanceInvoice(ctx: Context, found: InvoiceRow, record: BillRow): Promise<void> {
  let invoice: InvoiceRow | undefined
  try {
    invoice = await claim(ctx, found)
    if (invoice?.heldAt != null) {
      const { keepHeld } = await import('./invoice-hold.ts')
      return await keepHeld(ctx, invoice)
    }
    while (invoice && invoice.step !== 'sent' && invoice.step !== 'credited') {
      const done = await STEPS[invoice.step](ctx, invoice, record)
      if ('wait' in done) {
        const { waitToCharge } = await import('./charging.ts')
        await waitToCharge(ctx, invoice, record, done.wait)
        return
      }
      invoice = await claim(ctx, invoice, done)
    }
    if (invoice?.step === 'sent' && invoice.stripeInvoiceId) await syncInvoice(ctx, invoice.stripeInvoiceId)
  } catch (error) {
    const refused = error instanceof AppError && !error.retryable
    const fields = { billId: record.id, step: invoice?.step, refused }
    ctx.log('invoice_step_failed', fields, error)
    if (refused) await alertOperator(ctx, { ...REFUSED, fields }, error)
    await noteFailure(ctx, invoice ?? found, error).catch((cause) =>
      ctx.log('invoice_note_failed', { billId: record.id }, cause),
    )
  }
}

/**
 * We ask Stripe before we suspend anyone, because they may have just paid. If Stripe doesn't answer for
 * long, its last answer counts, so that an outage doesn't extend the due date.
 */
async function noteFailure(ctx: Context, invoice: InvoiceRow, error: unknown): Promise<void> {
  const { billId, remainingCents, dueAt, hostedUrl, processingAt } = invoice
  const lastError = error instanceof AppError ? String(error.cause ?? error.message) : String(error)
  const unanswered = invoice.step === 'sent' && invoice.attempts >= SILENT_AFTER
  const overdue = unanswered && dueAt !== null && dueAt <= ctx.now() && remainingCents !== null
  const written = await writeBatch(ctx.db, [
    ctx.db.update(invoices).set({ lastError }).where(eq(invoices.billId, billId)),
    ...(overdue
      ? await suspendQueries(ctx, { billId, remainingCents, dueAt, hostedUrl, processing: processingAt !== null })
      : []),
  ])
  if (overdue) tellSoon(ctx, invoice.userId, written.at(-1))
}

/**
 * Writes down the upcoming call and the last one's result. It is conditional on the row as read, so only one
 * caller wins. The row falls due again if the caller dies.
 */
async function claim(ctx: Context, row: InvoiceRow, done?: Done): Promise<InvoiceRow | undefined> {
  const attempts = done ? 1 : row.attempts + 1
  const now = ctx.now()
  const again = now + Math.min(2 ** attempts * MINUTE_MS, LONGEST_WAIT_MS)
  // Whatever the back-off, check it on its due date.
  const nextAt = done?.step === 'credited' ? null : row.dueAt && row.dueAt > now ? Math.min(again, row.dueAt) : again
  const [claimed] = await ctx.db
    .update(invoices)
    .set({ ...done, attempts, nextAt, lastError: null })
    .where(
      and(
        eq(invoices.billId, row.billId),
        eq(invoices.step, row.step),
        eq(invoices.attempts, row.attempts),
        eq(invoices.nextAt, row.nextAt ?? 0),
      ),
    )
    .returning()
  return claimed
}

/** One call to Stripe for an invoice, safe to repeat. `wait`: it's too early to charge this. */
type StepCall = (ctx: Context, invoice: InvoiceRow, record: BillRow) => Promise<Done | { wait: PayMethod }>

const STEPS: Record<Exclude<InvoiceStep, 'sent' | 'credited'>, StepCall> = {
  async credit(...asked) {
    const { giveCredit } = await import('./crediting.ts')
    return giveCredit(...asked)
  },

  async draft(ctx, invoice, record) {
    const { id } = await withCustomer(ctx, record.userId, async (customerId) => {
      const before = invoice.attempts > 1 ? await ctx.payments.findInvoiceOf(customerId, record.id) : null
      if (before) return before
      const { mayCharge } = await import('./charging.ts')
      const charges = (await mayCharge(ctx, record, customerId)) !== null
      const draft = { customerId, billId: record.id, description: chargeText(record).title, charges }
      return ctx.payments.createInvoice(draft, `${record.id}:draft:${customerId}:${waysToPay(draft)}`)
    })
    return { step: 'line', stripeInvoiceId: id }
  },

  async line(ctx, invoice, record) {
    const before = invoice.attempts > 1 ? await getInvoice(ctx, invoice) : null
    if (before?.totalCents) return { step: 'finalize' }
    let owner = before?.customerId
    return withCustomer(ctx, record.userId, async (customerId): Promise<Done> => {
      owner ??= customerId
      // Its customer was deleted: the new customer gets a new draft.
      if (owner !== customerId) return { step: 'draft' }
      const invoiceId = invoice.stripeInvoiceId ?? ''
      const line = { customerId, invoiceId, cents: record.amountCents, description: chargeText(record).line }
      await ctx.payments.addInvoiceLine(line, `${record.id}:line:${invoiceId}`)
      return { step: 'finalize' }
    })
  },

  /** The last chance to notice that the invoice differs from the bill. */
  async finalize(ctx, invoice, record) {
    const before = await getInvoice(ctx, invoice)
    if (before.totalCents !== record.amountCents)
      throw new AppError('unexpected', 'The invoice does not match its billing record.', {
        cause: new Error(`${before.id} is ${before.totalCents} cents, ${record.id} is ${record.amountCents}`),
      })
    if (before.status !== 'draft') return { step: before.charges ? 'resume' : 'send' }
    const { mayCharge, noticeOf } = await import('./charging.ts')
    const method = before.charges ? await mayCharge(ctx, record, before.customerId) : null
    const notice = method ? await noticeOf(ctx, invoice) : null
    if (method && notice === 'wait') return { wait: method }
    const charges = notice === 'over'
    // They changed their mind, their card is gone, or we couldn't tell them. Once finalized, it can't change.
    if (before.charges && !charges) await ctx.payments.chargeNothing(before.id, `${record.id}:link`)
    await ctx.payments.finalizeInvoice({ id: before.id, charges }, `${record.id}:finalize:${waysToPay({ charges })}`)
    return { step: charges ? 'sent' : 'send' }
  },

  async send(ctx, invoice, record) {
    const before = invoice.attempts > 1 ? await getInvoice(ctx, invoice) : null
    // An older version, which knew no charges, finalized it: Stripe refuses to send an invoice that charges a card.
    if (before?.charges) return { step: 'resume' }
    if (!before || before.status === 'open')
      await ctx.payments.sendInvoice(invoice.stripeInvoiceId ?? '', `${record.id}:send`)
    return { step: 'sent' }
  },

  /** After a hold that stopped Stripe's tries, or after they changed their mind: checks again whether Stripe may charge it. */
  async resume(ctx, invoice, record) {
    const { id, status, charges, advances, customerId } = await getInvoice(ctx, invoice)
    if (status !== 'open' || !charges) return { step: 'sent' }
    const { mayCharge, noticeOf } = await import('./charging.ts')
    const method = await mayCharge(ctx, record, customerId)
    const notice = method && !advances ? await noticeOf(ctx, invoice) : null
    if (method && notice === 'wait') return { wait: method }
    const may = method !== null && notice !== 'undelivered'
    if (may !== advances) await ctx.payments.setAdvance(id, may)
    return { step: 'sent' }
  },
}

/** Part of a key: the same call with other parameters needs another one. */
const waysToPay = ({ charges }: { charges: boolean }) => (charges ? 'card' : 'link')

async function getInvoice(ctx: Context, row: InvoiceRow) {
  const invoice = row.stripeInvoiceId ? await ctx.payments.findInvoice(row.stripeInvoiceId) : null
  if (invoice) return invoice
  throw new AppError('unexpected', 'The invoice is missing.', {
    cause: new Error(`${row.stripeInvoiceId} of ${row.billId} is not at Stripe`),
  })
}
