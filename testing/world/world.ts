import type { Database } from '../../db/client.ts'
import { type Ec2StandIn, startEc2 } from '../../dev/ec2/stand-in.ts'
import { freePort } from '../../dev/free-port.ts'
import type { ServerFrame } from '../../src/domain/cable.ts'
import { AppError } from '../../src/domain/error.ts'
import type { Job, LinePlace, Server } from '../../src/domain/wire/fleet.ts'
import { JobAlarm } from '../../src/server/channel/job-alarm.ts'
import { LogStore } from '../../src/server/channel/log-store.ts'
import { ec2Cloud } from '../../src/server/fleet/ec2.ts'
import { jobRunner } from '../../src/server/fleet/jobs/runner.ts'
import { keepLine } from '../../src/server/fleet/line/keep.ts'
import { FAILED_LOOK_MS, watchFleet } from '../../src/server/fleet/look.ts'
import type { Cloud } from '../../src/server/ports/cloud.ts'
import type { Mail } from '../../src/server/ports/mailer.ts'
import { FLEET, type FleetWatcherCalls, LINE } from '../../src/server/ports/objects.ts'
import type { Context } from '../../src/server/runtime/context.ts'
import type { Log } from '../../src/server/settings/log.ts'
import { KeptStorage, storageOf } from '../stack/alarm-storage.ts'
import { atEnd, temporaryFolder } from '../stack/at-end.ts'
import { throughCalls } from '../stack/database.ts'
import { objectStorage } from '../stack/object-storage.ts'
import { type Line, recordLog } from '../stack/recorded-log.ts'
import { silent, testContext } from '../stack/test-context.ts'
import { runLogOn } from './run-log.ts'
import { Cut, Lost, type Wire } from './wire.ts'

/** A call that leaves the program takes at least this long on the test's clock. */
const CALL_MS = 3

export type Published = { userId: string; job: Job; at: number }

/**
 * The server without its Worker: a real database, the real EC2 adapter against the stand-in, a clock that only the
 * test moves, and alarms that ring when the clock gets there. `restart` drops everything a killed process would lose.
 */
export class World {
  readonly clock = { ms: Date.UTC(2026, 10, 20, 12) + 137 }
  readonly published: Published[] = []
  /** What open pages heard about their server, outside a job. */
  readonly told: { userId: string; event: ServerFrame; server: Server }[] = []
  /** What open pages heard about their place in line. */
  readonly toldLine: { userId: string; line: LinePlace | null }[] = []
  readonly mails: Mail[] = []
  readonly reached: string[] = []
  /** How long a machine in this world runs before something answers on it, as while an image loads. */
  answerMs = 0
  readonly log: Log
  /** The log lines since the last call. */
  readonly takeLines: () => Line[]
  readonly objects = new Map<string, KeptStorage>()
  private readonly logs = new Map<string, LogStore>()
  wire: Wire = (_, effect) => effect()
  /** How far to spread retries; 0 means not at all. */
  random = () => 0
  process!: Process
  readonly ec2: Ec2StandIn
  /** For the test's own reads: never cut, never counted. */
  readonly db: Database

  constructor(db: Database, startedEc2: (now: () => number) => Ec2StandIn) {
    const { log, takeLines } = recordLog()
    this.log = log
    this.takeLines = takeLines
    this.db = db
    this.ec2 = startedEc2(() => this.clock.ms)
    this.restart()
  }

  get ctx(): Context {
    return this.process.ctx
  }

  restart(): Process {
    this.process?.kill()
    this.process = new Process(this)
    return this.process
  }

  advance(seconds: number): void {
    this.clock.ms += seconds * 1000
  }

  kept(userId: string): KeptStorage {
    const kept = this.objects.get(userId) ?? new KeptStorage()
    this.objects.set(userId, kept)
    return kept
  }

  /** A run's log. It outlives the processes. */
  logStore(runId: string): LogStore {
    const store = this.logs.get(runId) ?? new LogStore(objectStorage())
    this.logs.set(runId, store)
    return store
  }

  nextAlarm(userId: string): number | null {
    return this.kept(userId).alarm
  }

