import { freeClosedAddresses, stopServersOfClosed } from './accounts/close-account.ts'
import { stopOverdueServers } from './accounts/overdue-servers.ts'
import { forgetTraces } from './accounts/retention.ts'
import { closeDueCycles } from './billing/bills/close-cycles.ts'
import { advanceInvoices } from './billing/bills/invoicing.ts'
import { reconcilePlans } from './billing/plans/reconcile.ts'
import { type Context, withLogFields } from './context.ts'
import { endOrphans, wakeOverdue } from './fleet/sweep.ts'
import { deliverMail } from './mail/outbox.ts'

/** Everything that billing does by the clock. */
export const BILLING_CRON = '0-58 * * * *'

/**
 * The tasks of each trigger in `wrangler.toml`. Fleet, money and mail fire every minute, each by a schedule of its own, so that one that
 * hangs uses up the connections of its own invocation alone. Money rests in the last minute of an hour and mail in the first: nobody promises
 * that two spellings of one schedule stay two triggers. All are driven by what the database says: they may run late, twice, or at once.
 */
export const TASKS: Record<string, Record<string, (ctx: Context) => Promise<unknown>>> = {
  '* * * * *': { wakeOverdue, stopServersOfClosed, endOrphans },
  // In the order in which one feeds the next.
  [BILLING_CRON]: { reconcilePlans, closeDueCycles, advanceInvoices, stopOverdueServers },
  '1-59 * * * *': { deliverMail, freeClosedAddresses },
  '17 4 * * *': { forgetTraces },
}

/** One after the other, for the connections' sake. One failing task does not keep the others from running. */
export async function runCron(ctx: Context, cron: string): Promise<void> {
  const tasks = TASKS[cron]
  if (!tasks) throw new Error(`No task belongs to the trigger "${cron}"`)
  for (const [task, run] of Object.entries(tasks)) {
    const own = withLogFields(ctx, { cron, task })
    await run(own).catch((error) => own.log('cron_task_failed', {}, error))
  }
}
