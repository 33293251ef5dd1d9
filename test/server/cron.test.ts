import { expect, test } from 'vitest'
import { readWranglerConfig } from '../../dev/wrangler-config.ts'
import type { Context } from '../../src/server/context.ts'
import { runCron, TASKS } from '../../src/server/cron.ts'
import { recordLog } from '../../testing/stack/recorded-log.ts'

test('every trigger has its tasks, and every task its trigger', () => {
  expect(Object.keys(TASKS)).toEqual(readWranglerConfig().crons)
})

test.each([
  ['* * * * *', ['reviveWatcher', 'wakeOverdue', 'stopServersOfClosed', 'wakeSenders']],
  ['0-58 * * * *', ['reconcilePlans', 'closeDueCycles', 'advanceInvoices', 'stopOverdueServers', 'mailUsedHours']],
  ['1-59 * * * *', ['checkStarts', 'watchMatters', 'deliverMail', 'freeClosedAddresses']],
  ['17 4 * * *', ['forgetTraces', 'renewSecrets']],
])('%s runs all of its own tasks, even when each of them fails', async (cron, expected) => {
  const { log, takeLines } = recordLog()
  await runCron({ log } as Context, cron)
  expect(takeLines().map(({ task }) => task)).toEqual(expected)
})

test('an unknown trigger is an error', async () => {
  await expect(runCron({} as Context, '1 2 3 4 5')).rejects.toThrow('No task belongs to the trigger "1 2 3 4 5"')
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
