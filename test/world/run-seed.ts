import fc from 'fast-check'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/instant.ts'
import { seededRandom } from '../../testing/random.ts'
import type { WorldDatabase } from './database.ts'
import { Broken } from './mishaps.ts'
import { play } from './play.ts'
import { SCENARIOS, type Scenario, type Schedule } from './schedule.ts'

const SHRINK_MS = 60_000
const VARIATIONS = 300
const WAITS = ['edge', 0, 5_000, MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 12 * HOUR_MS, 3 * DAY_MS, 30 * DAY_MS] as const

/** The outcome of a world: of a seed, or of a schedule that we kept. */
export type Outcome = {
  seed: number | null
  reached: [string, number][]
  broken: { rule: string; seen: string } | null
}

export function scheduleOf(seed: number, scenario: Scenario = 'ordinary'): Schedule {
  return fc.sample(SCENARIOS[scenario], { seed, numRuns: 1 })[0] as Schedule
}

export async function runSeed(
  database: WorldDatabase,
  seed: number,
  scenario: Scenario = 'ordinary',
): Promise<Outcome> {
  return { ...(await runSchedule(database, scheduleOf(seed, scenario))), seed }
}

export async function runSchedule(
  database: WorldDatabase,
  schedule: Schedule,
  trace: ((line: string) => void) | null = null,
): Promise<Outcome> {
  try {
    return { seed: null, reached: [...(await play(database, schedule, trace))], broken: null }
  } catch (error) {
    return { seed: null, reached: [], broken: asBroken(error) }
  }
}

/** Plays a kept schedule, then variations of it until a rule breaks: the product changes around it, and its mistake may stay. */
export async function runNear(database: WorldDatabase, schedule: Schedule): Promise<Outcome> {
  const random = seededRandom(1)
  let outcome = await runSchedule(database, schedule)
  for (let tries = 0; !outcome.broken && tries < VARIATIONS; tries++) {
    const candidate = structuredClone(schedule)
    for (let times = random.between(1, 5); times > 0; times--) {
      const step = random.pick(candidate.steps)
      const what = random.between(0, 4)
      if (what === 0) step.wait = random.pick(WAITS)
      else if (what === 1) step.weather = random.pick(['calm', 'rough', 'storm'])
      else step.luck = random.between(0, 0x7fffffff)
    }
    outcome = await runSchedule(database, candidate)
  }
  return outcome
}

/** Leaves out and simplifies steps while the same rule still breaks, for a minute at most. */
export async function shrink(database: WorldDatabase, seed: number, scenario: Scenario): Promise<Schedule> {
  const rule = (await runSeed(database, seed, scenario)).broken?.rule
  let shortest = scheduleOf(seed, scenario)
  if (rule === undefined) return shortest
  const until = Date.now() + SHRINK_MS
  const holds = fc.asyncProperty(SCENARIOS[scenario], async (candidate) => {
    if (Date.now() > until) return true
    const { broken } = await runSchedule(database, candidate)
    if (broken?.rule !== rule) return true
    shortest = candidate
    return false
  })
  await fc.check(holds, { seed, numRuns: 1 })
  return shortest
}

function asBroken(error: unknown): { rule: string; seen: string } {
  if (error instanceof Broken) return { rule: error.rule, seen: error.message }
  return { rule: 'crash', seen: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}
