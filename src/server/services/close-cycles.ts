import { and, asc, eq, gt, inArray, isNull, lte, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../db/client.ts'
import { billingRecords, checkouts, invoices, serverSessions, subscriptions, users } from '../../../db/schema.ts'
import { closeCycles } from '../../domain/closing.ts'
import type { PlanSpan } from '../../domain/cycle.ts'
import type { Context } from '../context.ts'
import { log } from '../log.ts'
import { toSpan } from './plan-spans.ts'
import { recordId } from './record-id.ts'

const BATCH = 100
const BATCHES = 20
const LOOK_AGAIN_MS = 5 * 60_000
const AFTER_FAILURE_MS = 60 * 60_000

type Account = {
  id: string
  from: number
  closedAt: number | null
  spans: PlanSpan[]
  runs: (typeof serverSessions.$inferSelect)[]
  waits: boolean
}

/**
 * Closes every cycle that has ended: a record for each, an invoice to be made where something is owed. Goes by what the
 * database says is due, in batches; where it is cut off, the next run goes on. Two at once write the same rows once.
 * @returns how many accounts were looked at
 */
export async function closeDueCycles(ctx: Context, batches = BATCHES): Promise<number> {
  let looked = 0
  for (let n = 0; n < batches; n++) {
    const due = await listDueAccounts(ctx)
    if (due.length > 0) await closeTogether(ctx, due)
    looked += due.length
    if (due.length < BATCH) break
  }
  return looked
}

async function listDueAccounts(ctx: Context): Promise<Account[]> {
  const due = await ctx.db
    .select({ id: users.id, billedUntil: users.billedUntil, createdAt: users.createdAt, closedAt: users.closedAt })
    .from(users)
    .where(lte(users.billingDueAt, ctx.now()))
    .orderBy(asc(users.billingDueAt))
    .limit(BATCH)
  if (due.length === 0) return []
  const ids = due.map((user) => user.id)
  const first = Math.min(...due.map((user) => user.billedUntil || user.createdAt))
  const theirs = inArray(serverSessions.userId, ids)
  const [plans, metered, unmetered, open] = await ctx.db.batch([
    ctx.db.select().from(subscriptions).where(inArray(subscriptions.userId, ids)),
    ctx.db
      .select()
      .from(serverSessions)
      .where(and(theirs, gt(serverSessions.meteredUntil, first))),
    // Starts that failed never answered: they stay without a meter forever.
    ctx.db
      .select()
      .from(serverSessions)
      .where(and(theirs, isNull(serverSessions.meteredUntil), sql`(ended_at IS NULL OR billed_from IS NOT NULL)`)),
    ctx.db
      .select({ userId: checkouts.userId })
      .from(checkouts)
      .where(sql`${inArray(checkouts.userId, ids)} AND status = 'open'`),
  ])
  return due.map(({ id, billedUntil, createdAt, closedAt }) => ({
    id,
    from: billedUntil || createdAt,
    closedAt,
    spans: plans.filter((plan) => plan.userId === id).map(toSpan),
    runs: [...metered, ...unmetered].filter((run) => run.userId === id),
    // Somebody at the checkout may have had a plan for a while already: the webhook that says so can be late.
    waits: open.some((checkout) => checkout.userId === id),
  }))
}

/** One that cannot be written must not hold up the others: it is set aside for an hour. */
async function closeTogether(ctx: Context, accounts: Account[]): Promise<void> {
  const writes = await Promise.all(accounts.map((account) => closingQueries(ctx, account)))
  try {
    await writeBatch(ctx.db, writes.flat())
  } catch (error) {
    if (accounts.length === 1) throw error
    for (const [i, account] of accounts.entries())
      await writeBatch(ctx.db, writes[i] ?? []).catch(async (cause) => {
        log('closing_failed', { userId: account.id }, cause)
        await ctx.db
          .update(users)
          .set({ billingDueAt: ctx.now() + AFTER_FAILURE_MS })
          .where(eq(users.id, account.id))
      })
  }
}

async function closingQueries(ctx: Context, account: Account): Promise<Query[]> {
  const now = ctx.now()
  const user = eq(users.id, account.id)
  if (account.waits)
    return [
      ctx.db
        .update(users)
        .set({ billingDueAt: now + LOOK_AGAIN_MS })
        .where(user),
    ]
  const { closed, billedUntil, dueAt } = closeCycles(account, now)
  const queries: Query[] = []
  for (const { cycle, seconds, amountCents } of closed) {
    // The same for the same period, so that two closings at once write one record and one invoice.
    const id = await recordId(`${account.id} ${cycle.start}`)
    const record = {
      id,
      userId: account.id,
      periodStart: cycle.start,
      periodEnd: cycle.end,
      planType: cycle.plan?.planType ?? null,
      includedHours: cycle.includedHours,
      trial: cycle.trial,
      seconds,
      amountCents,
      createdAt: now,
    }
    queries.push(ctx.db.insert(billingRecords).values(record).onConflictDoNothing())
    if (amountCents === 0) continue
    const invoice = { recordId: id, userId: account.id, step: 'draft' as const, nextAt: now, createdAt: now }
    queries.push(ctx.db.insert(invoices).values(invoice).onConflictDoNothing())
  }
  queries.push(
    ctx.db.run(sql`UPDATE users SET billed_until = max(billed_until, ${billedUntil}), billing_due_at = ${dueAt}
      WHERE id = ${account.id} AND billed_until <= ${billedUntil}`),
  )
  return queries
}