  /** Moves the clock to the user's next alarm, unless that is past, and rings it. Restarts a killed process. */
  async ring(userId: string): Promise<void> {
    const kept = this.kept(userId)
    if (kept.alarm === null) throw new Error('No alarm is set, so nothing would ever check again.')
    this.clock.ms = Math.max(this.clock.ms, kept.alarm)
    kept.alarm = null
    await this.process.alarm(userId).ring().catch(onlyKilled)
    if (!this.process.killed) return
    this.restart()
    // An alarm whose handler did not finish rings again.
    kept.alarm ??= this.clock.ms + 2_000
  }

  /** Moves the clock to the next look at the whole fleet, and looks. A trigger has started it, as after a deployment. */
  async watch(): Promise<void> {
    if (this.nextAlarm(FLEET) === null) await this.process.alarm(FLEET).wake(FLEET)
    await this.ring(FLEET)
  }

  /** What machines answer to `GET /status`; null: they don't. */
  statusOf: (host: string) => string | null = () => null

  /** Whether something answers at this address: an instance that has run long enough. */
  answers(host: string): boolean {
    const found = this.ec2.instances().find(({ publicIp, state }) => publicIp === host && state === 'running')
    const record = this.ec2.history().find(({ instanceId }) => instanceId === found?.instanceId)
    return record?.runningAt != null && this.clock.ms >= record.runningAt + this.answerMs
  }

  /** Rings until `done`, or until no alarm is left. */
  async ringUntil(userId: string, done: () => Promise<boolean>, atMost = 2_000): Promise<void> {
    for (let rings = 0; this.nextAlarm(userId) !== null; rings++) {
      if (await done()) return
      if (rings === atMost) throw new Error(`Still not settled after ${atMost} alarms`)
      await this.ring(userId)
    }
  }
}

/** What a running program holds in memory. Once killed, it reaches nothing, whatever its promises still try. */
export class Process {
  killed = false
  readonly ctx: Context
  readonly #alarms = new Map<string, JobAlarm>()
  readonly #world: World
  #background: Promise<unknown>[] = []

  constructor(world: World) {
    this.#world = world
    const call: Wire = (name, effect) => this.#call(name, effect)
    const cloud = ec2Cloud({
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      EC2_LAUNCH_TEMPLATE: 'proving-ground',
      EC2_ENDPOINT: world.ec2.endpoint,
    })
    this.ctx = testContext({
      db: wiredDatabase(world.db, call),
      now: () => world.clock.ms,
      random: () => world.random(),
      cloud: wiredCloud(cloud, call),
      runLog: (runId) => runLogOn(world.logStore(runId), call),
      mailer: { send: async (mail) => void world.mails.push(mail) },
      reach: (host) =>
        call('reach', async () => {
          world.reached.push(host)
          return world.answers(host) ? { status: 'reachable' } : { status: 'unreachable', code: 'ECONNREFUSED' }
        }),
      askStatus: (host) => call('status', async () => world.statusOf(host)),
      channel: (userId) => ({
        arm: () => call('channel: arm', () => this.alarm(userId).arm(userId)),
        wake: () => call('channel: wake', () => this.alarm(userId).wake(userId)),
        disconnect: silent.disconnect,
        tellAccount: silent.tellAccount,
        tellServer: silent.tellServer,
        tellLine: async (line) => void world.toldLine.push({ userId, line }),
      }),
      fleetWatcher: this.#watcher(call, FLEET),
      lineKeeper: this.#watcher(call, LINE),
      eventSender: () => ({ wake: () => call('sender: wake', async () => {}) }),
      background: (work) => void this.#background.push(work.catch(onlyMishaps)),
      log: world.log,
    })
  }

  kill(): void {
    this.killed = true
  }

  /** Waits until all background work has ended. */
  async settle(): Promise<void> {
    while (this.#background.length) await Promise.all(this.#background.splice(0))
  }

  #watcher(call: Wire, name: string): FleetWatcherCalls {
    return {
      arm: () => call(`${name}: arm`, () => this.alarm(name).arm(name)),
      wake: () => call(`${name}: wake`, () => this.alarm(name).wake(name)),
      revive: (_, now) => call('watcher: revive', () => this.alarm(name).revive(name, now)),
    }
  }

