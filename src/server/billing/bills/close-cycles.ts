import { and, asc, gt, inArray, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { type Database, isDatabaseBusy, type Query, writeBatch } from '../../../../db/client.ts'
import { type BillRow, checkouts, plans, runs, type UserRow, users } from '../../../../db/schema.ts'
import { AppError } from '../../../domain/error.ts'
import { HOUR_MS } from '../../../domain/instant.ts'
import { type ClosedCycle, closeCycles, type Ledger } from '../../../domain/money/closing.ts'
import type { Context } from '../../context.ts'
import { eventQuery } from '../../events/outbox.ts'
import { stableBillId } from '../../id.ts'
import { alertOperator } from '../../mail/alerts.ts'
import { toBillingRecord, toBills } from './billing-history.ts'
import { toSpan } from './plan-spans.ts'

const BATCH = 100
const BATCHES = 20
const AFTER_FAILURE_MS = HOUR_MS

type Due = {
  id: string
  read: Pick<UserRow, 'billedUntil' | 'billingDueAt'>
  createdAt: number
  closedAt: number | null
}
type Account = Ledger & Pick<Due, 'id' | 'read'>

/**
 * Closes every cycle that has ended: writes a bill for each, and an invoice to make if something is owed. The
 * database says what is due, in batches; if a run is cut off, the next one continues. Concurrent runs write
 * each row once.
 * @returns how many accounts it processed
 */
export async function closeDueCycles(ctx: Context, batches = BATCHES): Promise<number> {
  let looked = 0
  for (let n = 0; n < batches; n++) {
    const due = await listDue(ctx)
    if (due.length > 0) await closeTogether(ctx, await readAccounts(ctx, due))
    looked += due.length
    if (due.length < BATCH) break
  }
  return looked
}

function listDue(ctx: Context): Promise<Due[]> {
  return ctx.db
    .select({
      id: users.id,
      read: { billedUntil: users.billedUntil, billingDueAt: users.billingDueAt },
      createdAt: users.createdAt,
      closedAt: users.closedAt,
    })
    .from(users)
    .where(lte(users.billingDueAt, ctx.now()))
    .orderBy(asc(users.billingDueAt))
    .limit(BATCH)
}

/** All in one round trip; if that fails, each in its own, because one that can't be read must not hold up the others. */
async function readAccounts(ctx: Context, due: Due[]): Promise<Account[]> {
  try {
    return await readTogether(ctx, due)
  } catch (error) {
    if (isOutage(error)) throw error
    const accounts: Account[] = []
    for (const one of due)
      try {
        accounts.push(...(await readTogether(ctx, [one])))
      } catch (cause) {
        await setAside(ctx, one, cause)
      }
    return accounts
  }
}

async function readTogether(ctx: Context, due: Due[]): Promise<Account[]> {
  const ids = due.map((user) => user.id)
  const first = Math.min(...due.map(({ read, createdAt }) => read.billedUntil || createdAt))
  const theirs = inArray(runs.userId, ids)
  const [planRows, metered, unmetered, open] = await ctx.db.batch([
    ctx.db.select().from(plans).where(inArray(plans.userId, ids)),
    ctx.db
      .select()
      .from(runs)
      .where(and(theirs, gt(runs.meteredUntil, first))),
    // Skip failed starts: they never answered, so they have no meter and never will.
    ctx.db
      .select()
      .from(runs)
      .where(and(theirs, isNull(runs.meteredUntil), sql`(ended_at IS NULL OR billed_from IS NOT NULL)`)),
    ctx.db
      .select({ userId: checkouts.userId, createdAt: checkouts.createdAt })
      .from(checkouts)
      .where(sql`${inArray(checkouts.userId, ids)} AND status = 'open'`),
  ])
  return due.map(({ id, read, createdAt, closedAt }) => ({
    id,
    read,
    from: read.billedUntil || createdAt,
    closedAt,
    spans: planRows.filter((plan) => plan.userId === id).map(toSpan),
    runs: [...metered, ...unmetered].filter((run) => run.userId === id),
    checkoutOpenedAt: open.find((checkout) => checkout.userId === id)?.createdAt ?? null,
  }))
}

/** An account that fails must not hold up the others or head every batch, so it is set aside for an hour. */
async function closeTogether(ctx: Context, accounts: Account[]): Promise<void> {
  const writes = await Promise.all(
    accounts.map((account) =>
      closingQueries(ctx, account).catch(async (cause) => {
        await setAside(ctx, account, cause)
        return []
      }),
    ),
  )
  try {
    await writeBatch(ctx.db, writes.flat())
  } catch (error) {
    if (isOutage(error)) throw error
    for (const [i, account] of accounts.entries())
      await writeBatch(ctx.db, writes[i] ?? []).catch((cause) => setAside(ctx, account, cause))
  }
}

/** For an hour, and tells the operator. @throws the cause if it is an outage */
async function setAside(ctx: Context, account: Pick<Due, 'id' | 'read'>, cause: unknown): Promise<void> {
  if (isOutage(cause)) throw cause
  await alertOperator(
    ctx,
    {
      matter: 'closing_failed',
      subject: "We couldn't write a bill",
      sentences: [
        "We couldn't close an account's cycle. We retry every hour; until it works, the account isn't billed.",
        'The log names the account (closing_failed) and says why.',
      ],
      fields: { userId: account.id },
    },
    cause,
  )
  await ctx.db.run(sql`UPDATE users SET billing_due_at = ${ctx.now() + AFTER_FAILURE_MS} WHERE ${asRead(account)}`)
}

/** The database itself is down: the next trigger retries. */
function isOutage(error: unknown): boolean {
  return error instanceof AppError || isDatabaseBusy(error)
}

/**
 * Makes a write conditional on the account being as we read it. The second of two concurrent closings writes
 * nothing, and neither does one that missed a plan change or a closed account (`dueQuery`): the next one
 * looks again.
 */
function asRead({ id, read }: Pick<Due, 'id' | 'read'>) {
  return sql`id = ${id} AND billed_until = ${read.billedUntil} AND billing_due_at = ${read.billingDueAt}`
}

async function closingQueries(ctx: Context, account: Account): Promise<Query[]> {
  const { closed, billedUntil, dueAt } = closeCycles(account, ctx.now())
  const records = await Promise.all(closed.map((cycle) => recordQueries(ctx, account, cycle)))
  return [
    ...records.flat(),
    ctx.db.run(sql`UPDATE users SET billed_until = ${billedUntil}, billing_due_at = ${dueAt} WHERE ${asRead(account)}`),
  ]
}

/** The bill's id depends only on the account and the period. */
async function recordQueries(
  ctx: Context,
  account: Account,
  { cycle, seconds, amountCents }: ClosedCycle,
): Promise<Query[]> {
  const now = ctx.now()
  const id = await stableBillId(`${account.id} ${cycle.start}`)
  const stands = sql`EXISTS (SELECT 1 FROM users WHERE ${asRead(account)})`
  const row: BillRow = {
    id,
    userId: account.id,
    periodStart: cycle.start,
    periodEnd: cycle.end,
    planType: cycle.plan?.planType ?? null,
    includedHours: cycle.includedHours,
    trial: cycle.trial,
    seconds,
    amountCents,
    corrects: null,
    reason: null,
    runId: null,
    createdAt: now,
  }
  const record = ctx.db.run(sql`INSERT INTO billing_records
    (id, user_id, period_start, period_end, plan_type, included_hours, trial, seconds, amount_cents, created_at)
    SELECT ${id}, ${account.id}, ${cycle.start}, ${cycle.end}, ${row.planType}, ${cycle.includedHours},
      ${cycle.trial ? 1 : 0}, ${seconds}, ${amountCents}, ${now} WHERE ${stands}`)
  const [billing] = toBills([{ record: row, invoice: null }], [], now).map(toBillingRecord)
  const event = eventQuery(ctx, account.id, { type: 'bill.closed', about: id, data: { billing } }, stands)
  if (amountCents === 0) return [record, event]
  return [
    record,
    event,
    ctx.db.run(sql`INSERT INTO invoices (record_id, user_id, step, next_at, created_at)
      SELECT ${id}, ${account.id}, 'draft', ${now}, ${now} WHERE ${stands}`),
  ]
}

/**
 * Makes closing look at the account at once. Belongs to every write that changes where a cycle ends. It
 * always changes the row, even if the account is already due, so that a closing that read it earlier writes
 * nothing. Use it only with a real change: a call that people can repeat must not keep closing from running.
 */
export function dueQuery(db: Database, userId: string, at: number, when: SQL = sql`1`): Query {
  return db.run(sql`UPDATE users SET billing_due_at = min(billing_due_at - 1, ${at}) WHERE id = ${userId} AND ${when}`)
}
