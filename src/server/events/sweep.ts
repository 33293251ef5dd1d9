import { sql } from 'drizzle-orm'
import type { Context } from '../runtime/context.ts'
import { fourAtOnce } from '../runtime/four-at-once.ts'

const LATE_MS = 5_000
const BATCH = 500

/** The safety net under the alarms: wakes the senders of users with overdue events. Run by cron. */
export async function wakeSenders(ctx: Context): Promise<void> {
  const rows = await ctx.db.all<{ user_id: string }>(sql`SELECT DISTINCT user_id FROM (
    SELECT user_id FROM webhook_deliveries WHERE next_at < ${ctx.now() - LATE_MS} LIMIT ${BATCH * 10}
    ) ORDER BY random() LIMIT ${BATCH}`)
  await fourAtOnce(rows, ({ user_id }) => ctx.eventSender(user_id).wake(user_id))
}
