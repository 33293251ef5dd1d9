import { expect, test } from 'vitest'
import { HELD, startCost, startRefusal } from '../../../src/domain/money/start-cost.ts'
import type { Summary } from '../../../src/domain/wire/billing.ts'

function summary(plan: { hours: number; demo?: boolean } | null, hoursUsed: number, owed = 0): Summary {
  return {
    monthlyUsage: { hoursUsed, serverSessions: 1, runningServers: 0, amountOwedDollars: owed },
    suspended: false,
    start_refusal: null,
    as_of: '2028-01-10T00:00:00.000Z',
    subscription: plan && {
      plan_type: plan.demo ? 'demo' : 'basic',
      status: 'active',
      current_period_start: '2028-01-01T00:00:00.000Z',
      current_period_end: null,
      hours: plan.hours,
      sub_type: plan.demo ? 'demo' : 'paid',
      cancel_at_period_end: false,
      next_plan_type: null,
      next_hours: null,
    },
  }
}

test('before a start: says what it costs and what is still free', () => {
  expect(startCost(summary({ hours: 0.5, demo: true }, 0.25))).toBe('Free in your trial. You need no card.')
  expect(startCost(summary({ hours: 5 }, 1.5))).toContain('3.50 hours left in your plan, then $1.75/h')
  expect(startCost(summary({ hours: 5 }, 6))).toContain('$1.75/h, billed by the second once your server answers.')
  expect(startCost(summary(null, 0))).toMatch(/^\$1\.75\/h/)
})

test('while Start is disabled: says why, and where to do something about it', () => {
  const live = { active: false, pending: true }
  const trial = (hoursUsed: number) => summary({ hours: 0.5, demo: true }, hoursUsed)
  expect(startRefusal(trial(0.25), [{ active: false, pending: false }])).toBeNull()
  expect(startRefusal(trial(0.25), [live])).toEqual({ error: expect.stringContaining('One server at a time') })
  expect(startRefusal(trial(0.5), [])).toEqual({
    error: 'Your trial minutes are used up. Choose a plan to start servers again.',
    page: '/subscriptions',
  })
  expect(startRefusal(summary({ hours: 5 }, 6), [])).toBeNull()
  const start_refusal = { code: 'suspended' as const, error: 'Pay first.', page: '/billing_history' }
  for (const servers of [[], [live]])
    expect(startRefusal({ ...trial(0.5), start_refusal }, servers)).toEqual(start_refusal)
})

test('a trial lasts until its last second, and nobody needs a plan to start', () => {
  const trial = (seconds: number) => startRefusal(summary({ hours: 0.5, demo: true }, seconds / 3600), [])
  expect(trial(1_799)).toBeNull()
  expect(trial(1_800)).not.toBeNull()
  expect(startRefusal(summary(null, 100), [])).toBeNull()
})

test('tells a suspended account whom to contact', () => {
  expect(HELD).toBe("We suspended your account, so you can't start servers. Contact us to find out why.")
})
