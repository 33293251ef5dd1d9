import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runSeconds, runSecondsWithin } from '../../../src/domain/money/billing.ts'
import {
  CLOSING_GRACE_MS,
  type ClosedCycle,
  closeCycles,
  isSettledBefore,
  type MeteredRun,
} from '../../../src/domain/money/closing.ts'
import { cycleFrom, type PlanSpan } from '../../../src/domain/money/cycle.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
// From the first day of a leap year to the end of the next January.
const born = Date.UTC(2028, 0, 1)
const end = Date.UTC(2029, 1, 5)

type TrueRun = { start: number; length: number; watch: number }

/**
 * What the database says about a run at an instant: the run is seen now and then, and is over shortly after its stop.
 */
function viewAt(now: number, { start, length, watch }: TrueRun): MeteredRun | null {
  const stop = start + length
  if (now < start - 20_000) return null
  const seen = Math.min(now, stop)
  return {
    requestedAt: start - 20_000,
    billedFrom: now < start ? null : start,
    confirmedAt: now < start ? null : now >= stop + 1_000 ? stop : start + Math.floor((seen - start) / watch) * watch,
    mustStopAt: null,
    endsAt: null,
    meteredUntil: now < stop ? null : stop,
    stopRequestedAt: now < stop ? null : stop,
    endedAt: now < stop + 5_000 ? null : stop + 5_000,
  }
}

const run = fc
  .tuple(
    fc.integer({ min: born + DAY, max: end - 40 * DAY }),
    fc.nat(35 * DAY),
    fc.integer({ min: 1_000, max: 2 * DAY }),
  )
  .map(([start, length, watch]) => ({ start, length, watch }))
/** The 31st, leap day, or any other day. */
const anchor = fc.oneof(
  fc.constant(Date.UTC(2028, 0, 31, 23, 59, 59, 999)),
  fc.constant(Date.UTC(2028, 1, 29, 12)),
  fc.integer({ min: born, max: end }),
)
const plans = fc
  .tuple(fc.boolean(), anchor, fc.constantFrom(0, 5, 30), fc.option(fc.nat(200 * DAY)))
  .map(([demo, at, hours, length]): PlanSpan[] => [
    ...(demo && at > born
      ? [{ planType: 'demo' as const, subType: 'demo' as const, hours: 0.5, anchor: born, endsAt: at }]
      : []),
    { planType: 'basic', subType: 'paid', hours, anchor: at, endsAt: length === null ? null : at + length },
  ])
/** When closing runs: after gaps from a minute to months, sometimes twice. */
const triggers = fc.array(fc.oneof(fc.integer({ min: 60_000, max: 3 * DAY }), fc.nat(90 * DAY)), { maxLength: 60 })

function timesOf(gaps: number[]): number[] {
  let at = born
  return gaps.map((gap) => (at += gap))
}

function close(spans: PlanSpan[], runs: TrueRun[], at: number[], closing = Infinity): ClosedCycle[] {
  const ledger: ClosedCycle[] = []
  let from = born
  for (const now of at) {
    const seen = runs.flatMap((r) => viewAt(now, r) ?? [])
    const { closed, billedUntil } = closeCycles(
      { from, closedAt: closing <= now ? closing : null, spans, runs: seen },
      now,
    )
    expect(billedUntil).toBeGreaterThanOrEqual(from)
    ledger.push(...closed)
    from = billedUntil
  }
  return ledger
}

