import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import type { WorldDatabase } from './database.ts'
import { play } from './play.ts'
import { type Schedule, schedule } from './schedule.ts'
import { Broken } from './world.ts'

/** What one seed's world led to. */
export type Outcome = { seed: number; reached: [string, number][]; broken: { rule: string; seen: string } | null }

export function scheduleOf(seed: number): Schedule {
  return fc.sample(schedule, { seed, numRuns: 1 })[0] as Schedule
}

export async function runSeed(database: WorldDatabase, seed: number): Promise<Outcome> {
  try {
    return { seed, reached: [...(await play(database, scheduleOf(seed)))], broken: null }
  } catch (error) {
    return { seed, reached: [], broken: asBroken(error) }
  }
}

/** Leaves out and simplifies steps for as long as the same rule still breaks, for a minute at most. */
export async function shrink(database: WorldDatabase, seed: number, withinMs = 60_000): Promise<Schedule> {
  const rule = (await runSeed(database, seed)).broken?.rule
  let shortest = scheduleOf(seed)
  if (rule === undefined) return shortest
  const until = Date.now() + withinMs
  const holds = fc.asyncProperty(schedule, async (candidate) => {
    if (Date.now() > until) return true
    const broken = await play(database, candidate).then(() => null, asBroken)
    if (broken?.rule !== rule) return true
    shortest = candidate
    return false
  })
  const { counterexample } = await fc.check(holds, { seed, numRuns: 1 })
  if (!counterexample && !isDeepStrictEqual(shortest, scheduleOf(seed)))
    throw new Error(`Seed ${seed} has no schedule.`)
  return shortest
}

function asBroken(error: unknown): { rule: string; seen: string } {
  if (error instanceof Broken) return { rule: error.rule, seen: error.message }
  return { rule: 'crash', seen: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}
