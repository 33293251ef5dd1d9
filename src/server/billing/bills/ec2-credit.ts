import { and, asc, desc, eq, isNull, lte, sql } from 'drizzle-orm'
import { isDatabaseBusy, NoAnswer } from '../../../../db/client.ts'
import { bills } from '../../../../db/schema/billing.ts'
import { type RunRow, runs } from '../../../../db/schema/fleet.ts'
import { AppError } from '../../../domain/error.ts'
import { HOUR_MS } from '../../../domain/instant.ts'
import { runSecondsWithin } from '../../../domain/money/billing.ts'
import { creditsOn } from '../../../domain/money/ec2-credit.ts'
import { formatUptime } from '../../../domain/server.ts'
import { alertOperator } from '../../mail/alerts.ts'
import type { Context } from '../../runtime/context.ts'
import { correctBill } from './corrections.ts'

const AT_ONCE = 100
/** A run that fails must not hold up the others or head every batch. */
const AFTER_FAILURE_MS = HOUR_MS

const FAILED = {
  matter: 'credit_failed',
  subject: "We couldn't credit a bill",
  sentences: [
    "By EC2's record, a server ran less than its bill says, and we couldn't credit the difference. We retry every hour.",
    'The log names the run (credit_failed) and says why.',
  ],
}

/** Credits what EC2's record takes off bills that were written before we knew it. Safe to repeat. */
export async function creditDueRuns(ctx: Context): Promise<void> {
  const due = await ctx.db
    .select()
    .from(runs)
    .where(lte(runs.creditAt, ctx.now()))
    .orderBy(asc(runs.creditAt))
    .limit(AT_ONCE)
  for (const run of due)
    try {
      await creditRun(ctx, run)
      await lookAgain(ctx, run, null)
    } catch (cause) {
      // If someone just corrected the same bill, the next look credits it.
      if (cause instanceof AppError && cause.code === 'conflict') continue
      if (isDown(cause)) throw cause
      await alertOperator(ctx, { ...FAILED, fields: { runId: run.id } }, cause)
      await lookAgain(ctx, run, ctx.now() + AFTER_FAILURE_MS)
    }
}

/** The next trigger retries. Drizzle wraps what a single read threw. */
function isDown(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause) if (e instanceof NoAnswer || isDatabaseBusy(e)) return true
  return false
}

/** Unless its meter has changed since. */
async function lookAgain(ctx: Context, run: RunRow, at: number | null): Promise<void> {
  const isAsRead = and(eq(runs.id, run.id), eq(runs.creditAt, run.creditAt ?? 0))
  await ctx.db.update(runs).set({ creditAt: at }).where(isAsRead)
}

/** Each bill in its own write, once. */
async function creditRun(ctx: Context, run: RunRow): Promise<void> {
  const meter = [run.billedFrom ?? 0, run.meteredUntil ?? 0] as const
  const [written, credits] = await ctx.db.batch([
    ctx.db
      .select()
      .from(bills)
      .where(
        and(
          eq(bills.userId, run.userId),
          isNull(bills.corrects),
          sql`period_end > ${meter[0]} AND period_start < ${meter[1]}`,
        ),
      )
      .orderBy(desc(bills.periodStart)),
    ctx.db
      .select()
      .from(bills)
      .where(and(eq(bills.userId, run.userId), eq(bills.runId, run.id))),
  ])
  const parts = written.map(({ id, periodStart: start, periodEnd: end }) => ({
    id,
    seconds: runSecondsWithin(...meter, { start, end }),
  }))
  for (const { id, seconds } of creditsOn(parts, run.creditSeconds)) {
    if (credits.some(({ corrects }) => corrects === id)) continue
    const reason = `By EC2's record, ${run.id} ran ${formatUptime(seconds)} less than our meter said.`
    await correctBill(ctx, id, { less: seconds, reason, runId: run.id })
  }
}
