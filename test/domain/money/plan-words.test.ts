import { expect, test } from 'vitest'
import { haveNow, haveStill, haveThen, hoursText, upgradeOf } from '../../../src/domain/money/plan-words.ts'
import type { Subscription } from '../../../src/domain/wire/billing.ts'

const basic = {
  plan_type: 'basic',
  hours: 5,
  next_hours: null,
  next_plan_type: null,
  current_period_end: '2026-12-22T02:30:00.000Z',
} as Subscription
const plan = (change: Partial<Subscription> = {}) => ({ ...basic, ...change })

test('says that an upgrade waits until it lapses, and that it lapsed for a week', () => {
  const week = 7 * 86_400_000
  const at = (now: number) => upgradeOf({ upgradeUntil: 1000 }, now)
  expect([at(0), at(999)]).toEqual([
    { until: 1000, waits: true },
    { until: 1000, waits: true },
  ])
  expect([at(1000), at(999 + week)]).toEqual([
    { until: 1000, waits: false },
    { until: 1000, waits: false },
  ])
  expect([at(1000 + week), upgradeOf({ upgradeUntil: null }, 0), upgradeOf(null, 0)]).toEqual([null, null, null])
})

test('says the hours, and from when they differ', () => {
  expect(hoursText(plan())).toBe('5 hours per month')
  expect(hoursText(plan({ next_hours: 5 }))).toBe('5 hours per month')
  expect(hoursText(plan({ next_hours: 30, current_period_end: null }))).toBe('5 hours per month')
  expect(hoursText(plan({ hours: 24.36, next_hours: 30 }))).toBe('24.36 hours until Dec 22, 2026, then 30 per month')
})

test('says what a plan brings right after they pay', () => {
  expect(haveNow(plan())).toBe(
    "You're on Basic now: 5 hours per month, on servers with up to 1 NVIDIA L4. It renews on Dec 22, 2026.",
  )
  expect(haveNow(plan({ plan_type: 'premium', hours: 30, current_period_end: null }))).toBe(
    "You're on Premium now: 30 hours per month, on servers with up to 4 NVIDIA L4.",
  )
  expect(haveNow(plan({ plan_type: 'demo', current_period_end: null }))).toBe(
    "You're on Free trial now: 5 hours per month.",
  )
})

test('says what follows a change that waits', () => {
  expect(haveThen(plan({ plan_type: 'premium', next_plan_type: 'basic' }))).toBe(
    'You keep Premium until Dec 22, 2026. Then your plan becomes Basic. We stop a server that your plan no longer includes then, and email you a day and an hour before.',
  )
  for (const change of [{ next_plan_type: null }, { next_plan_type: 'basic', current_period_end: null }] as const)
    expect(haveThen(plan(change))).toBe('Your plan has changed.')
  // Another tab took it back at the same moment.
  expect(haveThen(plan({ plan_type: 'premium', next_plan_type: 'premium' }))).toBe(
    'You keep Premium. It renews on Dec 22, 2026.',
  )
})

test('says what they keep', () => {
  expect(haveStill(plan())).toBe('You keep Basic. It renews on Dec 22, 2026.')
  expect(haveStill(plan({ current_period_end: null }))).toBe('You keep Basic.')
})
