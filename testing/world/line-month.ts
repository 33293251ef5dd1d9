import { ESTIMATE_MS, type Estimate, estimateInLine, type LineWait } from '../../src/domain/estimate.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/instant.ts'
import { nextInLine, paidTurnsAfter, positionsOf, type Waiting } from '../../src/domain/line.ts'
import { seededRandom } from '../random.ts'

/**
 * Plays the line of one size through the product's own rules for two months of people who come, wait, give up, and run
 * servers, and compares the estimates of the second month with what came of them.
 */

const PLACES = 20
const MONTHS_MS = 60 * DAY_MS
/** Of the last waits, as the product does. */
const MOST_WAITS = 2_000

type Someone = Waiting & { givesUpAt: number; position: number; estimate: Estimate | null }
/** What someone was told when they joined, and what they got. `waitedMs` of those who gave up is what they waited. */
type Told = { trial: boolean; position: number; estimate: Estimate | null; waitedMs: number; served: boolean }

export function playLineMonth(seed: number): Told[] {
  const random = seededRandom(seed)
  const exponential = (mean: number) => -mean * Math.log(1 - random.next())
  const waits = { paid: [] as (LineWait & { joinedAt: number })[], trial: [] as (LineWait & { joinedAt: number })[] }
  const told: Told[] = []
  let line: Someone[] = []
  const ends: number[] = []
  let paidTurns = 0
  let ids = 0

  function finish(one: Someone, now: number, served: boolean) {
    line = line.filter(({ id }) => id !== one.id)
    const wait = { position: one.position, waitedMs: now - one.queuedAt, served, joinedAt: one.queuedAt }
    // Who leaves within a minute looked; they didn't wait.
    if (served || wait.waitedMs >= MINUTE_MS) waits[one.trial ? 'trial' : 'paid'].push(wait)
    if (one.queuedAt > MONTHS_MS / 2)
      told.push({ trial: one.trial, position: one.position, estimate: one.estimate, waitedMs: wait.waitedMs, served })
  }
  const run = (now: number) => ends.push(now + MINUTE_MS + exponential(random.chance(0.3) ? 4 * HOUR_MS : HOUR_MS))

  for (let arrival = exponential(MINUTE_MS); arrival < MONTHS_MS; ) {
    const end = Math.min(...ends, Infinity)
    const gives = line.toSorted((a, b) => a.givesUpAt - b.givesUpAt)[0]
    const now = Math.min(arrival, end, gives?.givesUpAt ?? Infinity)
    if (now === end) {
      ends.splice(ends.indexOf(end), 1)
      const next = nextInLine(line, paidTurns)
      if (next) {
        paidTurns = paidTurnsAfter(next, line, paidTurns)
        finish(next, now, true)
        run(now)
      }
    } else if (gives && now === gives.givesUpAt) finish(gives, now, false)
    else {
      if (ends.length < PLACES) run(now)
      else {
        const trial = random.chance(0.3)
        const id = `user_${String(ids++).padStart(6, '0')}`
        const one = { id, trial, queuedAt: now, givesUpAt: now + exponential(3 * HOUR_MS), position: 0, estimate: null }
        line.push(one)
        const position = positionsOf(line, paidTurns).get(id) ?? 0
        const known = waits[trial ? 'trial' : 'paid'].filter(({ joinedAt }) => joinedAt > now - ESTIMATE_MS)
        Object.assign(one, { position, estimate: estimateInLine(known.slice(-MOST_WAITS), position) })
      }
      arrival = now + exponential(gapAt(now))
    }
  }
  return told
}

/** The mean time between two people: nights are quiet, weekday mornings are not. */
function gapAt(now: number): number {
  const hour = Math.floor(now / HOUR_MS) % 24
  const isWeekend = Math.floor(now / DAY_MS) % 7 >= 5
  const perHour = hour >= 8 && hour < 12 ? 16 : hour >= 12 && hour < 20 ? 11 : 3
  return HOUR_MS / (isWeekend ? perHour / 2 : perHour)
}

/** Of those who know how it ended: the share that waited no longer than they were told. */
export function shareWithin(told: Told[], quantile: 'p50' | 'p90'): { people: number; share: number } {
  const known = told.flatMap(({ estimate, waitedMs, served }) => {
    if (!estimate) return []
    const limit = estimate[quantile] * 1000
    // Someone who left earlier may have been served within it, or not.
    return served || waitedMs > limit ? [served && waitedMs <= limit] : []
  })
  return { people: known.length, share: known.filter(Boolean).length / Math.max(1, known.length) }
}
