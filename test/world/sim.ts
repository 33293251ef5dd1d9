import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import './faster-drizzle.ts'
import { applyInMemory, findMutant, listMutants, type Mutant } from './mutants.ts'
import { FILES_REACH, REACH, whatIsMissing } from './reach.ts'
import { schedulesOf } from './regressions.ts'
import type { Outcome } from './run-seed.ts'
import type { Scenario, Schedule } from './schedule.ts'
import { takeOverRandomness } from './seeded-crypto.ts'

/**
 * `npm run sim -- --seeds N --from SEED` plays N worlds, `--seed S --trace` one with its log, `--seed S --shrink` finds
 * its shortest failing schedule, `--scenario year` plays years, and `--mutants` shows which rule catches each planted mistake.
 * `--mutant NAME --vary` looks for a schedule that catches it, near the one that no longer does.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '500' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    mutant: { type: 'string' },
    vary: { type: 'boolean', default: false },
    scenario: { type: 'string', default: 'crowd' },
  },
})
const scenario = values.scenario as Scenario
/** Seeds that a process plays before it reports. */
const CHUNK = scenario === 'year' || scenario === 'competition' ? 1 : 25
const MUTANT_SEEDS = 2_000
/** A long run reports its progress now and then. */
const REPORT_EVERY = 1_000

type Task = { seeds: number[]; schedules?: Schedule[]; mutant?: string }

if (process.send) process.once('message', (task: Task) => playTask(task))
else if (values.mutant && values.vary) await varySchedules(values.mutant)
else if (values.seed) await playOne(Number(values.seed))
else if (values.mutants || values.mutant) await catchMutants()
else await playMany(Number(values.from), Number(values.seeds))

async function playMany(from: number, count: number): Promise<void> {
  const since = performance.now()
  const reached = new Map<string, number>()
  const took = (seeds: number) => {
    const seconds = (performance.now() - since) / 1_000
    return `${(seconds / 60).toFixed(1)} minutes, ${(seeds / seconds).toFixed(1)} seeds per second`
  }
  let played = 0
  let broken = 0
  await inProcesses(chunks(from, count), (outcome) => {
    played += 1
    if (played % REPORT_EVERY === 0 && played < count)
      console.log(`${played} of ${count} seeds, ${broken} broken, ${took(played)}`)
    for (const [state, times] of outcome.reached) reached.set(state, (reached.get(state) ?? 0) + times)
    if (!outcome.broken) return
    broken += 1
    console.log(
      `seed ${outcome.seed}: ${outcome.broken.seen}\n  replay it with: npm run sim -- --seed ${outcome.seed} --trace`,
    )
  })
  for (const [state, times] of [...reached].sort(([, a], [, b]) => b - a))
    console.log(`${String(times).padStart(8)}  ${state}`)
  const wanted = scenario === 'crowd' ? REACH : scenario === 'files' ? FILES_REACH : []
  const missing = broken ? [] : whatIsMissing(reached, count, wanted)
  for (const line of missing) console.log(line)
  console.log(`seeds ${from} to ${from + count - 1}, ${took(count)}, ${wanted.length} rare states watched`)
  console.log(`${count} seeds, ${broken} broken`)
  if (broken || missing.length) process.exitCode = 1
}

async function playOne(seed: number): Promise<void> {
  if (values.mutant) applyInMemory(values.mutant)
  takeOverRandomness()
  const { openWorldDatabase } = await import('./database.ts')
  const { play } = await import('./play.ts')
  const { runSeed, scheduleOf, shrink } = await import('./run-seed.ts')
  const database = await openWorldDatabase()
  const schedule = values.shrink ? await shrink(database, seed, scenario) : scheduleOf(seed, scenario)
  if (values.shrink) console.log(JSON.stringify(schedule, null, 1))
  if (values.trace) await play(database, schedule, console.log).catch((error) => console.log(String(error)))
  const { broken } = await runSeed(database, seed, scenario)
  if (broken) console.log(broken.seen)
  console.log(`1 seeds, ${broken ? 1 : 0} broken`)
  if (broken) process.exitCode = 1
}

