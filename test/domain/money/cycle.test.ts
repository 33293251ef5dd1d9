import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runSeconds, runSecondsWithin } from '../../../src/domain/money/billing.ts'
import {
  type Cycle,
  cycleAt,
  cycleFrom,
  type PlanSpan,
  planAt,
  upgradedHours,
} from '../../../src/domain/money/cycle.ts'

const utc = (text: string) => Date.parse(`${text}Z`)
const day = 86_400_000
const paid = (anchor: number, endsAt: number | null = null): PlanSpan => ({
  planType: 'basic',
  subType: 'paid',
  hours: 5,
  anchor,
  endsAt,
})
const demo = (anchor: number, endsAt: number | null): PlanSpan => ({
  planType: 'demo',
  subType: 'demo',
  hours: 0.5,
  anchor,
  endsAt,
})

function cyclesBetween(spans: PlanSpan[], from: number, until: number): Cycle[] {
  const cycles: Cycle[] = []
  for (let cycle = cycleFrom(spans, from); cycle.start < until; cycle = cycleFrom(spans, cycle.end)) {
    cycles.push(cycle)
    if (cycle.end === Infinity) break
  }
  return cycles
}

/** A customer's plans: a trial, then plans with pauses between them. */
const life = fc
  .tuple(
    fc.integer({ min: Date.UTC(2027, 0, 1), max: Date.UTC(2028, 0, 1) }),
    fc.array(fc.tuple(fc.nat(90 * day), fc.nat(200 * day)), { minLength: 1, maxLength: 4 }),
  )
  .map(([start, pieces]) => {
    const spans: PlanSpan[] = []
    let at = start
    for (const [i, [pause, length]] of pieces.entries()) {
      spans.push(i === 0 ? demo(at, at + pause) : paid(at + pause, at + pause + length))
      at += i === 0 ? pause : pause + length
    }
    return { start, spans, end: at }
  })

describe('the current plan', () => {
  test('lasts from its anchor to its end', () => {
    const span = paid(1_000, 2_000)
    expect([999, 1_000, 1_999, 2_000].map((at) => planAt([span], at))).toEqual([null, span, span, null])
    expect(planAt([paid(0)], Number.MAX_SAFE_INTEGER)).toEqual(paid(0))
  })

  test('is the later of two plans, in whichever order they are listed', () => {
    const [older, newer] = [paid(1_000), demo(2_000, null)]
    for (const spans of [
      [older, newer],
      [newer, older],
    ]) {
      expect(planAt(spans, 2_000)).toBe(newer)
      expect(planAt(spans, 1_999)).toBe(older)
    }
  })

  test('says whether a cycle is a trial', () => {
    expect([demo(0, null), paid(0)].map((span) => cycleFrom([span], 0).trial)).toEqual([true, false])
    expect(cycleFrom([], 0)).toMatchObject({ trial: false, includedHours: 0, plan: null })
  })

  test("has the larger plan's hours in a cycle that began before the change", () => {
    const until = utc('2028-02-01T00:00:00')
    const changed = (hours: number): PlanSpan => ({
      ...paid(utc('2028-01-01T00:00:00')),
      earlier: { planType: 'premium', hours, until },
    })
    const at = (hours: number, from: number) => {
      const { includedHours, plan } = cycleFrom([changed(hours)], from)
      return [includedHours, plan?.hours, plan?.planType]
    }
    expect(at(30, until - 1)).toEqual([30, 30, 'premium'])
    expect(at(30, until)).toEqual([5, 5, 'basic'])
    expect(at(4, until - 1)).toEqual([5, 5, 'basic'])
    expect(at(5, until - 1)).toEqual([5, 5, 'basic'])
  })
})

