import { expect, test } from 'vitest'
import { CANCEL_FAILED, PLANS, planName, SUBSCRIPTION_CANCELLED } from '../../src/domain/plan.ts'

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
