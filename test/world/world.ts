import { places } from '../../db/schema/fleet.ts'
import { MINUTE_MS } from '../../src/domain/instant.ts'
import { runCron, TASKS } from '../../src/server/cron.ts'
import type { Mail } from '../../src/server/ports/mailer.ts'
import type { Context } from '../../src/server/runtime/context.ts'
import { type Random, seededRandom } from '../../testing/random.ts'
import { Alarms } from './alarms.ts'
import { Calm } from './calm.ts'
import { worldContext } from './context.ts'
import type { WorldDatabase } from './database.ts'
import { type Ec2World, openEc2, USUAL } from './ec2.ts'
import { FilesWorld } from './files/files-world.ts'
import { SHUTDOWN_MS } from './files/machine.ts'
import { Program, type Task, type Weather } from './program.ts'
import { Programs } from './programs/programs.ts'
import { Receivers } from './receivers.ts'
import { Servers } from './servers.ts'
import { openStripe, type StripeWorld } from './stripe.ts'
import { WarmMachines } from './warm-machines.ts'
import { Webhooks } from './webhooks.ts'
import './loaded.ts'

/** Over a longer time, alarms and triggers come this many times as late, as if the platform were down. */
const LATE_AFTER_MS = 5 * MINUTE_MS
const LATE_LOOKS = 2
/** People request many things at one moment; the platform answers them together. */
const TOGETHER_MS = 500
const ZONES = ['us-east-1a', 'us-east-1b', 'us-east-1c']

const DAILY = '17 4 * * *'

/**
 * The product's own verbs, jobs, triggers and SQL on one thread and one clock. Whatever leaves the program waits for its
 * turn, and may be lost, cut off, late or wrong. Everything depends on the seeds that the schedule names.
 */
export class World {
  readonly clock = { ms: Date.UTC(2027, 11, 20, 12) + 137 }
  readonly calm: Calm
  readonly ec2: Ec2World
  readonly stripe: StripeWorld
  readonly program: Program
  readonly alarms: Alarms
  readonly webhooks: Webhooks
  readonly servers: Servers
  readonly receivers: Receivers
  readonly programs: Programs
  readonly warm: WarmMachines
  /** Null: this world has no bucket. */
  readonly files: FilesWorld | null
  readonly ctx: Context
  readonly database: WorldDatabase
  readonly sent: Mail[] = []
  /** What operators did in the console, as far as it answered. */
  readonly acts: { id: string; act: string; subject: string }[] = []
  /** What a thief opened who knows only a password. */
  readonly thefts: string[] = []
  /** How often we saw each interesting state. */
  readonly reached = new Map<string, number>()
  readonly trace: ((line: string) => void) | null
  luck: Random = seededRandom(0)
  weather: Weather = 'calm'
  /** Checks the rules: after every wait, and whatever someone did. @throws Broken */
  watch = async (): Promise<void> => {}

  constructor(database: WorldDatabase, trace: ((line: string) => void) | null = null, hasFiles = false) {
    this.database = database
    this.trace = trace
    const now = () => this.clock.ms
    this.calm = new Calm(now)
    this.ec2 = openEc2(
      now,
      (state) => this.note(state),
      () => this.calm.disturb('fleet'),
      hasFiles ? { ...USUAL, shutdownMs: SHUTDOWN_MS } : USUAL,
    )
    this.stripe = openStripe(
      now,
      (state) => this.note(state),
      () => this.calm.disturb(),
    )
    this.program = new Program(this)
    this.alarms = new Alarms(this)
    this.webhooks = new Webhooks(this)
    this.servers = new Servers(this)
    this.receivers = new Receivers(this)
    this.programs = new Programs(this)
    this.warm = new WarmMachines(this)
    this.files = hasFiles ? new FilesWorld(this) : null
    this.ctx = worldContext(this)
  }

