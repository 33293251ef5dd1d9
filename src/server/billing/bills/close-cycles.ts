import { type SQL, sql } from 'drizzle-orm'
import { type Database, type Query, writeBatch } from '../../../../db/client.ts'
import type { BillRow } from '../../../../db/schema/billing.ts'
import { type ClosedCycle, closeCycles } from '../../../domain/money/closing.ts'
import { cyclesSince } from '../../../domain/money/cycle.ts'
import { shareCycle } from '../../../domain/money/run-cost.ts'
import { stableBillId } from '../../crypto/id.ts'
import { eventQuery } from '../../events/outbox.ts'
import type { Context } from '../../runtime/context.ts'
import { spanOf, toBillingRecord, toBills } from './billing-history.ts'
import { type Account, asRead, isOutage, listDue, readAccounts, setAside } from './due-accounts.ts'

const BATCH = 100
const BATCHES = 20

/**
 * Closes every cycle that has ended: writes a bill for each, and an invoice to make if something is owed. The
 * database says what is due, in batches; if a run is cut off, the next one continues. Concurrent runs write
 * each row once.
 * @returns how many accounts it processed
 */
export async function closeDueCycles(ctx: Context, batches = BATCHES): Promise<number> {
  let looked = 0
  for (let n = 0; n < batches; n++) {
    const due = await listDue(ctx, BATCH)
    if (due.length > 0) await closeTogether(ctx, await readAccounts(ctx, due))
    looked += due.length
    if (due.length < BATCH) break
  }
  return looked
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

async function closingQueries(ctx: Context, account: Account): Promise<Query[]> {
  const { closed, billedUntil, dueAt } = closeCycles(account, ctx.now())
  const records = await Promise.all(closed.map((cycle) => recordQueries(ctx, account, cycle)))
  return [
    ...records.flat(),
    ...(await recountQueries(ctx, account)),
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
  const [billing] = toBills([{ record: row, invoice: null, overdue: null }], [], now).map(toBillingRecord)
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
 * Stores what a run cost when it ends. If a plan changes its month afterward, the run's part of the bill changes, and
 * we look at the account again (`dueQuery`).
 */
async function recountQueries(ctx: Context, account: Account): Promise<Query[]> {
  const now = ctx.now()
  const spans = account.runs.map((row) => spanOf(row, now))
  const costs = new Map<string, number>()
  for (const cycle of cyclesSince(account.spans, account.from, now))
    for (const { run, units } of shareCycle(cycle, spans)) costs.set(run.row.id, (costs.get(run.row.id) ?? 0) + units)
  const queries: Query[] = []
  for (const run of account.runs) {
    if (run.endedAt === null || run.billedFrom === null || run.meteredUntil === null) continue
    // Read for another account in the batch that is further behind: all of this run's months are billed.
    if (run.meteredUntil <= account.from) continue
    // The cost of its first months is in their bills.
    const isOlder = run.billedFrom < account.from
    const units = isOlder ? await (await import('./run-bill.ts')).getRunCost(ctx, run) : (costs.get(run.id) ?? 0)
    if (units !== run.costUnits)
      queries.push(
        ctx.db.run(sql`UPDATE server_sessions SET cost_units = ${units} WHERE id = ${run.id}
          AND cost_units IS ${run.costUnits} AND EXISTS (SELECT 1 FROM users WHERE ${asRead(account)})`),
      )
  }
  return queries
}

/**
 * Makes closing look at the account at once. Belongs to every write that changes where a cycle ends. It
 * always changes the row, even if the account is already due, so that a closing that read it earlier writes
 * nothing. Use it only with a real change: a call that people can repeat must not keep closing from running.
 */
export function dueQuery(db: Database, userId: string, at: number, when: SQL = sql`1`): Query {
  return db.run(sql`UPDATE users SET billing_due_at = min(billing_due_at - 1, ${at}) WHERE id = ${userId} AND ${when}`)
}
