import '../../testing/stack/faster-drizzle.ts'
import { applyInMemory } from './mutants.ts'
import type { Task } from './players.ts'
import type { Outcome } from './run-seed.ts'
import { takeOverRandomness } from './seeded-crypto.ts'

process.once('message', async (first: Task) => {
  // Stripe's SDK notes where each call came from. Whoever replays a seed sees its stack.
  Error.stackTraceLimit = 0
  if (first.mutant) applyInMemory(first.mutant)
  takeOverRandomness()
  // The product's code may be loaded only now, with its mistake.
  const { openWorldDatabase } = await import('./database.ts')
  const { runNear, runSeed } = await import('./run-seed.ts')
  const database = await openWorldDatabase()
  const play = async ({ scenario, seeds, schedules = [], mutant }: Task) => {
    const outcomes: Outcome[] = []
    for (const schedule of schedules) outcomes.push(await runNear(database, schedule))
    for (const seed of seeds) {
      const outcome = await runSeed(database, seed, scenario)
      outcomes.push(outcome)
      if (mutant && outcome.broken) break
    }
    process.send?.(outcomes)
  }
  process.on('message', play)
  await play(first)
})
