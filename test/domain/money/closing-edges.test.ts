import { describe, expect, test } from 'vitest'
import {
  CLOSING_GRACE_MS,
  closeCycles,
  cycleSeconds,
  isSettledBefore,
  type MeteredRun,
} from '../../../src/domain/money/closing.ts'
import { cycleFrom, type PlanSpan } from '../../../src/domain/money/cycle.ts'

const utc = (text: string) => Date.parse(`${text}Z`)
const MINUTE = 60_000
const HOUR = 3_600_000
/** A month boundary. */
const AT = utc('2028-02-01T00:00:00')

const loading: MeteredRun = {
  requestedAt: AT - HOUR,
  billedFrom: null,
  confirmedAt: null,
  mustStopAt: null,
  endsAt: null,
  meteredUntil: null,
  stopRequestedAt: null,
  endedAt: null,
}
const running: MeteredRun = { ...loading, billedFrom: AT - HOUR + 20_000 }
const ended = (from: number, until: number): MeteredRun => ({
  requestedAt: from - 20_000,
  billedFrom: from,
  confirmedAt: until,
  mustStopAt: null,
  endsAt: null,
  meteredUntil: until,
  stopRequestedAt: until,
  endedAt: until + 1_000,
})
const paid: PlanSpan = {
  planType: 'basic',
  subType: 'paid',
  hours: 5,
  anchor: utc('2026-01-01T00:00:00'),
  endsAt: null,
}
const demo: PlanSpan = { ...paid, planType: 'demo', subType: 'demo', hours: 0.5 }

describe('a run is settled before an instant', () => {
  const settled = (run: MeteredRun, at = AT) => isSettledBefore(at, run)

  test('if it was requested at or after it, or has ended', () => {
    expect([AT - 1, AT, AT + 1].map((requestedAt) => settled({ ...loading, requestedAt }))).toEqual([false, true, true])
    expect(settled(loading)).toBe(false)
    expect(settled({ ...loading, stopRequestedAt: AT + HOUR })).toBe(true)
    expect(settled({ ...loading, endedAt: AT + HOUR })).toBe(true)
    expect(settled({ ...running, endedAt: AT + HOUR })).toBe(true)
  })

  test('if its meter starts at or after it', () => {
    expect([AT - 1, AT, AT + 1].map((billedFrom) => settled({ ...loading, billedFrom }))).toEqual([false, true, true])
    // The same holds for an instant within a second.
    const cut = (billedFrom: number) => settled({ ...loading, billedFrom }, AT + 1)
    expect([AT, AT + 1, AT + 2].map(cut)).toEqual([false, true, true])
    // A run seen only while loading may still start before it.
    expect(settled({ ...loading, confirmedAt: AT + HOUR })).toBe(false)
  })

  test('if it was seen running to the end of the second that contains the instant', () => {
    expect(settled(running)).toBe(false)
    expect([AT - 1, AT].map((confirmedAt) => settled({ ...running, confirmedAt }))).toEqual([false, true])
    const cut = (confirmedAt: number) => settled({ ...running, confirmedAt }, AT + 1)
    expect([AT, AT + 999, AT + 1_000].map(cut)).toEqual([false, false, true])
  })

  test('but not before we stop it at its end', () => {
    for (const end of ['mustStopAt', 'endsAt'] as const) {
      const late = (at: number) => ({ ...running, confirmedAt: AT + HOUR, [end]: at })
      expect([AT - 1, AT, AT + 1].map((at) => settled(late(at)))).toEqual([false, true, true])
      // Its last second counts only if it lasts to the end of it.
      expect([AT + 999, AT + 1_000].map((at) => settled(late(at), AT + 1))).toEqual([false, true])
      expect(settled({ ...late(AT - 1), stopRequestedAt: AT + HOUR, meteredUntil: AT - 1 })).toBe(true)
    }
  })

  test('if its meter ended where it was last seen running, or earlier', () => {
    const confirmedAt = AT - MINUTE
    const stands = (meteredUntil: number) => settled({ ...running, confirmedAt, meteredUntil })
    expect([confirmedAt - 1, confirmedAt, confirmedAt + 1].map(stands)).toEqual([true, true, false])
    // Last seen when its meter started.
    expect(settled({ ...running, meteredUntil: running.billedFrom })).toBe(true)
  })
})

