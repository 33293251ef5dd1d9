import { expect, test, vi } from 'vitest'
import { readWranglerConfig } from '../../dev/wrangler-config.ts'
import { runCron, TASKS } from '../../src/server/cron.ts'
import { deliverMail } from '../../src/server/mail/outbox.ts'
import { accountContext } from '../../testing/people/account-app.ts'
import { recordLog } from '../../testing/stack/recorded-log.ts'
import { testContext } from '../../testing/stack/test-context.ts'

test('every trigger has its tasks, and every task its trigger', () => {
  expect(Object.keys(TASKS)).toEqual(readWranglerConfig().crons)
})

test.each([
  ['* * * * *', ['reviveWatcher', 'endLargeServers', 'wakeOverdue', 'stopServersOfClosed', 'wakeSenders', 'keepWarm']],
  [
    '0-58 * * * *',
    [
      'reconcilePlans',
      'closeDueCycles',
      'creditDueRuns',
      'advanceInvoices',
      'suspendDebtors',
      'stopOverdueServers',
      'mailUsedHours',
      'mailLongRuns',
    ],
  ],
  [
    '1-59 * * * *',
    [
      'checkStarts',
      'releaseGroups',
      'tellGroups',
      'watchMatters',
      'removeLostFactors',
      'noteStoppedSignIns',
      'deliverMail',
      'recordMailboxes',
      'freeClosedAddresses',
      'deleteLogsOfClosed',
      'countStartTimes',
    ],
  ],
  ['17 4 * * *', ['forgetTraces', 'forgetRemovals', 'renewSecrets', 'renewMailboxKey']],
])('%s runs all of its own tasks, even when each of them fails', async (cron, expected) => {
  const { log, takeLines } = recordLog()
  await runCron(testContext({ log }), cron)
  const failed = takeLines().filter(({ event }) => event === 'cron_task_failed')
  expect(failed.map(({ task }) => task)).toEqual(expected)
})

test('a task that fails is mailed to the operator once an hour, each one on its own', async () => {
  const { ctx, sent, clock, takeLines } = accountContext()
  const tasks = TASKS['17 4 * * *'] ?? {}
  const forget = vi.spyOn(tasks, 'forgetTraces').mockRejectedValue(new Error('no such column: stranger@example.com'))
  const renew = vi.spyOn(tasks, 'renewSecrets').mockResolvedValue(undefined)
  const subjects = async () => {
    await runCron(ctx, '17 4 * * *')
    await deliverMail(ctx)
    return sent.splice(0).map(({ to, subject, text }) => {
      expect(text).not.toContain('column')
      return [to, subject]
    })
  }
  expect(await subjects()).toEqual([['op@b.c', 'The scheduled task forgetTraces failed']])
  expect(takeLines()).toMatchObject([
    { event: 'cron_task_failed', task: 'forgetTraces', error: [{}] },
    { event: 'alert', task: 'forgetTraces', matter: 'cron_failed:forgetTraces' },
  ])
  clock.ms += 3_600_000 - 1
  renew.mockRejectedValue(new Error('no key'))
  expect(await subjects()).toEqual([['op@b.c', 'The scheduled task renewSecrets failed']])
  clock.ms += 1
  expect(await subjects()).toEqual([['op@b.c', 'The scheduled task forgetTraces failed']])
  for (const each of [forget, renew]) each.mockResolvedValue(undefined)
  clock.ms += 3_600_000
  expect(await subjects()).toEqual([])
  vi.restoreAllMocks()
})

test('without a database, a failed task reaches the log, and the tasks after it run', async () => {
  const { ctx, takeLines } = accountContext()
  const broken = { ...ctx, db: { run: () => ({}), $client: {} } as never }
  await runCron(broken, '17 4 * * *')
  expect(takeLines().map(({ event, task }) => [event, task])).toEqual(
    ['forgetTraces', 'forgetRemovals', 'renewSecrets', 'renewMailboxKey'].flatMap((task) =>
      ['cron_task_failed', 'alert', 'alert_not_mailed'].map((event) => [event, task]),
    ),
  )
})

test('an unknown trigger is an error', async () => {
  await expect(runCron(testContext({}), '1 2 3 4 5')).rejects.toThrow('No task belongs to the trigger "1 2 3 4 5"')
})

/** The minutes of an hour named by the first field of an expression. */
function minutesOf(cron: string): string {
  const [field = ''] = cron.split(' ')
  const [range = '', step = '1'] = field.split('/')
  const [from = 0, to = from] = range === '*' ? [0, 59] : range.split('-').map(Number)
  return Array.from({ length: 60 }, (_, minute) => minute)
    .filter((minute) => minute >= from && minute <= to && (minute - from) % Number(step) === 0)
    .join()
}

test('no two triggers are equivalent in different spelling, because a scheduler may merge them', () => {
  const { crons } = readWranglerConfig()
  const meanings = crons.map((cron) => [minutesOf(cron), ...cron.split(' ').slice(1)].join(' '))
  expect(new Set(meanings).size).toBe(crons.length)
})
