import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/domain/instant.ts'
import type { Random } from '../../../testing/random.ts'

/** What a program and its machine will do. Times are ms from the container's start. */
export type Plan = {
  /** From the machine's start; Infinity: never. */
  startsAfterMs: number
  runsMs: number
  code: number
  /** Nothing that the machine says reaches us then. */
  silences: { from: number; until: number }[]
  /** Its agent crashes, and takes the program with it. */
  crashesAfterMs: number
  /** It says everything twice. */
  stutters: boolean
  /** How far the times that it says are from the true ones. */
  liesByMs: number
}

/** What a machine does that nobody planned for. */
export const USUAL_PLAN: Plan = {
  startsAfterMs: 2 * SECOND_MS,
  runsMs: 20 * SECOND_MS,
  code: 0,
  silences: [],
  crashesAfterMs: Infinity,
  stutters: false,
  liesByMs: 0,
}

export function anyPlan(random: Random): Plan {
  const length = random.next()
  const runsMs =
    length < 0.25
      ? random.between(0, 2 * SECOND_MS)
      : length < 0.65
        ? random.between(2 * SECOND_MS, 3 * MINUTE_MS)
        : length < 0.9
          ? random.between(3 * MINUTE_MS, 4 * HOUR_MS)
          : Infinity
  const start = random.next()
  const chance = random.next()
  return {
    startsAfterMs: start < 0.05 ? Infinity : start < 0.7 ? 2 * SECOND_MS : random.between(5 * SECOND_MS, 8 * MINUTE_MS),
    runsMs,
    code: random.pick([0, 0, 0, 1, 3, 137]) ?? 0,
    silences: chance < 0.3 ? [silence(random, runsMs)] : [],
    crashesAfterMs: random.chance(0.1) ? random.between(0, 10 * MINUTE_MS) : Infinity,
    stutters: random.chance(0.2),
    liesByMs: random.chance(0.1) ? random.between(-2 * MINUTE_MS, 2 * MINUTE_MS) : 0,
  }
}

/** Often around the exit: for seconds, for minutes, or forever. */
function silence(random: Random, runsMs: number): Plan['silences'][number] {
  const end = Math.min(runsMs, 10 * MINUTE_MS)
  const from = random.chance(0.5) ? Math.max(0, end - random.between(0, MINUTE_MS)) : random.between(0, 10 * MINUTE_MS)
  const ms = random.pick([20 * SECOND_MS, 2 * MINUTE_MS, 2.8 * MINUTE_MS, 5 * MINUTE_MS, Infinity]) ?? Infinity
  return { from, until: from + ms }
}
