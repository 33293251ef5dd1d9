import { expect, test } from 'vitest'
import { readWranglerConfig } from '../../dev/wrangler-config.ts'
import { TASKS } from '../../src/server/cron.ts'

test('every trigger has its tasks, and every task its trigger', () => {
  expect(Object.keys(TASKS)).toEqual(readWranglerConfig().crons)
})

/** The minutes of an hour that the first field of an expression names. */
function minutesOf(cron: string): string {
  const [field = ''] = cron.split(' ')
  const [range = '', step = '1'] = field.split('/')
  const [from = 0, to = from] = range === '*' ? [0, 59] : range.split('-').map(Number)
  return Array.from({ length: 60 }, (_, minute) => minute)
    .filter((minute) => minute >= from && minute <= to && (minute - from) % Number(step) === 0)
    .join()
}

test('no two triggers mean the same, however they are spelled: what keeps schedules may keep them once', () => {
  const { crons } = readWranglerConfig()
  const meanings = crons.map((cron) => [minutesOf(cron), ...cron.split(' ').slice(1)].join(' '))
  expect(new Set(meanings).size).toBe(crons.length)
})
