import { expect, test } from 'vitest'
import {
  CANCEL_FAILED,
  gpusOf,
  PLANS,
  type PlanType,
  planName,
  SUBSCRIPTION_CANCELLED,
} from '../../../src/domain/money/plan.ts'

test('the plans for sale, and what they include', () => {
  expect(PLANS.map(({ type, dollarsPerMonth, hours }) => [type, dollarsPerMonth, hours])).toEqual([
    ['basic', 25, 5],
    ['premium', 250, 30],
    ['enterprise', null, 0],
  ])
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
