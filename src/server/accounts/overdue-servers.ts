import { and, asc, eq, isNull, or, type SQL, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { users } from '../../../db/schema/accounts.ts'
import { invoices } from '../../../db/schema/billing.ts'
import { runs } from '../../../db/schema/fleet.ts'
import { DAY_MS, HOUR_MS } from '../../domain/instant.ts'
import { STOP_AFTER_DAYS, STOP_WARNING_DAYS, STOPPED_OVERDUE } from '../../domain/money/invoice.ts'
import { isDebtOf } from '../billing/bills/debts.ts'
import { syncInvoice } from '../billing/bills/invoice-sync.ts'
import { billsUrl, isOverdue } from '../billing/bills/suspension.ts'
import { requestStop } from '../fleet/stop-run.ts'
import { tellQueries, tellSoon } from '../mail/notices.ts'
import { stopWarningMail } from '../mail/overdue-letters.ts'
import type { Context } from '../runtime/context.ts'
import { fourAtOnce } from '../runtime/four-at-once.ts'

const STOP_AFTER_MS = STOP_AFTER_DAYS * DAY_MS
const WARNING_MS = STOP_WARNING_DAYS * DAY_MS
/** How long an unreachable Stripe can delay the warning and the stop. */
const PATIENCE_MS = HOUR_MS
const BATCH = 40

/** A live server whose owner is suspended. */
type Run = { id: string; userId: string; email: string; suspendedAt: number | null; stopWarnedAt: number | null }

/** Conditions on rows of `users`. Checked in the read and again in the write: people may pay at any moment. */
const isToBeWarned = (now: number) =>
  sql`suspended_at <= ${now - STOP_AFTER_MS + WARNING_MS} AND stop_warned_at IS NULL`
const isToBeStopped = (now: number) =>
  sql`suspended_at <= ${now - STOP_AFTER_MS} AND stop_warned_at <= ${now - WARNING_MS}`

/** A late warning delays the stop, so that everyone gets a day's notice. */
const stopTime = (suspendedAt: number, warnedAt: number) => Math.max(suspendedAt + STOP_AFTER_MS, warnedAt + WARNING_MS)

/**
 * Warns suspended owners of running servers, and stops the servers a day later. Driven by the database: it
 * may run late, twice or at once.
 */
export async function stopOverdueServers(ctx: Context): Promise<void> {
  await forEachRun(ctx, isToBeStopped(ctx.now()), stopRun)
  await forEachRun(ctx, isToBeWarned(ctx.now()), warnOwner)
}

async function forEachRun(ctx: Context, due: SQL, act: (ctx: Context, run: Run) => Promise<void>): Promise<void> {
  const runRows = await ctx.db
    .select({
      id: runs.id,
      userId: runs.userId,
      email: users.email,
      suspendedAt: users.suspendedAt,
      stopWarnedAt: users.stopWarnedAt,
    })
    .from(runs)
    .innerJoin(users, eq(users.id, runs.userId))
    .where(and(isNull(runs.endedAt), isNull(runs.stopRequestedAt), due))
    .orderBy(asc(users.suspendedAt))
    .limit(BATCH)
  await fourAtOnce(runRows, (run) =>
    act(ctx, run).catch((error) => ctx.log('overdue_server_failed', { userId: run.userId, runId: run.id }, error)),
  )
}

async function warnOwner(ctx: Context, { id, userId, email, suspendedAt }: Run): Promise<void> {
  const since = (suspendedAt ?? 0) + STOP_AFTER_MS - WARNING_MS
  if (!(await askAgain(ctx, userId)) && ctx.now() < since + PATIENCE_MS) return
  const now = ctx.now()
  const bills = await overdueBills(ctx, userId)
  const mail = stopWarningMail({
    cents: bills.reduce((sum, bill) => sum + (bill.remainingCents ?? 0), 0),
    payUrl: (bills.length === 1 ? bills[0]?.hostedUrl : null) ?? billsUrl(ctx),
    stopAt: stopTime(suspendedAt ?? 0, now),
    processing: bills.length > 0 && bills.every(({ processingAt }) => processingAt !== null),
  })
  const due = sql`${isToBeWarned(now)} AND EXISTS (SELECT 1 FROM server_sessions WHERE id = ${id} AND stop_requested_at IS NULL)`
  const [, told] = await writeBatch(ctx.db, [
    ...tellQueries(
      ctx,
      { id: userId, email },
      mail,
      sql`EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND closed_at IS NULL AND ${due})`,
    ),
    ctx.db.run(sql`UPDATE users SET stop_warned_at = ${now} WHERE id = ${userId} AND ${due}`),
  ])
  tellSoon(ctx, userId, told)
}

async function stopRun(ctx: Context, run: Run): Promise<void> {
  const { userId, suspendedAt, stopWarnedAt } = run
  const since = stopTime(suspendedAt ?? 0, stopWarnedAt ?? 0)
  if (!(await askAgain(ctx, userId)) && ctx.now() < since + PATIENCE_MS) return
  const channel = ctx.channel(userId)
  await channel.arm(userId)
  const now = ctx.now()
  const failure = { code: 'suspended' as const, message: STOPPED_OVERDUE }
  const due = sql`EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND ${isToBeStopped(now)})`
  await requestStop(ctx, run, now, { failure, when: due })
  await channel.wake(userId)
}

/**
 * Asks Stripe once more and stores its answer: we may have missed a payment, and a stopped server is lost.
 * @returns whether Stripe answered
 */
async function askAgain(ctx: Context, userId: string): Promise<boolean> {
  try {
    for (const { stripeInvoiceId } of await overdueBills(ctx, userId))
      if (stripeInvoiceId) await syncInvoice(ctx, stripeInvoiceId)
    return true
  } catch (error) {
    ctx.log('overdue_not_asked', { userId }, error)
    return false
  }
}

/** Including what an account of theirs left unpaid when they closed it. */
function overdueBills(ctx: Context, userId: string) {
  return ctx.db
    .select()
    .from(invoices)
    .where(or(and(eq(invoices.userId, userId), isOverdue(ctx.now())), isDebtOf(userId)))
}