  alarm(userId: string): JobAlarm {
    let alarm = this.#alarms.get(userId)
    if (alarm) return alarm
    const world = this.#world
    const alive = () => {
      if (this.killed) throw new Cut('a killed process keeps nothing')
    }
    const publish = (job: Job) => {
      if (!this.killed) world.published.push({ userId, job, at: world.clock.ms })
    }
    const run = jobRunner(publish, (event, server) => {
      if (!this.killed) world.told.push({ userId, event, server })
    })
    const runJobs = async () => {
      const next = await run(this.ctx, userId)
      const at = this.ctx.now()
      return { at, wait: next === null ? null : next - at }
    }
    const looks: Record<string, () => Promise<{ at: number; wait: number | null }>> = {
      [FLEET]: () => watchFleet(this.ctx),
      [LINE]: () => keepLine(this.ctx),
    }
    const look = looks[userId] ?? runJobs
    alarm = new JobAlarm(storageOf(world.kept(userId), alive), look, world.log, {
      now: () => world.clock.ms,
      random: () => world.random(),
      ...(userId === FLEET ? { retryMs: FAILED_LOOK_MS } : {}),
    })
    this.#alarms.set(userId, alarm)
    return alarm
  }

  async #call<T>(name: string, effect: () => Promise<T>): Promise<T> {
    if (this.killed) throw new Cut(`a killed process does not ${name}`)
    try {
      this.#world.clock.ms += CALL_MS
      return await this.#world.wire(name, effect)
    } catch (error) {
      if (error instanceof Cut) this.kill()
      if (error instanceof Lost) throw new AppError('unavailable', 'No answer came.', { cause: error, retryable: true })
      throw error
    }
  }
}

/** Swallows what a test did to a call, as the platform does with work after the response. */
export function onlyMishaps(error: unknown): void {
  for (let e = error; e instanceof Error; e = e.cause) if (e instanceof Lost) return
  onlyKilled(error)
}

/** Swallows what a killed process still throws. */
function onlyKilled(error: unknown): void {
  for (let e = error; e instanceof Error; e = e.cause) if (e instanceof Cut) return
  throw error
}

function wiredDatabase(db: Database, call: Wire): Database {
  const { $client } = db
  const text = (statement: unknown) => String((statement as { sql?: string }).sql ?? statement).slice(0, 40)
  const execute = (...args: Parameters<typeof $client.execute>) =>
    call(`db: ${text(args[0])}`, () => $client.execute(...args))
  const batch = (...args: Parameters<typeof $client.batch>) =>
    call(`db: ${args[1] === 'write' ? 'batch' : 'select'} ${text(args[0][0])}`, () => $client.batch(...args))
  return throughCalls(db, { execute: execute as typeof $client.execute, batch })
}

function wiredCloud(cloud: Cloud, call: Wire): Cloud {
  return {
    launch: (launch) => call('ec2: launch', () => cloud.launch(launch)),
    findInstance: (id) => call('ec2: find instance', () => cloud.findInstance(id)),
    findByToken: (token) => call('ec2: find by token', () => cloud.findByToken(token)),
    tag: (id, tags) => call('ec2: tag', () => cloud.tag(id, tags)),
    templateVersion: (...place) => call('ec2: template version', () => cloud.templateVersion(...place)),
    terminate: (id) => call('ec2: terminate', () => cloud.terminate(id)),
    listPage: (after) => call('ec2: list page', () => cloud.listPage(after)),
    listInstances: () => call('ec2: list', () => cloud.listInstances()),
  }
}

/** A world on that database, with its own EC2; ends with the test file. */
export async function openWorld(db: Database, options: { bootMs?: number; shutdownMs?: number } = {}): Promise<World> {
  const dataDir = temporaryFolder('proving-ground-ec2')
  let now = () => 0
  const ec2 = await startEc2({
    dataDir,
    now: () => now(),
    bootMs: options.bootMs ?? 5_000,
    shutdownMs: options.shutdownMs ?? 3_000,
    webPort: await freePort(),
  })
  const world = new World(db, (worldNow) => {
    now = worldNow
    return ec2
  })
  atEnd(() => ec2.close())
  return world
}
