import { expect, test } from 'vitest'
import { runCost, startCost } from '../../src/domain/start-cost.ts'
import type { Summary } from '../../src/domain/wire.ts'

function summary(plan: { hours: number; demo?: boolean } | null, hoursUsed: number, owed = 0): Summary {
  return {
    monthlyUsage: { hoursUsed, serverSessions: 1, runningServers: 0, amountOwedDollars: owed },
    as_of: '2028-01-10T00:00:00.000Z',
    subscription: plan && {
      plan_type: plan.demo ? 'demo' : 'basic',
      status: 'active',
      current_period_start: '2028-01-01T00:00:00.000Z',
      current_period_end: null,
      hours: plan.hours,
      sub_type: plan.demo ? 'demo' : 'paid',
      cancel_at_period_end: false,
    },
  }
}

test('before a start: what it costs, and what is still free', () => {
  expect(startCost(summary({ hours: 0.5, demo: true }, 0.25))).toContain('Free: 15.00 trial minutes')
  expect(startCost(summary({ hours: 0.5, demo: true }, 0.5))).toBe('Your trial minutes are used up.')
  expect(startCost(summary({ hours: 5 }, 1.5))).toContain('Free for 3.50 more hours of your plan, then $1.75 an hour')
  expect(startCost(summary({ hours: 5 }, 6))).toContain('Costs $1.75 an hour ($0.0004861 a second)')
  expect(startCost(summary(null, 0))).toContain('Costs $1.75 an hour')
})

test('while it runs: whole seconds, and never more dollars than are owed', () => {
  const started = 1_000_500
  expect(runCost(started, started + 3_600_999, summary(null, 1))).toEqual({ seconds: 3600, cost: '$1.75' })
  expect(runCost(started, started + 60_000, summary({ hours: 5 }, 4))).toEqual({ seconds: 59, cost: 'in your plan' })
  expect(runCost(started, started + 7_200_500, summary({ hours: 5 }, 5.5, 0.87)).cost).toBe('$0.87')
  expect(runCost(started, started + 60_000, summary({ hours: 0.5, demo: true }, 0.1)).cost).toBe('free trial')
  expect(runCost(started, started - 1000, summary(null, 0)).seconds).toBe(0)
})
