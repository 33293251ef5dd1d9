import { instantText } from '../../src/domain/instant.ts'
import { runSeconds, trialMinutesLeft } from '../../src/domain/money/billing.ts'
import { costText, dollars } from '../../src/domain/money/money.ts'
import { type PlanType, planName, TRIAL_MINUTES } from '../../src/domain/money/plan.ts'
import { minutesText } from '../../src/domain/money/trial.ts'
import { endedBecause, formatUptime, serverStatus } from '../../src/domain/server.ts'
import type { Server } from '../../src/domain/wire/fleet.ts'
import { smallestPlan, titleOf, worldText } from '../../src/domain/worlds.ts'
import { call, getSummary, getText, listServers } from './api.ts'
import { currentSite, type SiteOptions } from './site.ts'
import { say, sayJson, table, timeText } from './terminal.ts'

type Options = SiteOptions & { json?: true }

export async function runs(options: Options): Promise<void> {
  const servers = await listServers(currentSite(options))
  if (options.json) return sayJson({ servers })
  if (!servers.length) return say("You haven't started a server yet.")
  const rows = servers.map((run) => [
    timeText(run.requested_at),
    serverStatus(run),
    worldText(run) ?? '',
    run.instance_type,
    run.name ?? '',
    ranFor(run),
    run.cost_dollars === null ? '' : costText(run.cost_dollars),
    run.error_message ?? endedBecause(run) ?? '',
  ])
  say(table(['REQUESTED', 'STATE', 'WORLD', 'TYPE', 'NAME', 'RAN', 'COST', 'NOTE'], rows))
}

/** How long an ended run was on, in whole seconds as on the dashboard. */
function ranFor({ startedAt, end_time }: Server): string {
  return startedAt && end_time ? formatUptime(runSeconds(Date.parse(startedAt), Date.parse(end_time))) : ''
}

export async function environments(options: Options): Promise<void> {
  const worlds = await call(currentSite(options), (client) => client.GET('/api/v1/environments'))
  if (options.json) return sayJson(worlds)
  const included = (choice: { available: boolean; plans: PlanType[] }) =>
    choice.available ? 'yes' : `needs ${smallestPlan(choice)}`
  const rows = worlds.environments.map((each) => [each.name, included(each), each.description])
  say(table(['ENVIRONMENT', 'INCLUDED', 'DESCRIPTION'], rows))
  say('')
  say(
    table(
      ['VEHICLE', 'INCLUDED', 'DESCRIPTION'],
      worlds.vehicles.map((each) => [each.name, included(each), titleOf(each)]),
    ),
  )
}

export async function usage(options: Options): Promise<void> {
  const summary = await getSummary(currentSite(options))
  if (options.json) return sayJson(summary)
  const { monthlyUsage, subscription, suspended } = summary
  const used = monthlyUsage.hoursUsed.toFixed(2)
  const isTrial = subscription?.sub_type === 'demo'
  const left = minutesText(trialMinutesLeft(monthlyUsage.hoursUsed))
  const lines = [
    ['Plan', subscription ? planName(subscription.plan_type) : 'None'],
    isTrial
      ? ['Free minutes', `${left} of ${minutesText(TRIAL_MINUTES)} left`]
      : ['Hours used', subscription ? `${used} of ${subscription.hours.toFixed(2)} included` : used],
    ['Runs', String(monthlyUsage.serverSessions)],
    ['Running now', String(monthlyUsage.runningServers)],
    ['Owed so far', dollars(monthlyUsage.amountOwedDollars)],
  ]
  if (subscription?.current_period_end)
    lines.push([
      subscription.cancel_at_period_end ? 'Ends' : 'Renews',
      `${instantText(subscription.current_period_end.slice(0, 10), false)} (UTC)`,
    ])
  if (suspended) lines.push(['Suspended', 'An invoice is overdue. You can’t start a server until you pay it.'])
  say(lines.map(([name = '', value]) => `${name.padEnd(13)}${value}`).join('\n'))
}

export async function bills(options: Options & { csv?: true }): Promise<void> {
  const site = currentSite(options)
  // Decode it as text, to drop the file's byte-order mark.
  if (options.csv) return void process.stdout.write(await getText(site, '/billing_history.csv'))
  const answer = await call(site, (client) => client.GET('/api/v1/billings/history'))
  if (options.json) return sayJson(answer)
  if (!answer.billings.length) return say('You have no bills yet.')
  const rows = answer.billings.map((bill) => [
    instantText(bill.start_date, false),
    instantText(bill.end_date, false),
    formatUptime(bill.seconds_used),
    dollars(bill.amount_owed),
    bill.overdue ? 'overdue' : bill.paid ? 'paid' : 'open',
    bill.invoice_number ?? '',
  ])
  say(table(['FROM', 'TO', 'TIME', 'AMOUNT', 'STATE', 'INVOICE'], rows))
}