  /** @param large how many of them have four GPUs */
  async addPlaces(count: number, large = 0): Promise<void> {
    const rows = Array.from({ length: count }, (_, i) => ({
      id: `srv_${i}`,
      ...(i < count - large ? { instanceType: 'g6.4xlarge', gpus: 1 } : { instanceType: 'g6.12xlarge', gpus: 4 }),
      availabilityZone: ZONES[i % ZONES.length] as string,
      position: i,
    }))
    await this.database.db.insert(places).values(rows)
  }

  note(state: string): void {
    this.reached.set(state, (this.reached.get(state) ?? 0) + 1)
    this.trace?.(`    · ${state}`)
  }

  /** Plays these at once, each as an invocation of its own. @throws Broken */
  async together(tasks: Task[]): Promise<void> {
    await this.program.together(tasks)
    this.webhooks.collect()
    this.program.expectNoBug()
  }

  /** Moves the clock, and plays whatever falls due until then. */
  async advance(ms: number): Promise<void> {
    const from = this.clock.ms
    const until = from + ms
    const lateBy = ms > LATE_AFTER_MS ? Math.floor(ms / LATE_LOOKS) : 0
    this.alarms.beOnTime()
    this.warm.askEvery(lateBy)
    const cronEvery = Math.max(4 * MINUTE_MS, lateBy)
    let cronAt = from + this.luck.between(1, lateBy ? lateBy : cronEvery)
    for (;;) {
      const next = Math.min(...this.#moments(), cronAt)
      if (next > until) break
      this.#passTime(next)
      const soon = this.clock.ms + TOGETHER_MS
      const tasks = [...this.alarms.due(soon, lateBy), ...this.#othersDue(soon)]
      if (cronAt <= soon) {
        tasks.push(...this.#crons())
        cronAt = this.clock.ms + cronEvery
      }
      await this.together(tasks)
    }
    this.#passTime(until)
    if (lateBy || !this.ec2.isUsual()) this.calm.disturb('fleet')
    await this.watch()
  }

  /** A new version is deployed: every program ends, and the objects forget what they hold in memory. */
  deploy(): void {
    this.program.endAll()
    this.alarms.forget()
    this.programs.forget()
  }

  /** Moves on to the next alarm or webhook if it is near. What people do then happens at the same time. */
  async untilNext(withinMs: number): Promise<Task[]> {
    const next = Math.min(...this.#moments())
    if (next > this.clock.ms + withinMs) return []
    await this.advance(Math.max(0, next - 1 - this.clock.ms))
    this.clock.ms = Math.max(this.clock.ms, next)
    const soon = this.clock.ms + TOGETHER_MS
    return [...this.alarms.due(soon), ...this.#othersDue(soon)]
  }

  #othersDue(until: number): Task[] {
    const { webhooks, program, programs, warm, files } = this
    return [
      ...webhooks.due(until),
      ...program.due(until),
      ...programs.due(until),
      ...warm.due(until),
      ...(files?.due(until) ?? []),
    ]
  }

  /** When an alarm, a webhook, or a late launch comes, or a machine does something. */
  #moments(): number[] {
    const { alarms, webhooks, program, programs, warm, files } = this
    return [alarms, webhooks, program, programs, warm, ...(files ? [files] : [])].flatMap((one) => one.moments())
  }

  #passTime(until: number): void {
    this.clock.ms = Math.max(this.clock.ms, until)
    this.stripe.passTime()
    this.webhooks.collect()
  }

  #crons(): Task[] {
    const tasks = Object.keys(TASKS).flatMap((cron) => {
      // The daily one, which deletes old traces, is rarely due.
      if (cron === DAILY && !this.luck.chance(0.1)) return []
      const luck = this.weather === 'calm' ? 0.5 + 0.45 * this.luck.next() : this.luck.next()
      if (luck < 0.1) {
        this.calm.disturb()
        return []
      }
      const one = { name: `cron ${cron}`, run: () => runCron(this.ctx, cron) }
      if (luck > 0.9) this.note('trigger doubled')
      return luck > 0.9 ? [one, one] : [one]
    })
    if (this.weather === 'calm') this.calm.rounds.push(this.clock.ms)
    return tasks
  }
}