describe('closing', () => {
  test('produces the same ledger whether it runs late, often, or after months', () => {
    fc.assert(
      fc.property(plans, fc.array(run, { maxLength: 8 }), triggers, (spans, runs, gaps) => {
        const at = timesOf(gaps).filter((t) => t < end)
        expect(close(spans, runs, [...at, ...at.slice(-1), end])).toEqual(close(spans, runs, [end]))
      }),
      { numRuns: 300 },
    )
  })

  test('includes everything that ran before the end of the last closed cycle, once', () => {
    fc.assert(
      fc.property(plans, fc.array(run, { maxLength: 8 }), (spans, runs) => {
        const seen = runs.flatMap((r) => viewAt(end, r) ?? [])
        const { closed, billedUntil } = closeCycles({ from: born, closedAt: null, spans, runs: seen }, end)
        const before = runs.filter((r) => r.start + r.length <= billedUntil)
        if (before.length < runs.length) return
        const ran = runs.reduce((sum, r) => sum + runSeconds(r.start, r.start + r.length), 0)
        expect(closed.reduce((sum, { seconds }) => sum + seconds, 0)).toBe(ran)
      }),
    )
  })

  test('bills a closed account in full within an hour, however closing ran before, and then nothing ever again', () => {
    const closing = fc.integer({ min: born + 40 * DAY, max: end - 40 * DAY })
    fc.assert(
      fc.property(plans, fc.array(run, { maxLength: 8 }), triggers, closing, (spans, planned, gaps, at) => {
        // Closing the account blocks new starts and stops the running server.
        const runs = planned
          .filter((r) => r.start < at)
          .map((r) => ({ ...r, length: Math.min(r.length, at - r.start) }))
        const before = timesOf(gaps).filter((t) => t < at)
        // After a year's outage it takes more than one trigger.
        const ledger = close(spans, runs, [...before, at + HOUR, at + HOUR, end], at)
        expect(close(spans, runs, [...before, at + HOUR, at + HOUR], at)).toEqual(ledger)
        expect(ledger.every(({ cycle }) => cycle.end <= at)).toBe(true)
        expect(ledger.reduce((sum, { seconds }) => sum + seconds, 0)).toBe(
          runs.reduce((sum, r) => sum + runSeconds(r.start, r.start + r.length), 0),
        )
      }),
    )
  })

  test('a run is settled before an instant only if its seconds before it can no longer change', () => {
    fc.assert(
      fc.property(run, fc.integer({ min: born, max: end }), fc.integer({ min: born, max: end }), (r, at, now) => {
        const view = viewAt(now, r)
        if (!view || now < at || !isSettledBefore(at, view)) return
        const last = viewAt(end, r) as MeteredRun
        const secondsBefore = (v: MeteredRun) =>
          v.billedFrom === null
            ? 0
            : runSecondsWithin(v.billedFrom, v.meteredUntil ?? Infinity, { start: -Infinity, end: at })
        expect(secondsBefore(view)).toBe(secondsBefore(last))
      }),
    )
  })

  test('a period that ends mid-second waits for the end of that second, which belongs to it', () => {
    const at = Date.UTC(2028, 5, 1) + 250
    const running = (confirmedAt: number): MeteredRun => ({
      requestedAt: at - HOUR,
      billedFrom: at - HOUR,
      confirmedAt,
      mustStopAt: null,
      endsAt: null,
      meteredUntil: null,
      stopRequestedAt: null,
      endedAt: null,
    })
    const seconds = (until: number) => runSecondsWithin(at - HOUR, until, { start: at - HOUR, end: at })
    // A run stopped exactly at the end lacks the second that one stopped 750 ms later has.
    expect(seconds(at + 750) - seconds(at)).toBe(1)
    expect([at, at + 749, at + 750].map((confirmedAt) => isSettledBefore(at, running(confirmedAt)))).toEqual([
      false,
      false,
      true,
    ])
  })

  test('an open checkout delays the cycles that end after it was opened, for 25 hours', () => {
    const cycleEnd = Date.UTC(2028, 1, 1)
    const closedAt = (openedAt: number) => {
      const account = { from: born, closedAt: null, spans: [], runs: [], checkoutOpenedAt: openedAt }
      for (let now = cycleEnd; now < cycleEnd + 2 * DAY; now += 60_000)
        if (closeCycles(account, now).billedUntil > born) return now - cycleEnd
      return null
    }
    expect(closedAt(cycleEnd - HOUR)).toBe(24 * HOUR)
    expect(closedAt(cycleEnd - 1)).toBe(25 * HOUR)
    for (const openedAt of [cycleEnd, cycleEnd + HOUR, cycleEnd - 30 * HOUR])
      expect(closedAt(openedAt)).toBe(CLOSING_GRACE_MS)
  })

  test('closes every cycle within 25 hours of its end, whenever checkouts are opened', () => {
    const openings = fc.array(fc.integer({ min: 1, max: 3 * DAY }), { maxLength: 120 })
    fc.assert(
      fc.property(openings, fc.integer({ min: 1, max: 48 * HOUR }), (gaps, openFor) => {
        let at = born
        const opened = gaps.map((gap) => (at += gap))
        let from = born
        let dueAt = born
        for (let now = born; now < born + 120 * DAY; now = Math.max(now + 60_000, dueAt)) {
          const current = opened.findLast((openedAt) => openedAt <= now)
          const checkoutOpenedAt = current !== undefined && now < current + openFor ? current : null
          const next = closeCycles({ from, closedAt: null, spans: [], runs: [], checkoutOpenedAt }, now)
          for (let { end } = cycleFrom([], from); end <= next.billedUntil; end = cycleFrom([], end).end)
            expect(now - end).toBeLessThanOrEqual(25 * HOUR + 5 * 60_000)
          from = next.billedUntil
          dueAt = next.dueAt
        }
        expect(from).toBeGreaterThanOrEqual(Date.UTC(2028, 3, 1))
      }),
      { numRuns: 200 },
    )
  })
})
