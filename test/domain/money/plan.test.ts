import { expect, test } from 'vitest'
import {
  CANCEL_FAILED,
  changeOf,
  gpusOf,
  OVERAGE_DOLLARS_PER_SECOND,
  PLANS,
  type PlanType,
  planForSale,
  planName,
  SUBSCRIPTION_CANCELLED,
  stands,
  upgradeWaits,
} from '../../../src/domain/money/plan.ts'

test('the plans for sale, and what they include', () => {
  expect(PLANS.map(({ type, dollarsPerMonth, hours }) => [type, dollarsPerMonth, hours])).toEqual([
    ['basic', 25, 5],
    ['premium', 250, 30],
    ['enterprise', null, 0],
  ])
})

test('customers buy a plan with a price themselves', () => {
  const types = ['basic', 'premium', 'enterprise', 'demo', 'constructor', '', null, undefined]
  expect(types.map((type) => planForSale(type)?.type)).toEqual(['basic', 'premium', ...Array(6).fill(undefined)])
})

test('a plan has the same name everywhere', () => {
  expect(PLANS.map(({ type }) => planName(type))).toEqual(PLANS.map(({ name }) => name))
  expect((['demo', 'basic', 'premium', 'enterprise'] as const).map(planName)).toEqual([
    'Free trial',
    'Basic',
    'Premium',
    'Enterprise',
  ])
})

test('the cancellation sentences', () => {
  expect(CANCEL_FAILED).toBe('Failed to cancel subscription')
  expect(SUBSCRIPTION_CANCELLED).toBe('Your subscription has been cancelled and will not renew.')
})

test("the largest server depends on the plan; a trial, an unpaid plan, or no plan gets Basic's", () => {
  const gpus = (planType: PlanType, status = 'active') => gpusOf({ planType, status })
  expect([gpusOf(null), gpus('demo'), gpus('basic'), gpus('premium'), gpus('enterprise')]).toEqual([
    1,
    1,
    1,
    4,
    Number.MAX_SAFE_INTEGER,
  ])
  expect(['past_due', 'unpaid', 'incomplete', 'paused'].map((status) => gpus('premium', status))).toEqual([1, 1, 1, 1])
})

test('a second beyond the plan costs $0.0004861', () => {
  expect(OVERAGE_DOLLARS_PER_SECOND).toBe(0.0004861)
})

test.each([
  [{ endedAt: null, cancelAt: null }, true],
  [{ endedAt: null, cancelAt: 101 }, true],
  [{ endedAt: null, cancelAt: 100 }, false],
  [{ endedAt: null, cancelAt: 99 }, false],
  [{ endedAt: 50, cancelAt: null }, false],
  [{ endedAt: 150, cancelAt: 200 }, false],
])('%j stands at 100: %s', (plan, expected) => {
  expect(stands(plan, 100)).toBe(expected)
})

test('people change between Basic and Premium only', () => {
  const types = ['demo', 'basic', 'premium', 'enterprise'] as const
  const changes = types.flatMap((from) => [...types, ''].map((to) => [from, to, changeOf(from, to)]))
  expect(changes.filter(([, , change]) => change)).toEqual([
    ['basic', 'premium', 'upgrade'],
    ['premium', 'basic', 'downgrade'],
  ])
})

test('an upgrade waits for the bank until it lapses', () => {
  const waits = (upgradeUntil: number | null, now: number) => upgradeWaits({ upgradeUntil }, now)
  expect([waits(1000, 999), waits(1000, 1000), waits(null, 0), upgradeWaits(null, 0)]).toEqual([
    true,
    false,
    false,
    false,
  ])
})
