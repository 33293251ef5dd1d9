import type { Context } from './context.ts'
import { log } from './log.ts'
import { freeClosedAddresses } from './services/close-account.ts'
import { deliverMail } from './services/outbox.ts'
import { forgetTraces } from './services/retention.ts'
import { runBilling } from './services/run-billing.ts'
import { endOrphans, wakeOverdue } from './services/sweep.ts'

/** The tasks of each trigger in `wrangler.toml`. All are driven by what the database says: they may run late, twice, or at once. */
export const TASKS: Record<string, ((ctx: Context) => Promise<unknown>)[]> = {
  '* * * * *': [wakeOverdue, endOrphans, deliverMail, freeClosedAddresses, runBilling],
  '17 4 * * *': [forgetTraces],
}

/** One failing task does not keep the others from running. */
export async function runCron(ctx: Context, cron: string): Promise<void> {
  const results = await Promise.allSettled((TASKS[cron] ?? []).map((task) => task(ctx)))
  for (const result of results) if (result.status === 'rejected') log('cron_task_failed', { cron }, result.reason)
}