describe('the seconds of a cycle', () => {
  const cycle = cycleFrom([], utc('2028-01-01T00:00:00'))

  test("are those of its runs: an open run counts to the cycle's end, and one that never ran counts nothing", () => {
    expect(cycleSeconds(cycle, [running])).toBe(3580)
    expect(cycleSeconds(cycle, [running, ended(AT - 10_000, AT + 10_000), loading])).toBe(3590)
    expect(cycleSeconds(cycle, [{ ...loading, endedAt: AT, meteredUntil: AT }])).toBe(0)
  })
})

describe('closing', () => {
  const account = {
    from: utc('2028-01-01T00:00:00'),
    closedAt: null,
    spans: [] as PlanSpan[],
    runs: [] as MeteredRun[],
  }

  test('waits two minutes after the end, to the millisecond', () => {
    expect(CLOSING_GRACE_MS).toBe(2 * MINUTE)
    expect(closeCycles(account, AT + 2 * MINUTE - 1)).toEqual({
      closed: [],
      billedUntil: account.from,
      dueAt: AT + 2 * MINUTE,
    })
    expect(closeCycles(account, AT + 2 * MINUTE)).toEqual({
      closed: [],
      billedUntil: AT,
      dueAt: utc('2028-03-01T00:02:00'),
    })
  })

  test('waits for an unsettled run, and checks again in five minutes', () => {
    const now = AT + 10 * MINUTE
    for (const runs of [[running], [ended(AT - HOUR, AT - MINUTE), running]])
      expect(closeCycles({ ...account, runs }, now)).toEqual({
        closed: [],
        billedUntil: account.from,
        dueAt: now + 5 * MINUTE,
      })
  })

  test('records what ran, and every cycle of a paid plan', () => {
    const now = AT + HOUR
    const ran = { ...account, runs: [ended(AT - HOUR, AT)] }
    const seconds = (which: object) => closeCycles({ ...ran, ...which }, now).closed.map((one) => one.seconds)
    expect(seconds({})).toEqual([3600])
    expect(seconds({ runs: [] })).toEqual([])
    expect(seconds({ spans: [paid] })).toEqual([3600])
    expect(seconds({ spans: [paid], runs: [] })).toEqual([0])
    expect(seconds({ spans: [{ ...demo, endsAt: AT }], runs: [] })).toEqual([])
    expect(closeCycles({ ...ran, spans: [{ ...demo, endsAt: AT }] }, now).closed).toMatchObject([{ amountCents: 0 }])
    expect(closeCycles(ran, now).closed).toMatchObject([{ amountCents: 175 }])
  })

  test('checks a trial, which has no end of its own, at the end of each month', () => {
    expect(closeCycles({ ...account, spans: [demo] }, AT + HOUR)).toEqual({
      closed: [],
      billedUntil: account.from,
      dueAt: utc('2028-03-01T00:02:00'),
    })
  })

  test('closes two years at once, and the rest right after', () => {
    const from = utc('2026-01-01T00:00:00')
    const now = utc('2028-12-31T00:00:00')
    const first = closeCycles({ ...account, from, spans: [paid] }, now)
    expect(first).toMatchObject({ closed: { length: 24 }, billedUntil: utc('2028-01-01T00:00:00'), dueAt: now })
    expect(closeCycles({ ...account, from: first.billedUntil, spans: [paid] }, now)).toMatchObject({
      closed: { length: 11 },
      dueAt: utc('2029-01-01T00:02:00'),
    })
  })

  test('stops where the account was closed, with nothing left to check', () => {
    const closedAt = utc('2028-01-10T12:00:00')
    const runs = [ended(closedAt - HOUR, closedAt)]
    expect(closeCycles({ ...account, closedAt, runs }, closedAt + 2 * MINUTE)).toMatchObject({
      closed: [{ seconds: 3600, cycle: { start: account.from, end: closedAt } }],
      billedUntil: closedAt,
      dueAt: Number.MAX_SAFE_INTEGER,
    })
    expect(closeCycles({ ...account, closedAt, runs }, closedAt + 2 * MINUTE - 1).dueAt).toBe(closedAt + 2 * MINUTE)
  })
})
