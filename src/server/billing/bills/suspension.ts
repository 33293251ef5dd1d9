import { eq, type SQL, sql } from 'drizzle-orm'
import type { Query } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { bills } from '../../../../db/schema/billing.ts'
import { tellQueries } from '../../mail/notices.ts'
import { suspendedMail } from '../../mail/overdue-letters.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'
import { IS_PRESSING, isDebtOf } from './debts.ts'

/** An invoice that we know is past due. */
type OverdueInvoice = {
  billId: string
  remainingCents: number
  dueAt: number
  hostedUrl: string | null
  processing: boolean
}

/** A condition on rows of `invoices`: the only rule of what is overdue. */
export function isOverdue(now: number): SQL {
  return sql`invoices.status IN ('open', 'uncollectible') AND invoices.due_at <= ${now} AND ${IS_PRESSING}`
}

/** The page to pay several bills, or one whose own page we don't know. */
export function billsUrl(ctx: Pick<Context, 'config'>): string {
  return `${siteOrigin(ctx)}/billing_history`
}

/**
 * Suspends the invoice's owner and emails them once per suspension, in one batch. The database checks at
 * write time that the invoice is still overdue. A closed account gets no email: it can't start anything.
 */
export async function suspendQueries(ctx: Context, invoice: OverdueInvoice): Promise<Query[]> {
  const { billId, remainingCents: cents, dueAt, hostedUrl, processing } = invoice
  const [owner] = await ctx.db
    .select({
      id: users.id,
      email: users.email,
      periodStart: bills.periodStart,
      periodEnd: bills.periodEnd,
    })
    .from(bills)
    .innerJoin(users, eq(users.id, bills.userId))
    .where(eq(bills.id, billId))
  if (!owner) return []
  const { id, email, ...period } = owner
  const now = ctx.now()
  const due = sql`EXISTS (SELECT 1 FROM invoices WHERE record_id = ${billId} AND ${isOverdue(now)})`
  const mail = suspendedMail({ ...period, cents, dueAt, payUrl: hostedUrl ?? billsUrl(ctx), processing })
  return [
    ...tellQueries(
      ctx,
      { id, email },
      mail,
      sql`${due} AND EXISTS (SELECT 1 FROM users WHERE id = ${id} AND suspended_at IS NULL AND closed_at IS NULL)`,
    ),
    ctx.db.run(sql`UPDATE users SET suspended_at = ${now} WHERE id = ${id} AND suspended_at IS NULL AND ${due}`),
  ]
}

/** Lifts the suspension of the bill's owner, and of their other accounts, once they owe nothing. */
export function liftQuery(ctx: Context, billId: string): Query {
  const owner = sql`SELECT user_id FROM billing_records WHERE id = ${billId}`
  return ctx.db.run(sql`UPDATE users SET suspended_at = NULL, stop_warned_at = NULL
    WHERE suspended_at IS NOT NULL
    AND (id = (${owner}) OR mailbox = (SELECT owner.mailbox FROM users AS owner WHERE owner.id = (${owner})))
    AND NOT EXISTS (SELECT 1 FROM invoices WHERE user_id = users.id AND ${isOverdue(ctx.now())})
    AND NOT EXISTS (SELECT 1 FROM invoices WHERE ${isDebtOf(sql`users.id`)})`)
}