describe('the cycles of a user', () => {
  test('are adjacent, are never empty, and contain every second of every run exactly once', () => {
    fc.assert(
      fc.property(life, fc.nat(400 * day), fc.nat(100 * day), ({ start, spans }, after, length) => {
        const run = { start: start + after, end: start + after + length }
        const cycles = cyclesBetween(spans, start, run.end)
        for (const [i, cycle] of cycles.entries()) {
          expect(cycle.end).toBeGreaterThan(cycle.start)
          if (i > 0) expect(cycle.start).toBe(cycles[i - 1]?.end)
        }
        const seconds = cycles.reduce((sum, cycle) => sum + runSecondsWithin(run.start, run.end, cycle), 0)
        expect(seconds).toBe(runSeconds(run.start, run.end))
      }),
    )
  })

  test('never contain two plans, and a plan grants its hours once a period', () => {
    fc.assert(
      fc.property(life, ({ start, spans, end }) => {
        for (const cycle of cyclesBetween(spans, start, end)) {
          const inside = spans.filter((s) => s.anchor < cycle.end && (s.endsAt ?? Infinity) > cycle.start)
          expect(inside.filter((s) => s.anchor !== s.endsAt)).toEqual(cycle.plan ? [cycle.plan] : [])
          expect(cycle.includedHours).toBe(cycle.plan?.hours ?? 0)
        }
      }),
    )
  })

  test('a trial is one cycle, however long, and ends where the plan begins', () => {
    const spans = [demo(utc('2028-01-10T00:00:00'), utc('2028-05-03T10:00:00')), paid(utc('2028-05-03T10:00:00'))]
    expect(cyclesBetween(spans, utc('2028-01-10T00:00:00'), utc('2028-06-10T00:00:00')).map(span)).toEqual([
      ['2028-01-10T00:00', '2028-05-03T10:00', 'demo'],
      ['2028-05-03T10:00', '2028-06-03T10:00', 'basic'],
      ['2028-06-03T10:00', '2028-07-03T10:00', 'basic'],
    ])
    expect(cycleFrom([demo(0, null)], 0).end).toBe(Infinity)
  })

  test('a plan is followed by the rest of the calendar month, then by whole months', () => {
    const spans = [paid(utc('2028-01-31T09:00:00'), utc('2028-02-29T09:00:00'))]
    expect(cyclesBetween(spans, utc('2028-01-31T09:00:00'), utc('2028-04-02T00:00:00')).map(span)).toEqual([
      ['2028-01-31T09:00', '2028-02-29T09:00', 'basic'],
      ['2028-02-29T09:00', '2028-03-01T00:00', null],
      ['2028-03-01T00:00', '2028-04-01T00:00', null],
      ['2028-04-01T00:00', '2028-05-01T00:00', null],
    ])
  })

  test('a plan starts its own cycle in the middle of a month, whether or not its end is known', () => {
    const [from, anchor] = [utc('2028-01-01T00:00:00'), utc('2028-01-10T09:00:00')]
    for (const endsAt of [null, anchor + day])
      expect(span(cycleFrom([paid(anchor, endsAt)], from))).toEqual(['2028-01-01T00:00', '2028-01-10T09:00', null])
  })

  test('the current one is found from wherever closing stopped', () => {
    const spans = [paid(utc('2028-01-31T09:00:00'))]
    const at = utc('2028-07-01T00:00:00')
    expect(span(cycleAt(spans, utc('2028-02-29T09:00:00'), at))).toEqual([
      '2028-06-30T09:00',
      '2028-07-31T09:00',
      'basic',
    ])
    expect(cycleAt(spans, spans[0]?.anchor ?? 0, utc('2028-02-29T09:00:00')).start).toBe(utc('2028-02-29T09:00:00'))
    expect(cycleAt(spans, spans[0]?.anchor ?? 0, utc('2028-02-29T09:00:00') - 1).start).toBe(spans[0]?.anchor)
  })
})

function span(cycle: Cycle) {
  const text = (at: number) => new Date(at).toISOString().slice(0, 16)
  return [text(cycle.start), text(cycle.end), cycle.plan?.planType ?? null]
}

test('a cycle that begins after a plan stopped being paid has none of its hours; one that began earlier has all', () => {
  const anchor = utc('2028-01-31T10:00:00')
  const plan = { ...paid(anchor), paidUntil: utc('2028-03-31T10:00:00') }
  const earlier = { planType: 'premium' as const, hours: 30, until: utc('2028-05-31T10:00:00') }
  const hours = (span: PlanSpan) =>
    cyclesBetween([span], anchor, utc('2028-05-01T00:00:00')).map((cycle) => cycle.includedHours)
  expect(hours(plan)).toEqual([5, 5, 0, 0])
  expect(hours({ ...plan, earlier })).toEqual([30, 30, 0, 0])
  expect(cycleFrom([{ ...plan, paidUntil: anchor }], anchor).includedHours).toBe(0)
  expect(cycleFrom([{ ...plan, paidUntil: anchor + 1 }], anchor).includedHours).toBe(5)
})

test('a plan that ended where it began splits nothing: the surrounding plan grants its hours once', () => {
  const anchor = utc('2028-01-10T10:00:00')
  for (const later of [anchor, anchor + 500, anchor + day])
    expect(cycleFrom([paid(anchor), { ...paid(later, later), hours: 30 }], anchor)).toMatchObject({
      end: utc('2028-02-10T10:00:00'),
      includedHours: 5,
    })
})

describe('an upgrade', () => {
  const period = { start: utc('2028-04-01T00:00'), end: utc('2028-05-01T00:00') }
  const from = { planType: 'basic', hours: 5 } as const
  const at = utc('2028-04-16T00:00')
  const upgraded: PlanSpan = { ...paid(utc('2028-03-01T00:00')), planType: 'premium', hours: 30, upgrade: { at, from } }
  const inForce = (text: string) => {
    const { plan, includedHours } = cycleFrom([upgraded], utc(text))
    return [plan?.planType, plan?.hours, includedHours]
  }

  test('includes the same share of the additional hours as of the rest of the period', () => {
    expect(upgradedHours({ at, from }, 30, period)).toBe(17.5)
    expect(upgradedHours({ at: period.start, from }, 30, period)).toBe(30)
    expect(upgradedHours({ at: period.start - day, from }, 30, period)).toBe(30)
    expect(upgradedHours({ at: period.end, from }, 30, period)).toBe(5)
  })

  test('rounds up to hundredths, and leaves exact ones alone', () => {
    expect(upgradedHours({ at: at + 1000, from }, 30, period)).toBe(17.5)
    expect(upgradedHours({ at: at - 1000, from }, 30, period)).toBe(17.51)
    expect(upgradedHours({ at: period.start + 3 * day, from }, 30, period)).toBe(27.5)
  })

  test('never includes fewer hours than the plan before', () => {
    expect(upgradedHours({ at, from }, 4, period)).toBe(5)
  })

  test('counts in its own period; before it the old plan is in force, and after it all hours', () => {
    expect(inForce('2028-03-01T00:00')).toEqual(['basic', 5, 5])
    expect(inForce('2028-04-01T00:00')).toEqual(['premium', 17.5, 17.5])
    expect(inForce('2028-05-01T00:00')).toEqual(['premium', 30, 30])
  })
})
