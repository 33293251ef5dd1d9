import '../../testing/stack/faster-drizzle.ts'
import { plant } from './mutants.ts'
import type { Task } from './players.ts'
import type { Outcome } from './run-seed.ts'
import { takeOverRandomness } from './seeded-crypto.ts'

// Stripe's SDK notes where each call came from. Whoever replays a seed sees its stack.
Error.stackTraceLimit = 0
takeOverRandomness()
let loaded: { mutant: string | undefined; code: ReturnType<typeof load> } | undefined

async function load(mutant: string | undefined) {
  const query = mutant === undefined ? '' : plant(mutant)
  const { openWorldDatabase }: typeof import('./database.ts') = await import(`./database.ts${query}`)
  const { runNear, runSchedule, runSeed }: typeof import('./run-seed.ts') = await import(`./run-seed.ts${query}`)
  return { runNear, runSchedule, runSeed, database: await openWorldDatabase() }
}

process.on('message', async ({ scenario, seeds, schedules = [], mutant }: Task) => {
  if (loaded?.mutant !== mutant) loaded = undefined
  loaded ??= { mutant, code: load(mutant) }
  const { database, runNear, runSchedule, runSeed } = await loaded.code
  const outcomes: Outcome[] = []
  for (const schedule of schedules) outcomes.push(await (mutant ? runNear : runSchedule)(database, schedule))
  for (const seed of seeds) {
    const outcome = await runSeed(database, seed, scenario)
    outcomes.push(outcome)
    if (mutant && outcome.broken) break
  }
  process.send?.(outcomes)
})
