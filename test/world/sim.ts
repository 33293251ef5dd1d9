import { parseArgs } from 'node:util'
import '../../testing/stack/faster-drizzle.ts'
import { listMutants, type Mutant, plant } from './mutants.ts'
import { chunks, inProcesses, type Player } from './players.ts'
import { REACH, whatIsMissing } from './reach.ts'
import { schedulesOf } from './regressions.ts'
import type { Outcome } from './run-seed.ts'
import type { Scenario } from './schedule.ts'
import { takeOverRandomness } from './seeded-crypto.ts'

// docs/correctness.md says what each option does.
const values = options()
const scenario = values.scenario as Scenario
const MUTANT_SEEDS = 2_000
/** A long run reports its progress now and then. */
const REPORT_EVERY = 1_000

if (values.seed) await playOne(Number(values.seed))
else if (values.mutants || values.mutant) await catchMutants()
else await playMany(Number(values.from), Number(values.seeds))

function options() {
  try {
    const { values } = parseArgs({
      options: {
        seeds: { type: 'string', default: '500' },
        from: { type: 'string', default: '1' },
        seed: { type: 'string' },
        trace: { type: 'boolean', default: false },
        shrink: { type: 'boolean', default: false },
        mutants: { type: 'boolean', default: false },
        mutant: { type: 'string' },
        scenario: { type: 'string', default: 'ordinary' },
      },
    })
    for (const name of ['seeds', 'from', 'seed'] as const)
      if (!/^[1-9]\d*$/.test(values[name] ?? '1')) throw new Error(`--${name} takes a number from 1 on.`)
    if (!Object.hasOwn(REACH, values.scenario))
      throw new Error(`--scenario takes one of: ${Object.keys(REACH).join(', ')}.`)
    if (values.mutant !== undefined && !listMutants().some(({ name }) => name === values.mutant))
      throw new Error(`test/world/mutants.yaml has no ${values.mutant}.`)
    return values
  } catch (error) {
    console.error(`${(error as Error).message}\ndocs/correctness.md lists the commands.`)
    process.exit(2)
  }
}

async function playMany(from: number, count: number): Promise<void> {
  const since = performance.now()
  const reached = new Map<string, number>()
  const took = (seeds: number) => {
    const seconds = (performance.now() - since) / 1_000
    return `${(seconds / 60).toFixed(1)} minutes, ${(seeds / seconds).toFixed(1)} seeds per second`
  }
  let played = 0
  let broken = 0
  const take = (outcome: Outcome) => {
    played += 1
    if (played % REPORT_EVERY === 0 && played < count)
      console.log(`${played} of ${count} seeds, ${broken} broken, ${took(played)}`)
    for (const [state, times] of outcome.reached) reached.set(state, (reached.get(state) ?? 0) + times)
    if (!outcome.broken) return
    broken += 1
    const args = `${scenario === 'ordinary' ? '' : `--scenario ${scenario} `}--seed ${outcome.seed} --trace`
    console.log(`seed ${outcome.seed}: ${outcome.broken.seen}\n  replay it with: npm run sim -- ${args}`)
  }
  await inProcesses(chunks({ scenario }, from, count), async (player, task) => (await player.play(task)).forEach(take))
  for (const [state, times] of [...reached].sort(([, a], [, b]) => b - a))
    console.log(`${String(times).padStart(8)}  ${state}`)
  const wanted = REACH[scenario]
  const missing = broken ? [] : whatIsMissing(reached, count, wanted)
  for (const line of missing) console.log(line)
  console.log(`seeds ${from} to ${from + count - 1}, ${took(count)}, ${wanted.length} rare states watched`)
  console.log(`${count} seeds, ${broken} broken`)
  if (broken || missing.length) process.exitCode = 1
}

async function playOne(seed: number): Promise<void> {
  const query = values.mutant ? plant(values.mutant) : ''
  takeOverRandomness()
  const { openWorldDatabase }: typeof import('./database.ts') = await import(`./database.ts${query}`)
  const { runSchedule, scheduleOf, shrink }: typeof import('./run-seed.ts') = await import(`./run-seed.ts${query}`)
  const database = await openWorldDatabase()
  const schedule = values.shrink ? await shrink(database, seed, scenario) : scheduleOf(seed, scenario)
  if (values.shrink) console.log(JSON.stringify(schedule, null, 1))
  const { broken } = await runSchedule(database, schedule, values.trace ? console.log : null)
  if (broken) console.log(broken.seen)
  console.log(`1 seed, ${broken ? 1 : 0} broken`)
  if (broken) process.exitCode = 1
}

async function catchMutants(): Promise<void> {
  const all = listMutants().filter(({ name }) => name === (values.mutant ?? name))
  const caught = new Map<string, Outcome>()
  await inProcesses(all, async (player, mutant) => {
    const outcome = await firstBroken(player, mutant)
    if (outcome) caught.set(mutant.name, outcome)
    console.log(
      outcome
        ? `caught  ${mutant.name}: ${outcome.seed === null ? 'its schedule' : `seed ${outcome.seed}`}, ${outcome.broken?.rule}`
        : `MISSED  ${mutant.name}: ${mutant.mistake}`,
    )
  })
  console.log(`${caught.size} caught, ${all.length - caught.size} missed`)
  if (caught.size < all.length) process.exitCode = 1
}

/** A mistake with schedules of its own must be caught by each of them, or near it: they are the tests that it doesn't return. */
async function firstBroken(player: Player, { name: mutant }: Mutant): Promise<Outcome | null> {
  const schedules = schedulesOf(mutant)
  if (schedules.length) {
    const outcomes = await player.play({ scenario, seeds: [], schedules, mutant })
    return outcomes.every(({ broken }) => broken) ? (outcomes[0] ?? null) : null
  }
  for (const task of chunks({ scenario, mutant }, 1, MUTANT_SEEDS)) {
    const broken = (await player.play(task)).find((outcome) => outcome.broken)
    if (broken) return broken
  }
  return null
}
