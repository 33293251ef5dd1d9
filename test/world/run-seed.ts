import fc from 'fast-check'
import type { WorldDatabase } from './database.ts'
import { Broken } from './mishaps.ts'
import { play } from './play.ts'
import { SCENARIOS, type Scenario, type Schedule } from './schedule.ts'

const SHRINK_MS = 60_000

/** The outcome of one seed's world. */
export type Outcome = { seed: number; reached: [string, number][]; broken: { rule: string; seen: string } | null }

export function scheduleOf(seed: number, scenario: Scenario = 'crowd'): Schedule {
  return fc.sample(SCENARIOS[scenario], { seed, numRuns: 1 })[0] as Schedule
}

export async function runSeed(database: WorldDatabase, seed: number, scenario: Scenario = 'crowd'): Promise<Outcome> {
  try {
    return { seed, reached: [...(await play(database, scheduleOf(seed, scenario)))], broken: null }
  } catch (error) {
    return { seed, reached: [], broken: asBroken(error) }
  }
}

/** Leaves out and simplifies steps while the same rule still breaks, for a minute at most. */
export async function shrink(database: WorldDatabase, seed: number, scenario: Scenario): Promise<Schedule> {
  const rule = (await runSeed(database, seed, scenario)).broken?.rule
  let shortest = scheduleOf(seed, scenario)
  if (rule === undefined) return shortest
  const until = Date.now() + SHRINK_MS
  const holds = fc.asyncProperty(SCENARIOS[scenario], async (candidate) => {
    if (Date.now() > until) return true
    const broken = await play(database, candidate).then(() => null, asBroken)
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
