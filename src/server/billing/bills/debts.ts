import { type SQL, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../../db/client.ts'
import { SMALLEST_CHARGE_CENTS } from '../../../domain/money/charge.ts'
import { tellQueries, tellSoon } from '../../mail/notices.ts'
import { debtMail } from '../../mail/overdue-letters.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'
import { fourAtOnce } from '../../runtime/four-at-once.ts'

/**
 * A debt is an unpaid bill of an account that someone closed. Their other accounts, those with the same mailbox, are
 * suspended until it is paid. Only they see its invoice: each has proved that the mailbox is theirs.
 */

const BATCH = 100

/** A condition on rows of `invoices`: it is still to be paid, or even to be made. */
export const IS_UNPAID = sql`(invoices.status IS NULL OR invoices.status IN ('draft', 'open', 'uncollectible'))
  AND invoices.step NOT IN ('credit', 'credited')`

/**
 * No operator holds it, no bank is paying it, and Stripe takes what is left: credits may leave less than it charges. A
 * bank debit no longer counts once one came back: someone could send one after another.
 */
export const IS_PRESSING = sql`invoices.held_at IS NULL
  AND (invoices.processing_at IS NULL OR invoices.debit_returned_at IS NOT NULL)
  AND coalesce(invoices.remaining_cents, ${SMALLEST_CHARGE_CENTS}) >= ${SMALLEST_CHARGE_CENTS}`

const IS_OWED = sql`${IS_UNPAID} AND ${IS_PRESSING}`

/** A subselect of the closed accounts with this open account's mailbox. @param userId also as SQL */
export function closedAccountsOf(userId: string | SQL): SQL {
  return sql`SELECT closed.id FROM users AS me JOIN users AS closed ON closed.mailbox = me.mailbox
    WHERE me.id = ${userId} AND me.closed_at IS NULL AND closed.closed_at IS NOT NULL`
}

/** A condition on rows of `invoices`. */
export function isDebtOf(userId: string | SQL): SQL {
  return sql`invoices.user_id IN (${closedAccountsOf(userId)}) AND ${IS_OWED}`
}

const CENTS = sql`sum(coalesce(invoices.remaining_cents, billing_records.amount_cents))`
const OF_CLOSED = sql`invoices JOIN billing_records ON billing_records.id = invoices.record_id
  JOIN users AS closed ON closed.id = invoices.user_id AND closed.closed_at IS NOT NULL`

/** What is owed for a mailbox, in cents; 0 if nothing. */
export async function findDebt(ctx: Pick<Context, 'db'>, mailbox: string): Promise<number> {
  const [row] = await ctx.db.all<{ cents: number | null }>(
    sql`SELECT ${CENTS} AS cents FROM ${OF_CLOSED} WHERE closed.mailbox = ${mailbox} AND ${IS_OWED}`,
  )
  return row?.cents ?? 0
}

/** Suspends an account that owes this, and emails its owner, in one batch. The database checks again that it does. */
export function suspendDebtorQueries(
  ctx: Pick<Context, 'db' | 'now' | 'config'>,
  { id, email, cents }: { id: string; email: string; cents: number },
): Query[] {
  const isDue = sql`id = ${id} AND suspended_at IS NULL AND closed_at IS NULL AND confirmed_at IS NOT NULL
    AND EXISTS (SELECT 1 FROM invoices WHERE ${isDebtOf(id)})`
  return [
    ...tellQueries(
      ctx,
      { id, email },
      debtMail(siteOrigin(ctx), cents),
      sql`EXISTS (SELECT 1 FROM users WHERE ${isDue})`,
    ),
    ctx.db.run(sql`UPDATE users SET suspended_at = ${ctx.now()} WHERE ${isDue}`),
  ]
}

/** Finds accounts whose owner closed another one since and left a bill, or whose last bill was just written. Run by cron. */
export async function suspendDebtors(ctx: Context): Promise<void> {
  const debtors = await ctx.db.all<{ id: string; email: string; cents: number }>(sql`
    SELECT me.id, me.email, ${CENTS} AS cents FROM ${OF_CLOSED}
    JOIN users AS me ON me.mailbox = closed.mailbox AND me.closed_at IS NULL AND me.suspended_at IS NULL
    WHERE invoices.next_at IS NOT NULL AND ${IS_OWED} GROUP BY me.id LIMIT ${BATCH}`)
  await fourAtOnce(debtors, async (debtor) => {
    const written = await writeBatch(ctx.db, suspendDebtorQueries(ctx, debtor))
    tellSoon(ctx, debtor.id, written.at(-1))
  })
}
