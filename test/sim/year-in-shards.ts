import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { addReports, reportLines, whatIsMissing, type YearReport } from './examine-year.ts'
import { playYear } from './play-year.ts'

/**
 * A year of many customers: `npm run sim:year`. Worlds of 100 customers, as many at a time as there are cores, each
 * in its own process with its own seed. SIM_CUSTOMERS, SIM_RUNS (starts per customer), SIM_SEED.
 */
const A_WORLD = 100
const customers = Number(process.env.SIM_CUSTOMERS ?? 1000)
const runs = Number(process.env.SIM_RUNS ?? 8)
const seed = Number(process.env.SIM_SEED ?? 2028)

if (process.send) process.once('message', (world: World) => playWorld(world))
else await playAll()

type World = { customers: number; runs: number; seed: number }

async function playWorld(world: World): Promise<void> {
  const report = await playYear({ ...world, database: 'in process' })
  process.send?.(report, () => process.exit())
}

async function playAll(): Promise<void> {
  const since = performance.now()
  const waiting = Array.from({ length: Math.ceil(customers / A_WORLD) }, (_, n) => ({
    customers: Math.min(A_WORLD, customers - n * A_WORLD),
    runs,
    seed: seed + n * 10_000,
  }))
  const reports: YearReport[] = []
  const player = async () => {
    for (let world = waiting.shift(); world; world = waiting.shift()) {
      const report = await inAnotherProcess(world)
      reports.push(report)
      const { customers, ran, cents, differenceCents, wrong } = report
      console.log(
        `seed ${world.seed}: ${customers} customers, ${ran} runs, $${cents / 100}, difference ${differenceCents} cents, ${wrong.length} wrong`,
      )
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, player))
  const all = addReports(reports)
  const missing = whatIsMissing(all)
  console.log([...reportLines(all), ...missing].join('\n'))
  console.log(`minutes: ${((performance.now() - since) / 60_000).toFixed(1)}`)
  if (all.wrong.length || missing.length || all.differenceCents) process.exitCode = 1
}

function inAnotherProcess(world: World): Promise<YearReport> {
  return new Promise((resolve, reject) => {
    const child = fork(import.meta.filename)
    child.once('message', (report) => resolve(report as YearReport))
    child.once('exit', (code) => code && reject(new Error(`The world of seed ${world.seed} ended with ${code}.`)))
    child.send(world)
  })
}
