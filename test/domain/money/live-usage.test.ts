import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SAMPLE_SERVER } from '../../../dev/sample-server.ts'
import { instantText } from '../../../src/domain/instant.ts'
import { overageUnits, recordCents, runSeconds, trialMinutesLeft } from '../../../src/domain/money/billing.ts'
import { runCost, usageAt } from '../../../src/domain/money/live-usage.ts'
import type { Summary } from '../../../src/domain/wire/billing.ts'
import type { Server } from '../../../src/domain/wire/fleet.ts'

const START = Date.UTC(2026, 10, 21, 2) + 437

function run(billedFrom: number, end: number | null = null): Server {
  return {
    ...SAMPLE_SERVER,
    active: end === null,
    pending: false,
    startedAt: new Date(billedFrom - 180_000).toISOString(),
    billed_from: new Date(billedFrom).toISOString(),
    end_time: end === null ? null : new Date(end).toISOString(),
  }
}

/** The server's count at that moment: `before` seconds of earlier runs, plus this run. */
function counted(at: number, before: number, started: number, plan: 'demo' | number | null): Summary {
  const seconds = before + runSeconds(started, Math.max(at, started))
  const hours = plan === 'demo' ? 0.5 : (plan ?? 0)
  return {
    suspended: false,
    start_refusal: null,
    as_of: new Date(at).toISOString(),
    monthlyUsage: {
      hoursUsed: seconds / 3600,
      serverSessions: 1,
      runningServers: 1,
      amountOwedDollars: recordCents(seconds, { includedHours: hours, trial: plan === 'demo' }) / 100,
    },
    subscription:
      plan === null
        ? null
        : {
            plan_type: plan === 'demo' ? 'demo' : 'basic',
            status: 'active',
            current_period_start: new Date(START - 86_400_000).toISOString(),
            current_period_end: null,
            hours,
            sub_type: plan === 'demo' ? 'demo' : 'paid',
            cancel_at_period_end: false,
            next_plan_type: null,
            next_hours: null,
          },
  }
}

const plans = fc.constantFrom<'demo' | number | null>('demo', null, 5, 30)
const ms = fc.integer({ min: -60_000, max: 40 * 3_600_000 })

test("the page's count matches what the server would count at that moment", () => {
  fc.assert(
    fc.property(plans, fc.nat(40 * 3600), ms, fc.nat(3_600_000), (plan, before, asOf, later) => {
      const summary = counted(START + asOf, before, START, plan)
      const now = START + asOf + later
      const live = usageAt(summary, [run(START)], now)
      const truth = counted(now, before, START, plan)
      expect(live.monthlyUsage.amountOwedDollars).toBe(truth.monthlyUsage.amountOwedDollars)
      expect(live.monthlyUsage.hoursUsed).toBeCloseTo(truth.monthlyUsage.hoursUsed, 10)
    }),
  )
})

test('a run that ended counts to its end, whenever the summary was taken', () => {
  fc.assert(
    fc.property(ms, fc.nat(7_200_000), fc.nat(7_200_000), (asOf, length, later) => {
      const end = START + length
      const summary = counted(Math.min(START + asOf, end), 0, START, null)
      const live = usageAt(summary, [run(START, end)], Math.max(START + asOf, end) + later)
      expect(Math.round(live.monthlyUsage.hoursUsed * 3600)).toBe(runSeconds(START, end))
    }),
  )
})

test("a run's dollars are what it adds to the bill: nothing in a trial or within the plan's hours", () => {
  fc.assert(
    fc.property(plans, fc.nat(40 * 3600), fc.nat(40 * 3_600_000), (plan, before, ran) => {
      const now = START + ran
      const { seconds, units, free } = runCost(run(START), counted(now, before, START, plan), now)
      expect(seconds).toBe(runSeconds(START, now))
      const hours = typeof plan === 'number' ? plan : 0
      const added = overageUnits(before + seconds, hours) - overageUnits(before, hours)
      expect(units).toBe(plan === 'demo' ? 0 : added)
      if (plan === 'demo') expect(free).toBe('trial')
      else expect(free).toBe(before + seconds < hours * 3600 ? 'plan' : null)
    }),
  )
})

test('two hours without a plan cost $3.50, and a trial counts down in hundredths of a minute', () => {
  const twoHours = START - 437 + 7_200_000
  const summary = counted(twoHours, 0, START - 437, null)
  expect(runCost(run(START - 437), summary, twoHours).units).toBe(7200 * 4861)
  expect(summary.monthlyUsage.amountOwedDollars).toBe(3.5)
  const trial = usageAt(counted(START, 0, START, 'demo'), [run(START)], START + 90_563)
  expect(trialMinutesLeft(trial.monthlyUsage.hoursUsed).toFixed(2)).toBe('28.50')
})

test('what does not run changes nothing', () => {
  const summary = counted(START + 60_000, 100, START, 5)
  const loading = { ...run(START), startedAt: null, billed_from: null }
  for (const servers of [[], [loading], [run(START, START + 30_000)]])
    expect(usageAt(summary, servers, START + 120_000)).toBe(summary)
  expect(usageAt(summary, [run(START)], START + 60_000)).toBe(summary)
  expect(runCost(loading, summary, START + 120_000)).toMatchObject({ seconds: 0, units: 0 })
})

test('the last second of the plan is free, and nothing after it is', () => {
  const free = (used: number) => runCost(run(START), counted(START, used, START, 5), START).free
  expect([5 * 3600 - 1, 5 * 3600, 5 * 3600 + 1].map(free)).toEqual(['plan', null, null])
})

test('the cost of a run older than the cycle says since when it counts', () => {
  const summary = counted(START, 0, START, 5)
  const began = summary.subscription?.current_period_start ?? ''
  const { since } = runCost(run(Date.parse(began) - 1), summary, START)
  expect(since).toBe(`since ${instantText(began, false, 'day')}`)
  expect(runCost(run(Date.parse(began)), summary, START).since).toBe('so far')
})
