import { and, eq, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { type RunRow, runs } from '../../../../db/schema/fleet.ts'
import { HOUR_MS } from '../../../domain/instant.ts'
import { hoursToSeconds } from '../../../domain/money/billing.ts'
import { secondsToBudget } from '../../../domain/money/budget-form.ts'
import { planName } from '../../../domain/money/plan.ts'
import { sendSoon } from '../../events/outbox.ts'
import { hoursUsedMail } from '../../mail/money-letters.ts'
import { tellQueries, tellSoon } from '../../mail/notices.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'
import { fourAtOnce } from '../../runtime/four-at-once.ts'
import { budgetQueries } from './budget.ts'
import { getUsage, type Usage } from './usage.ts'

const BATCH = 100
const BATCHES = 20
const PERCENTS = [80, 100] as const

const LOOKED_AT = { id: runs.id, userId: runs.userId, hoursLookAt: runs.hoursLookAt, meteredUntil: runs.meteredUntil }
type LookedAt = Pick<RunRow, keyof typeof LOOKED_AT>

/**
 * Emails people whose servers have used 80 or 100% of their plan's hours, or their budget. While a server runs, we know
 * when that will be, and look then. We look at least hourly, because a plan may change, and once after the server has
 * ended.
 */
export async function mailUsedHours(ctx: Context): Promise<void> {
  const now = ctx.now()
  let last: LookedAt | undefined
  for (let n = 0; n < BATCHES; n++) {
    const due = await listDue(ctx, now, last)
    await fourAtOnce(due, ({ run, email, closedAt }) =>
      look(ctx, run, closedAt === null ? email : null).catch((error) =>
        ctx.log('hours_not_mailed', { userId: run.userId, runId: run.id }, error),
      ),
    )
    if (due.length < BATCH) break
    last = due.at(-1)?.run
  }
}

/** Those after that one, which may have failed and still be due. */
async function listDue(ctx: Context, now: number, last: LookedAt | undefined) {
  const isAfter = last && sql`(${runs.hoursLookAt}, ${runs.id}) > (${last.hoursLookAt}, ${last.id})`
  const [due] = await ctx.db.batch([
    ctx.db
      .select({ run: LOOKED_AT, email: users.email, closedAt: users.closedAt })
      .from(runs)
      .innerJoin(users, eq(users.id, runs.userId))
      .where(and(lte(runs.hoursLookAt, now), isNotNull(runs.billedFrom), isAfter))
      .orderBy(runs.hoursLookAt, runs.id)
      .limit(BATCH),
    // They never answered, so they used nothing.
    ctx.db
      .update(runs)
      .set({ hoursLookAt: null })
      .where(
        and(
          lte(runs.hoursLookAt, now),
          isNull(runs.billedFrom),
          or(isNotNull(runs.endedAt), isNotNull(runs.stopRequestedAt)),
        ),
      ),
  ])
  return due
}

async function look(ctx: Context, run: LookedAt, email: string | null): Promise<void> {
  const usage = await getUsage(ctx, run.userId)
  const next = run.meteredUntil === null ? nextLook(usage) : null
  const asRead = and(eq(runs.id, run.id), eq(runs.hoursLookAt, run.hoursLookAt ?? 0))
  const atBudget = budgetQueries(ctx, run, email, usage)
  const mails = mailQueries(ctx, run.userId, email, usage)
  const results = await writeBatch(ctx.db, [
    ...atBudget,
    ...mails,
    ctx.db.update(runs).set({ hoursLookAt: next }).where(asRead),
  ])
  // The notice comes last in each message.
  if (mails.length) tellSoon(ctx, run.userId, results[atBudget.length + mails.length - 1])
  if (!atBudget.length) return
  sendSoon(ctx, run.userId, results[0])
  if (email) tellSoon(ctx, run.userId, results[2])
  // Ends the run, if the budget stops servers.
  ctx.background(ctx.channel(run.userId).wake(run.userId))
}

function mailQueries(ctx: Context, userId: string, email: string | null, { cycle, seconds }: Usage) {
  const { includedHours: hours, plan } = cycle
  const reached = PERCENTS.filter((percent) => seconds * 100 >= hoursToSeconds(hours) * percent).at(-1)
  if (!email || !reached || !plan || cycle.trial || !hours) return []
  const used = { percent: reached, hoursUsed: seconds / 3600, hours, plan: planName(plan.planType), until: cycle.end }
  // An upgrade adds hours, so the counting starts over. After a downgrade that we heard of late, someone who used more
  // than its hours already knows.
  const counted = `hours:${reached}:${userId}:${cycle.start}:`
  const isNew = sql`NOT EXISTS (SELECT 1 FROM notices WHERE cause BETWEEN ${counted} AND ${`${counted}:`}
    AND CAST(substr(cause, ${counted.length + 1}) AS REAL) > ${hours})`
  const told = hoursUsedMail(siteOrigin(ctx), used)
  return tellQueries(ctx, { id: userId, email }, told, isNew, `${counted}${hours}`)
}

/** When the running server will have used the next share of the hours, or the budget. */
function nextLook(usage: Usage): number {
  const { at, budget, cycle, seconds } = usage
  const left = PERCENTS.map((percent) => (hoursToSeconds(cycle.includedHours) * percent) / 100 - seconds)
  if (budget) left.push(secondsToBudget(budget, usage))
  const ahead = left.filter((s) => s > 0).map((s) => at + Math.ceil(s) * 1000)
  return Math.min(at + HOUR_MS, Math.max(at + 1000, Math.min(cycle.end, ...ahead)))
}
