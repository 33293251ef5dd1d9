import { eq, sql } from 'drizzle-orm'
import type { Query } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { bills } from '../../../../db/schema/billing.ts'
import { SMALLEST_CHARGE_CENTS } from '../../../domain/money/charge.ts'
import { dueSoonAt } from '../../../domain/money/invoice.ts'
import { chargeAsksMail, chargeFailedMail } from '../../mail/charge-letters.ts'
import { dueSoonMail, invoicePaidMail, invoiceReadyMail } from '../../mail/money-letters.ts'
import { tellQueries } from '../../mail/notices.ts'
import type { Invoice } from '../../ports/payments.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'

/**
 * The emails that Stripe's answer calls for: the invoice is ready, its charge failed, it's due soon, or paid. Each is
 * written once per bill, however often and in whatever order we ask. An overdue invoice gets none, unless a bank debit
 * just came back. They follow the invoice's own write in the same batch. A closed account gets none, because Stripe's
 * own email has the link, unless we were about to charge their card: then only our email has it.
 */
export async function invoiceMailQueries(
  ctx: Context,
  invoice: Invoice,
  { dueAt, cameBack }: { dueAt: number; cameBack: boolean },
): Promise<Query[]> {
  const { billId, status, hostedUrl, remainingCents, paidCents, charges, processing, failure } = invoice
  const now = ctx.now()
  const isOwed = (status === 'open' || status === 'uncollectible') && !processing
  const isLate = dueAt <= now
  const isOpen = isOwed && (!isLate || cameBack) && hostedUrl !== null && remainingCents >= SMALLEST_CHARGE_CENTS
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
  if (!owner) return []
  const { id, email, closedAt, ...bill } = owner
  if (closedAt !== null && (isPaid || !charges || email.startsWith('closed:'))) return []
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
  const due = { ...bill, billId, cents: remainingCents, dueAt, isLate, payUrl: hostedUrl ?? '' }
  const open = stored(sql`status = ${status} AND held_at IS NULL`)
  const soon = closedAt === null && !isLate && now >= dueSoonAt(due.dueAt)
  const reminder = soon
    ? tellQueries(ctx, to, dueSoonMail(origin, due), sql`${isAnnounced} AND ${open}`, `due_soon:${billId}`)
    : []
  const failed = failure
    ? tellQueries(ctx, to, chargeMail(origin, due, failure), open, failureCause(billId, failure))
    : []
  if (isLate) return closedAt === null ? failed : []
  // Stripe's tries end with the last one, or never start if we may not charge it: then they pay it like any other.
  const isTried = charges && (invoice.advances || status === 'uncollectible')
  if (isTried) return closedAt === null ? [...reminder, ...failed] : []
  // A bank debit from Stripe's page comes back days later. Its email has the sum and the link, even months later, when
  // the outbox no longer knows that the invoice was ready.
  if (failure?.method === 'bank account' && closedAt === null) return [...reminder, ...failed]
  const ready = tellQueries(ctx, to, invoiceReadyMail(origin, due), open, `ready:${billId}`)
  return [...reminder, ...ready]
}

/** Stripe retries a card on its own, and one email says so. A debit is tried once, so each one that comes back is news. */
function failureCause(billId: string, { id, asks, method }: NonNullable<Invoice['failure']>): string {
  if (asks) return `charge_asks:${billId}`
  return `charge_failed:${billId}${method === 'bank account' ? `:${id ?? 'debit'}` : ''}`
}

function chargeMail(
  origin: string,
  due: Parameters<typeof chargeAsksMail>[1] & { isLate: boolean },
  { asks, why, method }: NonNullable<Invoice['failure']>,
) {
  return asks ? chargeAsksMail(origin, due) : chargeFailedMail(origin, { ...due, why, method })
}
