import { freeClosedAddresses, stopServersOfClosed } from './accounts/close-account.ts'
import { closeDueCycles } from './billing/bills/close-cycles.ts'
import { suspendDebtors } from './billing/bills/debts.ts'
import { advanceInvoices } from './billing/bills/invoicing.ts'
import { wakeSenders } from './events/sweep.ts'
import { reviveWatcher, wakeOverdue } from './fleet/sweep.ts'
import { alertOperator } from './mail/alerts.ts'
import { deliverMail } from './mail/outbox.ts'
import { watchMatters } from './operations/matters.ts'
import { checkStarts } from './operations/status.ts'
import { type Context, withLogFields } from './runtime/context.ts'

/** Everything that billing does on a schedule. */
export const BILLING_CRON = '0-58 * * * *'

// Loaded when due, so that they don't weigh on the Worker's start.
const reconcilePlans = async (ctx: Context) => (await import('./billing/plans/reconcile.ts')).reconcilePlans(ctx)
const creditDueRuns = async (ctx: Context) => (await import('./billing/bills/ec2-credit.ts')).creditDueRuns(ctx)
const stopOverdueServers = async (ctx: Context) =>
  (await import('./accounts/overdue-servers.ts')).stopOverdueServers(ctx)
const recordMailboxes = async (ctx: Context) => (await import('./accounts/mailboxes.ts')).recordMailboxes(ctx)
const renewMailboxKey = async (ctx: Context) => (await import('./accounts/mailboxes.ts')).renewMailboxKey(ctx)
const endLargeServers = async (ctx: Context) => (await import('./fleet/large-servers.ts')).endLargeServers(ctx)
const keepWarm = async (ctx: Context) => (await import('./fleet/warm/keep.ts')).keepWarm(ctx)
const mailUsedHours = async (ctx: Context) => (await import('./billing/bills/hours-mails.ts')).mailUsedHours(ctx)
const mailLongRuns = async (ctx: Context) => (await import('./billing/bills/long-runs.ts')).mailLongRuns(ctx)
const countChanged = async (ctx: Context) => (await import('./files/usage.ts')).countChanged(ctx)
const dropStaleUploads = async (ctx: Context) => (await import('./files/open-uploads.ts')).dropStaleUploads(ctx)
const tellGroups = async (ctx: Context) => (await import('./fleet/line/group-people.ts')).tellGroups(ctx)
const releaseGroups = async (ctx: Context) => (await import('./fleet/line/groups.ts')).releaseGroups(ctx)
const endFilesWithPlans = async (ctx: Context) => (await import('./files/plan-end.ts')).endFilesWithPlans(ctx)
const continueRemovals = async (ctx: Context) => (await import('./files/removals.ts')).continueRemovals(ctx)
const deleteLogsOfClosed = async (ctx: Context) => (await import('./fleet/run-log.ts')).deleteLogsOfClosed(ctx)
const countStartTimes = async (ctx: Context) => (await import('./fleet/count-start-times.ts')).countStartTimes(ctx)
const removeLostFactors = async (ctx: Context) => (await import('./operations/lost-factors.ts')).removeLostFactors(ctx)
const noteStoppedSignIns = async (ctx: Context) =>
  (await import('./accounts/stopped-sign-ins.ts')).noteStoppedSignIns(ctx)
const forgetTraces = async (ctx: Context) => (await import('./accounts/retention.ts')).forgetTraces(ctx)
const forgetRemovals = async (ctx: Context) => (await import('./files/removals.ts')).forgetRemovals(ctx)

/**
 * The tasks of each trigger in `wrangler.toml`. Fleet, money and mail run every minute on separate schedules,
 * so that a hung task uses up only its own invocation's connections. Money skips the last minute of an hour
 * and mail the first: nobody promises that two equal schedules stay two triggers. The database drives all of
 * them, so they may run late, twice or at once.
 */
export const TASKS: Record<string, Record<string, (ctx: Context) => Promise<unknown>>> = {
  '* * * * *': { reviveWatcher, endLargeServers, wakeOverdue, stopServersOfClosed, wakeSenders, keepWarm },
  // Ordered: each feeds the next.
  [BILLING_CRON]: {
    reconcilePlans,
    closeDueCycles,
    creditDueRuns,
    advanceInvoices,
    suspendDebtors,
    stopOverdueServers,
    mailUsedHours,
    mailLongRuns,
  },
  '1-59 * * * *': {
    checkStarts,
    releaseGroups,
    tellGroups,
    watchMatters,
    removeLostFactors,
    noteStoppedSignIns,
    deliverMail,
    recordMailboxes,
    freeClosedAddresses,
    endFilesWithPlans,
    continueRemovals,
    deleteLogsOfClosed,
    dropStaleUploads,
    countChanged,
    countStartTimes,
  },
  '17 4 * * *': { forgetTraces, forgetRemovals, renewSecrets, renewMailboxKey },
}

/** The secrets of webhooks, accounts, and authenticator apps. Loaded with their other code, which few isolates need. */
async function renewSecrets(ctx: Context): Promise<void> {
  const [webhooks, accounts, totp] = await Promise.all([
    import('./events/renew-secrets.ts'),
    import('./fleet/renew-secrets.ts'),
    import('./accounts/credentials/totp.ts'),
  ])
  await webhooks.renewSecrets(ctx)
  await accounts.renewRunSecrets(ctx)
  await totp.renewTotpSecrets(ctx)
}

/** Runs tasks one at a time to save connections. A failing task doesn't stop the others. */
export async function runCron(ctx: Context, cron: string): Promise<void> {
  const tasks = TASKS[cron]
  if (!tasks) throw new Error(`No task belongs to the trigger "${cron}"`)
  for (const [task, run] of Object.entries(tasks)) {
    const own = withLogFields(ctx, { cron, task })
    await run(own).catch((error) => reportFailure(own, task, error))
  }
}

/** To the log and to the operator, who reads the log only once something is wrong. */
async function reportFailure(ctx: Context, task: string, error: unknown): Promise<void> {
  ctx.log('cron_task_failed', {}, error)
  await alertOperator(ctx, {
    matter: `cron_failed:${task}`,
    subject: `The scheduled task ${task} failed`,
    sentences: [
      'The other tasks of its trigger ran. It runs again when its trigger next fires. If it still fails in an hour, we email you again.',
      `The log names the cause: search it for cron_task_failed and ${task}. Until then, some or all of its work waits.`,
    ],
  })
}
