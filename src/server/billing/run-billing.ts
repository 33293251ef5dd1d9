import { stopOverdueServers } from '../accounts/overdue-servers.ts'
import type { Context } from '../context.ts'
import { log } from '../log.ts'
import { closeDueCycles } from './bills/close-cycles.ts'
import { advanceInvoices } from './bills/invoicing.ts'
import { reconcilePlans } from './plans/reconcile.ts'

/** Everything that billing does by the clock, in the order in which one feeds the next. One that fails does not stop the next. */
export async function runBilling(ctx: Context): Promise<void> {
  for (const task of [reconcilePlans, closeDueCycles, advanceInvoices, stopOverdueServers])
    await task(ctx).catch((error) => log('billing_task_failed', { task: task.name }, error))
}
