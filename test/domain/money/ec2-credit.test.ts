import { expect, test } from 'vitest'
import { runSeconds, runSecondsWithin } from '../../../src/domain/money/billing.ts'
import { creditsOn, shortSeconds, takeOff } from '../../../src/domain/money/ec2-credit.ts'

const AT = Date.UTC(2028, 0, 31, 8)
const meter = { billedFrom: AT + 400, meteredUntil: AT + 100_900 }
const whole = { launchedAt: AT - 60_000, endedAt: AT + 100_000 }

test('a machine that ran as long as the meter is short of nothing', () => {
  expect(shortSeconds(meter, whole)).toBe(0)
  expect(shortSeconds(meter, { ...whole, endedAt: AT + 500_000 })).toBe(0)
  expect(shortSeconds(meter, { launchedAt: null, endedAt: null })).toBe(0)
  // The meter's first whole second begins a second later.
  expect(shortSeconds(meter, { ...whole, launchedAt: AT + 1_000 })).toBe(0)
})

test('each whole second without a machine counts, at both ends', () => {
  expect(shortSeconds(meter, { ...whole, endedAt: AT + 99_000 })).toBe(1)
  expect(shortSeconds(meter, { ...whole, launchedAt: AT + 2_000 })).toBe(1)
  expect(shortSeconds(meter, { launchedAt: AT + 11_000, endedAt: AT + 90_000 })).toBe(20)
  expect(shortSeconds(meter, { ...whole, endedAt: AT - 1_000_000 })).toBe(99)
  expect(shortSeconds(meter, { ...whole, launchedAt: AT + 1_000_000 })).toBe(99)
})

test('comes off the end of the meter, but nothing that a written bill has', () => {
  expect(takeOff(meter, 0, 0)).toEqual({ meteredUntil: meter.meteredUntil, left: 0 })
  expect(takeOff(meter, 1, 0)).toEqual({ meteredUntil: AT + 99_000, left: 0 })
  expect(takeOff(meter, 99, 0)).toEqual({ meteredUntil: AT + 1_000, left: 0 })
  expect(takeOff(meter, 50, AT + 80_000)).toEqual({ meteredUntil: AT + 80_000, left: 30 })
  expect(takeOff(meter, 50, AT + 80_001)).toEqual({ meteredUntil: AT + 81_000, left: 31 })
  expect(takeOff(meter, 5, AT + 200_000)).toEqual({ meteredUntil: meter.meteredUntil, left: 5 })
  for (const billedUntil of [AT + 80_000, AT + 80_001, AT + 80_999]) {
    const { meteredUntil, left } = takeOff(meter, 50, billedUntil)
    const bill = { start: AT - 1_000, end: billedUntil }
    expect(runSecondsWithin(meter.billedFrom, meteredUntil, bill)).toBe(
      runSecondsWithin(meter.billedFrom, meter.meteredUntil, bill),
    )
    expect(runSeconds(meter.billedFrom, meteredUntil)).toBe(99 - 50 + left)
  }
})

test('is credited on the latest bills first', () => {
  const bills = [
    { id: 'b', seconds: 10 },
    { id: 'a', seconds: 20 },
  ]
  expect(creditsOn(bills, 10)).toEqual([{ id: 'b', seconds: 10 }])
  expect(creditsOn(bills, 11)).toEqual([
    { id: 'b', seconds: 10 },
    { id: 'a', seconds: 1 },
  ])
  expect(creditsOn(bills, 0)).toEqual([])
  expect(creditsOn([], 5)).toEqual([])
})
