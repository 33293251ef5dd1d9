import { and, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { runs } from '../../../../db/schema/fleet.ts'
import { line } from '../../../../db/schema/line.ts'
import { FIRST_STOP_AFTER } from '../../../domain/ending.ts'
import { isOnTrial } from '../../billing/allowance.ts'
import { lineStartedMail } from '../../mail/line-letters.ts'
import { tellQueries } from '../../mail/notices.ts'
import { deliverMail } from '../../mail/outbox.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'
import { fourAtOnce } from '../../runtime/four-at-once.ts'
import { leftQuery } from './leave.ts'
import { tellLine } from './show.ts'
import { mayStart } from './turns.ts'

/**
 * Removes people whose wait is over: they closed their account, are suspended, or have a server, or their API token
 * ended. A trial that became a plan waits with the plans.
 */
export async function clearLine(ctx: Context): Promise<void> {
  const isTrial = isOnTrial(sql`line.user_id`)
  // A trial's form doesn't ask for an end, so its server gets a plan's default end.
  const wishes = sql`CASE WHEN trial AND wishes ->> 'stopAfterMs' IS NULL
    THEN json_set(wishes, '$.stopAfterMs', ${FIRST_STOP_AFTER * 1000}) ELSE wishes END`
  const isBarred = sql`session_id IS NULL AND NOT ${mayStart(ctx.now())}`
  const [barred, started] = await ctx.db.batch([
    ctx.db.select({ userId: line.userId }).from(line).where(isBarred),
    // Not at the start: EC2 may have no machine, and then they wait again where they were.
    ctx.db
      .select({ id: users.id, email: users.email, runId: runs.id })
      .from(line)
      .innerJoin(runs, eq(runs.id, line.runId))
      .innerJoin(users, eq(users.id, line.userId))
      .where(and(eq(line.start, true), isNotNull(runs.runningAt), isNull(runs.endedAt))),
  ])
  const told = started.map(({ runId }) => runId)
  await writeBatch(ctx.db, [
    ctx.db.run(sql`UPDATE line SET trial = ${isTrial}, wishes = ${wishes} WHERE trial <> ${isTrial}`),
    leftQuery(ctx, isBarred),
    ctx.db.run(sql`DELETE FROM line WHERE ${isBarred}`),
    ...started.flatMap(({ runId, ...to }) =>
      tellQueries(ctx, to, lineStartedMail(siteOrigin(ctx)), sql`1`, `line_started:${runId}`),
    ),
    // They got a machine and know it, or their start is over and nothing put them back.
    ctx.db.run(sql`DELETE FROM line WHERE session_id IN (SELECT id FROM server_sessions WHERE ended_at IS NOT NULL
      OR running_at IS NOT NULL AND (NOT line.start OR ${inArray(runs.id, told)}))`),
  ])
  ctx.background(fourAtOnce(barred, ({ userId }) => tellLine(ctx, userId)))
  if (!started.length) return
  ctx.background(deliverMail(ctx))
  ctx.background(fourAtOnce(started, ({ id }) => ctx.channel(id).tellAccount()))
}