async function catchMutants(): Promise<void> {
  const all = values.mutant === undefined ? listMutants() : [findMutant(values.mutant)]
  const caught = new Map<string, Outcome>()
  await eachAtOnce(all, async (mutant) => {
    const outcome = await firstBroken(mutant)
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

/** A mistake with schedules of its own must be caught by each of them: they are the tests that it doesn't return. */
async function firstBroken(mutant: Mutant): Promise<Outcome | null> {
  const tasks = chunks(1, MUTANT_SEEDS).map((task) => ({ ...task, mutant: mutant.name }))
  const child = fork(import.meta.filename, ['--scenario', scenario])
  try {
    const schedules = schedulesOf(mutant.name)
    if (schedules.length) {
      const outcomes = await ask(child, { seeds: [], schedules, mutant: mutant.name })
      return outcomes.every(({ broken }) => broken) ? (outcomes[0] ?? null) : null
    }
    for (const task of tasks) {
      const outcomes = await ask(child, task)
      const broken = outcomes.find((outcome) => outcome.broken)
      if (broken) return broken
    }
    return null
  } finally {
    child.kill()
  }
}

async function varySchedules(mutant: string): Promise<void> {
  applyInMemory(mutant)
  takeOverRandomness()
  const { openWorldDatabase } = await import('./database.ts')
  const { runSchedule, vary } = await import('./run-seed.ts')
  const database = await openWorldDatabase()
  for (const schedule of schedulesOf(mutant)) {
    const { broken } = await runSchedule(database, schedule)
    const found = broken ? null : await vary(database, schedule)
    if (broken) console.log(`It still breaks: ${broken.seen}`)
    else console.log(found ? JSON.stringify(found, null, 1) : 'No schedule near it breaks a rule.')
  }
}

/** In a process of its own: a mutant's code must be loaded after its patch. */
async function playTask(task: Task): Promise<void> {
  // Stripe's SDK notes where each call came from. Whoever replays a seed sees its stack.
  Error.stackTraceLimit = 0
  if (task.mutant) applyInMemory(task.mutant)
  takeOverRandomness()
  const { openWorldDatabase } = await import('./database.ts')
  const { runSchedule, runSeed } = await import('./run-seed.ts')
  const database = await openWorldDatabase()
  const answer = async ({ seeds, schedules = [], mutant }: Task) => {
    const outcomes: Outcome[] = []
    for (const schedule of schedules) outcomes.push(await runSchedule(database, schedule))
    for (const seed of seeds) {
      const outcome = await runSeed(database, seed, scenario)
      outcomes.push(outcome)
      if (mutant && outcome.broken) break
    }
    process.send?.(outcomes)
  }
  process.on('message', answer)
  await answer(task)
}

async function inProcesses(tasks: Task[], take: (outcome: Outcome) => void): Promise<void> {
  const workers = Array.from({ length: availableParallelism() }, () =>
    fork(import.meta.filename, ['--scenario', scenario]),
  )
  await eachAtOnce(workers, async (worker) => {
    for (let task = tasks.shift(); task; task = tasks.shift())
      for (const outcome of await ask(worker, task)) take(outcome)
    worker.kill()
  })
}

function ask(child: ReturnType<typeof fork>, task: Task): Promise<Outcome[]> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`A world's process ended with ${code}.`))
    child.once('exit', ended)
    child.once('message', (outcomes) => {
      child.off('exit', ended)
      resolve(outcomes as Outcome[])
    })
    child.send(task)
  })
}

async function eachAtOnce<T>(all: T[], work: (one: T) => Promise<void>): Promise<void> {
  const waiting = [...all]
  const player = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await work(one)
  }
  await Promise.all(Array.from({ length: availableParallelism() }, player))
}

function chunks(from: number, count: number): Task[] {
  return Array.from({ length: Math.ceil(count / CHUNK) }, (_, n) => ({
    seeds: Array.from({ length: Math.min(CHUNK, count - n * CHUNK) }, (_, i) => from + n * CHUNK + i),
  }))
}
