import { eq, type SQL, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../../db/client.ts'
import { type InvoiceRow, invoices } from '../../../../db/schema/billing.ts'
import type { Act } from '../../../domain/audit.ts'
import { AppError } from '../../../domain/error.ts'
import { DAY_MS } from '../../../domain/instant.ts'
import { auditQuery, type Hand } from '../../runtime/audit.ts'
import type { Context } from '../../runtime/context.ts'
import { syncInvoice } from './invoice-sync.ts'
import { liftQuery } from './suspension.ts'

/**
 * Holds a bill's invoice: nobody is charged, sent, reminded, or suspended for it until it's released.
 * @throws not_found, conflict
 */
export async function holdInvoice(ctx: Context, hand: Hand, billId: string): Promise<InvoiceRow> {
  const held = sql`record_id = ${billId} AND held_at IS NULL AND step NOT IN ('credit', 'credited')
    AND coalesce(status, 'draft') NOT IN ('paid', 'void')`
  // Due at once: a call to Stripe that is under way may turn it into one that Stripe charges.
  const hold = ctx.db.run(sql`UPDATE invoices SET held_at = ${ctx.now()}, next_at = ${ctx.now()} WHERE ${held}`)
  return change(ctx, hand, { act: 'hold_invoice', billId, when: held }, [hold, liftQuery(ctx, billId)])
}

/** Ends a hold. Its time doesn't count: the invoice falls due that much later, and a charge is announced again. */
export async function releaseInvoice(ctx: Context, hand: Hand, billId: string): Promise<InvoiceRow> {
  const now = ctx.now()
  const held = sql`record_id = ${billId} AND held_at IS NOT NULL`
  const lost = sql`CASE WHEN due_at IS NULL THEN 0 ELSE ${now} - held_at END`
  const release =
    ctx.db.run(sql`UPDATE invoices SET held_ms = held_ms + ${lost}, due_at = due_at + ${lost}, held_at = NULL,
    next_at = ${now}, attempts = min(attempts, 1), charge_at = NULL,
    step = CASE WHEN step = 'sent' THEN 'resume' ELSE step END WHERE ${held}`)
  return change(ctx, hand, { act: 'release_invoice', billId, when: held }, [release])
}

/** The first query is the change. */
async function change(
  ctx: Context,
  hand: Hand,
  { act, billId, when }: { act: Act; billId: string; when: SQL },
  queries: [Query, ...Query[]],
): Promise<InvoiceRow> {
  const [invoice] = await ctx.db.select().from(invoices).where(eq(invoices.billId, billId))
  if (!invoice) throw new AppError('not_found', `The bill ${billId} has no invoice.`)
  const { userId } = invoice
  const is = sql`EXISTS (SELECT 1 FROM invoices WHERE ${when})`
  const results = await writeBatch(ctx.db, [auditQuery(hand, { act, subject: billId, userId }, is), ...queries])
  if (!results[1]?.rowsAffected)
    throw new AppError(
      'conflict',
      act === 'hold_invoice' ? 'This invoice is paid, void, or held already.' : "This bill's invoice isn't on hold.",
    )
  return invoice
}

/** Keeps Stripe from charging a held invoice, and checks daily, because people may pay it anyway. */
export async function keepHeld(ctx: Context, { billId, stripeInvoiceId, heldAt }: InvoiceRow): Promise<void> {
  const found = stripeInvoiceId ? await ctx.payments.findInvoice(stripeInvoiceId) : null
  if (found?.status === 'open' && found.charges && found.advances) await ctx.payments.setAdvance(found.id, false)
  if (found && found.status !== 'draft') await syncInvoice(ctx, found.id)
  await ctx.db.run(sql`UPDATE invoices SET next_at = ${ctx.now() + DAY_MS} WHERE record_id = ${billId}
    AND held_at = ${heldAt} AND next_at IS NOT NULL`)
}
