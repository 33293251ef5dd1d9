import { places } from '../db/schema/fleet.ts'
import { keepWarm } from '../src/server/fleet/warm/keep.ts'
import { seededRandom } from '../testing/random.ts'
import { endAll } from '../testing/stack/at-end.ts'
import { memoryDatabase } from '../testing/stack/memory-database.ts'
import { freshPlaces, latestRun, newCustomer } from '../testing/world/fleet.ts'
import { pressStart } from '../testing/world/play.ts'
import { askForWork, keptWarm, setWarmCount } from '../testing/world/warm.ts'
import { openWorld } from '../testing/world/world.ts'
import { quantile } from './median.ts'
import { amount, atLeast, atMost, type Row, told } from './table.ts'

/** Each round is a minute in which so many people click, each with a machine of their own. */
const STARTS = 20
const ROUNDS = 5
const MINUTE_MS = 60_000
/** infra/image/simulator.sh */
const ASK_EVERY_MS = 2_000
const GIVE_UP_MS = 30 * MINUTE_MS

const BOOT_BENCH = 'daemonology.net/blog/2021-08-12-EC2-boot-time-benchmarking.html'
const COLDBOOT = 'github.com/brevdev/ec2-coldboot-research docs'
/**
 * What EC2 and Docker take, in ms, at least and at most, as others say, of other types. We found no figures of a g6. Those
 * of COLDBOOT count the start of the command `aws`, whose look for `running` comes every 15 s.
 */
const TIMES = {
  launch: { what: 'RunInstances', ms: [1_543, 4_965], from: `${BOOT_BENCH}; ${COLDBOOT}/cold-baseline-results.md` },
  call: {
    what: 'another call to EC2',
    ms: [1_460, 1_764],
    from: `${COLDBOOT}/warm-pool-realistic-results.md (CreateTags), start-stopped-results.md (StartInstances)`,
  },
  pending: {
    what: 'pending to running',
    ms: [4_905, 17_851],
    from: `${BOOT_BENCH}; ${COLDBOOT}/cold-baseline-results.md (at most)`,
  },
  boot: {
    what: 'running until services start',
    ms: [8_784, 22_819],
    from: `depot.dev/blog/accelerating-builds-improve-ec2-boot-time (systemd-analyze); ${BOOT_BENCH} (until port 22 opens)`,
  },
  container: { what: 'Docker starts a container', ms: [568, 1_157], from: 'arxiv.org/abs/2602.15214 (SSD, HDD)' },
  fastPull: {
    what: 'pull of 20 GB, zstd at 1,000 MiB/s',
    ms: [40_000, 40_000],
    from: 'decision 026 (arithmetic, not measured)',
  },
  plainPull: {
    what: 'pull of 15 to 20 GB, plain Docker',
    ms: [240_000, 360_000],
    from: 'aws.amazon.com/blogs/machine-learning/reducing-container-cold-start-times-using-soci-index-on-dlami-and-dlc',
  },
} as const
type Step = keyof typeof TIMES

/** What the stand-in keeps to. */
export const startTimes = (): Row[] =>
  Object.values(TIMES).map(({ what, ms: [least, most], from }) =>
    told(what, `${least / 1_000} to ${most / 1_000} s: ${from}`),
  )

/**
 * From the click on Start until the simulator answered, which is when the meter starts. The product's own starts, jobs,
 * and keeper run in this process, on a clock that only this file moves.
 */
export async function benchReady(): Promise<Row[]> {
  try {
    const warm = await playRounds(true, 'fastPull')
    const fast = await playRounds(false, 'fastPull')
    const plain = await playRounds(false, 'plainPull')
    const ratio = (cold: number[][], share: number) => quantile(cold.flat(), share) / quantile(warm.flat(), share)
    const [soon = 0, late = 0] = [fast, warm].map((rounds) => quantile(rounds.flat(), 0.5))
    return [
      percentiles('warm', warm),
      percentiles('cold, fast pull', fast),
      percentiles('cold, plain pull', plain),
      atLeast('a warm one is faster than the fast pull: p50', ratio(fast, 0.5), 5, 'times'),
      atLeast('a warm one is faster than the fast pull: p95', ratio(fast, 0.95), 5, 'times'),
      told('a warm one is faster than the plain pull: p50', amount(ratio(plain, 0.5), 'times')),
      atMost(`${STARTS} warm ones in a minute: p95, slowest of ${ROUNDS}`, slowest(warm), 30, 's'),
      told(`${STARTS} cold ones in a minute, fast pull: the same`, amount(slowest(fast), 's')),
      told(`${STARTS} cold ones in a minute, plain pull: the same`, amount(slowest(plain), 's')),
      told('of the 30 s, left for the program to load', amount(30 - slowest(warm), 's')),
      told('5 times faster, if the program loads within', amount((soon - 5 * late) / 4_000, 's')),
    ]
  } finally {
    await endAll()
  }
}

