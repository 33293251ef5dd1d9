import { eq, sql } from 'drizzle-orm'
import type { Query } from '../../../../db/client.ts'
import { bills, users } from '../../../../db/schema.ts'
import { dueSoonAt } from '../../../domain/money/invoice.ts'
import { chargeAsksMail, chargeFailedMail } from '../../mail/charge-letters.ts'
import { dueSoonMail, invoicePaidMail, invoiceReadyMail } from '../../mail/money-letters.ts'
import { tellQueries } from '../../mail/notices.ts'
import type { Invoice } from '../../ports/payments.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'

/**
 * The emails that Stripe's answer calls for: the invoice is ready, its charge failed, it's due soon, or paid. Each is written once per bill,
 * however often and in whatever order we ask. They follow the invoice's own write in the same batch. A closed account
 * gets none: Stripe's own email has the link.
 */
export async function invoiceMailQueries(ctx: Context, invoice: Invoice, dueAt: number): Promise<Query[]> {
  const { billId, status, hostedUrl, remainingCents, paidCents, charges, failure } = invoice
  const now = ctx.now()
  const isOpen = status === 'open' && dueAt > now && hostedUrl !== null && remainingCents > 0
  const isPaid = status === 'paid' && paidCents > 0
  if (!billId || !(isOpen || isPaid)) return []
  const [owner] = await ctx.db
    .select({
      id: users.id,
      email: users.email,
      closedAt: users.closedAt,
      seconds: bills.seconds,
      periodStart: bills.periodStart,
      periodEnd: bills.periodEnd,
      corrects: bills.corrects,
    })
    .from(bills)
    .innerJoin(users, eq(users.id, bills.userId))
    .where(eq(bills.id, billId))
  if (!owner || owner.closedAt !== null) return []
  const { id, email, closedAt: _, ...bill } = owner
  const to = { id, email }
  const origin = siteOrigin(ctx)
  const isAnnounced = sql`EXISTS (SELECT 1 FROM outbox WHERE cause = ${`ready:${billId}`}
    OR cause BETWEEN ${`charge:${billId}:`} AND ${`charge:${billId};`})`
  const stored = (condition: ReturnType<typeof sql>) =>
    sql`EXISTS (SELECT 1 FROM invoices WHERE record_id = ${billId} AND step = 'sent' AND ${condition})`
  if (isPaid)
    return tellQueries(
      ctx,
      to,
      invoicePaidMail(origin, { ...bill, billId, cents: paidCents }),
      // We thank nobody for an invoice that we never mentioned.
      sql`${isAnnounced} AND ${stored(sql`status = 'paid'`)}`,
      `paid:${billId}`,
    )
  const due = { ...bill, billId, cents: remainingCents, dueAt, payUrl: hostedUrl ?? '' }
  const open = stored(sql`status = 'open' AND held_at IS NULL`)
  const soon = now >= dueSoonAt(due.dueAt)
  const reminder = soon
    ? tellQueries(ctx, to, dueSoonMail(origin, due), sql`${isAnnounced} AND ${open}`, `due_soon:${billId}`)
    : []
  // Stripe doesn't charge one that may not be charged anymore: they pay it as any other.
  if (charges && invoice.advances) {
    const cause = `charge_${failure?.asks ? 'asks' : 'failed'}:${billId}`
    return [...reminder, ...(failure ? tellQueries(ctx, to, chargeMail(origin, due, failure), open, cause) : [])]
  }
  return [...reminder, ...tellQueries(ctx, to, invoiceReadyMail(origin, due), open, `ready:${billId}`)]
}

function chargeMail(
  origin: string,
  due: Parameters<typeof chargeAsksMail>[1],
  { why, asks }: { why: string; asks: boolean },
) {
  return asks ? chargeAsksMail(origin, due) : chargeFailedMail(origin, { ...due, why })
}
