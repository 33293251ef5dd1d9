import { and, asc, gt, inArray, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { isDatabaseBusy } from '../../../../db/client.ts'
import { type UserRow, users } from '../../../../db/schema/accounts.ts'
import { checkouts, plans } from '../../../../db/schema/billing.ts'
import { runs } from '../../../../db/schema/fleet.ts'
import { AppError } from '../../../domain/error.ts'
import { HOUR_MS } from '../../../domain/instant.ts'
import type { Ledger } from '../../../domain/money/closing.ts'
import { alertOperator } from '../../mail/alerts.ts'
import type { Context } from '../../runtime/context.ts'
import { type MeteredRun, meteredColumns } from './metered-run.ts'
import { toSpan } from './plan-spans.ts'

const AFTER_FAILURE_MS = HOUR_MS

type Due = {
  id: string
  read: Pick<UserRow, 'billedUntil' | 'billingDueAt'>
  createdAt: number
  closedAt: number | null
}
/** What closing needs to know of someone whose cycle has ended. */
export type Account = Omit<Ledger, 'runs'> & Pick<Due, 'id' | 'read'> & { runs: MeteredRun[] }

export function listDue(ctx: Context, most: number): Promise<Due[]> {
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
    .limit(most)
}

/** All in one round trip. If that fails, one at a time, because an account that can't be read must not hold up the others. */
export async function readAccounts(ctx: Context, due: Due[]): Promise<Account[]> {
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
      .select(meteredColumns)
      .from(runs)
      .where(and(theirs, gt(runs.meteredUntil, first))),
    // Skip failed starts: they never answered, so they have no meter and never will.
    ctx.db
      .select(meteredColumns)
      .from(runs)
      .where(and(theirs, isNull(runs.meteredUntil), sql`(ended_at IS NULL OR billed_from IS NOT NULL)`)),
    ctx.db
      .select({ userId: checkouts.userId, createdAt: checkouts.createdAt })
      .from(checkouts)
      .where(sql`${inArray(checkouts.userId, ids)} AND status = 'open'`),
  ])
  const all = await Promise.all([...metered, ...unmetered].map((run) => asProven(ctx, run)))
  return due.map(({ id, read, createdAt, closedAt }) => ({
    id,
    read,
    from: read.billedUntil || createdAt,
    closedAt,
    spans: planRows.filter((plan) => plan.userId === id).map(toSpan),
    runs: all.filter((run) => run.userId === id),
    checkoutOpenedAt: open.find((checkout) => checkout.userId === id)?.createdAt ?? null,
  }))
}

/**
 * EC2 sees a machine, not its program: a run that ends with its program counts only as far as its machine's word goes,
 * so that an exit that we haven't heard of yet changes no bill.
 */
async function asProven(ctx: Context, run: MeteredRun): Promise<MeteredRun> {
  if (!run.untilExit || run.endedAt !== null) return run
  const provenUntil = await ctx
    .runLog(run.id)
    .provenUntil(ctx.now())
    .catch((error) => {
      ctx.log('log_not_read', { runId: run.id }, error)
      return null
    })
  return { ...run, confirmedAt: Math.min(run.confirmedAt ?? Infinity, provenUntil ?? run.billedFrom ?? 0) }
}

/** For an hour, and tells the operator. @throws the cause if it is an outage */
export async function setAside(ctx: Context, account: Pick<Due, 'id' | 'read'>, cause: unknown): Promise<void> {
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
export function isOutage(error: unknown): boolean {
  return error instanceof AppError || isDatabaseBusy(error)
}

/**
 * Makes a write conditional on the account being as we read it. The second of two concurrent closings writes
 * nothing, and neither does one that missed a plan change or a closed account (`dueQuery`): the next one
 * looks again.
 */
export function asRead({ id, read }: Pick<Due, 'id' | 'read'>): SQL {
  return sql`id = ${id} AND billed_until = ${read.billedUntil} AND billing_due_at = ${read.billingDueAt}`
}
