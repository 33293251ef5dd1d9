import { sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { runs } from '../../../../db/schema/fleet.ts'
import { DAY_MS, HOUR_MS } from '../../../domain/instant.ts'
import { sumOfLines } from '../../../domain/money/run-cost.ts'
import { runLinkPath } from '../../crypto/run-links.ts'
import { stillRunningMail } from '../../mail/ending-letters.ts'
import { tellQueries, tellSoon } from '../../mail/notices.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'
import { fourAtOnce } from '../../runtime/four-at-once.ts'
import { costQueries, toCostLines } from './run-bill.ts'

const BATCH = 100

/**
 * Tells people each day that their server still runs: nobody should pay for one they forgot. People whose account is
 * suspended know that we are about to stop it. Run by cron.
 */
export async function mailLongRuns(ctx: Context): Promise<void> {
  const now = ctx.now()
  const days = sql`CAST((${now} - billed_from) / ${DAY_MS} AS INTEGER)`
  const due = await ctx.db
    .select({ run: runs, email: users.email })
    .from(runs)
    .innerJoin(users, sql`${users.id} = ${runs.userId}`)
    .where(
      sql`${runs.endedAt} IS NULL AND ${runs.stopRequestedAt} IS NULL AND billed_from <= ${now - DAY_MS} AND ${users.closedAt} IS NULL AND ${users.suspendedAt} IS NULL
      AND NOT EXISTS (SELECT 1 FROM notices WHERE cause = 'running:' || ${runs.id} || ':' || ${days})`,
    )
    .limit(BATCH)
  await fourAtOnce(due, async ({ run, email }) => {
    const ran = now - (run.billedFrom ?? now)
    const costs = await ctx.db.batch([...costQueries(ctx, run.userId, run.id)])
    const { dollars } = sumOfLines(toCostLines(costs, run, now))
    const link = `${siteOrigin(ctx)}${runLinkPath(ctx.config.secretKey, 'stop', run.id)}`
    const letter = stillRunningMail(link, { hours: Math.floor(ran / HOUR_MS), dollars, end: run.endsAt })
    // People who see the notice are signed in.
    const message = { ...letter, page: { link: `${siteOrigin(ctx)}/servers/${run.id}`, label: 'See the server' } }
    const when = sql`EXISTS (SELECT 1 FROM server_sessions WHERE id = ${run.id} AND stop_requested_at IS NULL AND ended_at IS NULL)`
    const cause = `running:${run.id}:${Math.floor(ran / DAY_MS)}`
    const results = await writeBatch(ctx.db, tellQueries(ctx, { id: run.userId, email }, message, when, cause))
    tellSoon(ctx, run.userId, results.at(-1))
  })
}