function percentiles(what: string, rounds: number[][]): Row {
  const [p50, p95] = [0.5, 0.95].map((share) => amount(quantile(rounds.flat(), share) / 1_000, 's'))
  return told(`${what}: p50, p95 of ${rounds.flat().length}`, `${p50}, ${p95}`)
}

const slowest = (rounds: number[][]) => Math.max(...rounds.map((round) => quantile(round, 0.95))) / 1_000

async function playRounds(isWarm: boolean, pull: Step): Promise<number[][]> {
  const rounds: number[][] = []
  for (let seed = 1; seed <= ROUNDS; seed++) rounds.push(await playRound(isWarm, pull, seed))
  return rounds
}

/** @returns how many ms each start took */
async function playRound(isWarm: boolean, pull: Step, seed: number): Promise<number[]> {
  const random = seededRandom(seed)
  const takes = (step: Step) => random.between(TIMES[step].ms[0], TIMES[step].ms[1] + 1)
  const world = await openWorld(memoryDatabase(), { bootMs: takes('pending') })
  const answersFrom = new Map<string, number>()
  const machines = new Set<string>()
  let events: { at: number; act: () => Promise<unknown> }[] = []
  const plan = (at: number, act: () => Promise<unknown>) => events.push({ at, act })
  world.wire = (call, effect) => {
    if (call.startsWith('ec2: ')) world.clock.ms += takes(call === 'ec2: launch' ? 'launch' : 'call')
    return effect()
  }
  world.answers = (host) => {
    const id = world.ec2.instances().find(({ publicIp }) => publicIp === host)?.instanceId
    return world.clock.ms >= (answersFrom.get(id ?? '') ?? Infinity)
  }

  async function ask(id: string, readyAt: number): Promise<void> {
    const { run } = await askForWork(world, id, world.clock.ms >= readyAt)
    if (run === null) plan(world.clock.ms + ASK_EVERY_MS, () => ask(id, readyAt))
    else answersFrom.set(id, world.clock.ms + takes('container'))
  }
  /** What a machine does from its boot on. */
  function bootNew(): void {
    for (const { instanceId, runningAt, tags } of world.ec2.history()) {
      if (machines.has(instanceId) || runningAt === null) continue
      machines.add(instanceId)
      const bootedAt = runningAt + takes('boot')
      const pulledAt = bootedAt + takes(pull)
      if (tags.warm) plan(bootedAt, () => ask(instanceId, pulledAt))
      else answersFrom.set(instanceId, pulledAt + takes('container'))
    }
  }
  async function keep(): Promise<void> {
    plan(world.clock.ms + MINUTE_MS, keep)
    await keepWarm(world.ctx)
  }

  const clicked = new Map<string, number>()
  const took = new Map<string, number>()
  async function ring(id: string): Promise<void> {
    await world.ring(id)
    const { billedFrom, endedAt, warm } = await latestRun(world, id)
    if (endedAt !== null || (billedFrom !== null && warm !== isWarm)) throw new Error(`Not ${isWarm ? 'warm' : 'cold'}`)
    if (billedFrom !== null) took.set(id, billedFrom - (clicked.get(id) ?? 0))
  }
  /** In the order of the clock. One that waits for EC2 doesn't delay the others. */
  async function playUntil(isOver: () => Promise<boolean>): Promise<void> {
    const until = world.clock.ms + GIVE_UP_MS
    while (!(await isOver())) {
      const waiting = [...clicked.keys()].filter((id) => !took.has(id))
      const alarms = waiting.map((id) => ({ at: world.nextAlarm(id) ?? Infinity, act: () => ring(id) }))
      const next = [...events, ...alarms].reduce((first, one) => (one.at < first.at ? one : first))
      if (next.at > until) throw new Error('Something was not ready within 30 minutes.')
      events = events.filter((event) => event !== next)
      world.clock.ms = next.at
      await next.act()
      await world.process.settle()
      bootNew()
    }
  }

  await freshPlaces(world, 3 * STARTS)
  await world.db.update(places).set({ availabilityZone: 'us-east-1a' })
  const wanted = isWarm ? STARTS : 0
  await setWarmCount(world, wanted)
  plan(world.clock.ms, keep)
  await playUntil(async () => (await keptWarm(world)).filter(({ readyAt }) => readyAt !== null).length === wanted)
  const from = world.clock.ms
  for (let i = 0; i < STARTS; i++) {
    const customer = await newCustomer(world)
    plan(from + random.between(0, MINUTE_MS), async () => {
      clicked.set(customer.user.id, world.clock.ms)
      await pressStart(world, customer)
    })
  }
  await playUntil(async () => took.size === STARTS)
  return [...took.values()]
}
