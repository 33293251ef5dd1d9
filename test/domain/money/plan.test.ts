import { expect, test } from 'vitest'
import {
  CANCEL_FAILED,
  gpusOf,
  PLANS,
  type PlanType,
  planName,
  SUBSCRIPTION_CANCELLED,
} from '../../../src/domain/money/plan.ts'

test('what is for sale, and what it includes', () => {
  expect(PLANS.map(({ type, dollarsPerMonth, hours }) => [type, dollarsPerMonth, hours])).toEqual([
    ['basic', 25, 5],
    ['premium', 250, 30],
    ['enterprise', null, 0],
  ])
})

test('every plan has one name, wherever it is read', () => {
  expect(PLANS.map(({ type }) => planName(type))).toEqual(PLANS.map(({ name }) => name))
  expect((['demo', 'basic', 'premium', 'enterprise'] as const).map(planName)).toEqual([
    'Free trial',
    'Basic',
    'Premium',
    'Enterprise',
  ])
})

test('the sentences of a cancellation', () => {
  expect(CANCEL_FAILED).toBe('Failed to cancel subscription')
  expect(SUBSCRIPTION_CANCELLED).toBe('Your subscription has been cancelled and will not renew.')
})

test('the largest server goes by the plan; with a trial, an unpaid plan or none it is that of Basic', () => {
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
