import { expect, test } from 'vitest'
import { lostReceipt, receipt } from '../../../src/domain/money/receipt.ts'

const run = {
  requestedAt: 0,
  billedFrom: 12_400,
  meteredUntil: 75_900,
  mustStopAt: null,
  endedBecause: null,
  exitCode: null,
  costUnits: 300_000,
  refused: 0,
  shortSeconds: 0,
  creditSeconds: 0,
}

test('says what was used and what was free', () => {
  expect(receipt(run)).toBe('Server stopped. You used 1m 2s: $0.03. Startup (13s) was free.')
  expect(receipt({ ...run, refused: 1 })).toBe(
    'Server stopped. You used 1m 2s: $0.03. Startup (13s, 1 refused launch) was free.',
  )
  expect(receipt({ ...run, refused: 2 })).toContain('Startup (13s, 2 refused launches) was free.')
  expect(receipt({ ...run, billedFrom: null, meteredUntil: null })).toBe("Start cancelled. You weren't charged.")
})

test('says what it cost, or that the plan covers it', () => {
  const used = (costUnits: number, meteredUntil = run.meteredUntil) =>
    receipt({ ...run, costUnits, meteredUntil }).split(' Startup')[0]
  expect(used(17_900_000)).toBe('Server stopped. You used 1m 2s: $1.79.')
  expect(used(4861)).toBe('Server stopped. You used 1m 2s: less than $0.01.')
  expect(used(0)).toBe('Server stopped. You used 1m 2s, covered by your plan.')
  expect(used(0, run.billedFrom)).toBe('Server stopped. You used 0s: $0.00.')
})

test('in a trial, before its end and at it', () => {
  expect(receipt({ ...run, mustStopAt: 80_000 })).toBe(
    'Server stopped. You used 1m 2s of your free trial. Startup (13s) was free.',
  )
  expect(receipt({ ...run, mustStopAt: 75_900, endedBecause: 'trial_over', refused: 2 })).toBe(
    'Your 30 free minutes are used up, so we stopped the server. You owe nothing. Pick a plan to keep flying.',
  )
})

test('for a server that was lost', () => {
  expect(lostReceipt('It is gone.', run)).toBe('It is gone. You used 1m 2s: $0.03. Startup (13s) was free.')
  expect(lostReceipt('It never ran.', { ...run, billedFrom: null, meteredUntil: null })).toBe(
    "It never ran. You weren't charged.",
  )
})

test('a run without a start or an end of its meter was not metered', () => {
  const never = { ...run, billedFrom: null, meteredUntil: null }
  for (const half of [
    { ...run, billedFrom: null },
    { ...run, meteredUntil: null },
  ]) {
    expect(receipt(half)).toBe(receipt(never))
    expect(lostReceipt('It is gone.', half)).toBe(lostReceipt('It is gone.', never))
  }
  expect(receipt(run)).not.toBe(receipt(never))
})

test('says why it ended, whatever stopped the meter', () => {
  const timed = { ...run, endedBecause: 'time_up' as const }
  expect(receipt(timed)).toBe('Server stopped as scheduled. You used 1m 2s: $0.03. Startup (13s) was free.')
  expect(receipt({ ...timed, billedFrom: null, meteredUntil: null })).toBe(
    "The time you set ran out before your server was ready. You weren't charged.",
  )
  for (const [endedBecause, why] of [
    ['you', ''],
    ['suspended', ''],
    ['idle', ' because it was idle'],
    ['plan', ' because your plan no longer includes it'],
    ['budget', ' because your budget was used up'],
  ] as const)
    expect(receipt({ ...run, endedBecause })).toContain(`Server stopped${why}. You used 1m 2s`)
})
