import { AsyncLocalStorage } from 'node:async_hooks'
import { places } from '../../db/schema.ts'
import type { StripeEvent } from '../../dev/stripe/objects.ts'
import { AppError } from '../../src/domain/error.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/instant.ts'
import type { Job } from '../../src/domain/wire.ts'
import { receiveStripeEvent } from '../../src/server/billing/stripe-events.ts'
import { JobAlarm } from '../../src/server/channel/job-alarm.ts'
import type { Context } from '../../src/server/context.ts'
import { runCron, TASKS } from '../../src/server/cron.ts'
import { jobRunner } from '../../src/server/fleet/jobs/runner.ts'
import { FAILED_LOOK_MS, FLEET, watchFleet } from '../../src/server/fleet/look.ts'
import { toAppError } from '../../src/server/http/error-response.ts'
import { bindLog, type Log } from '../../src/server/log.ts'
import type { Cloud } from '../../src/server/ports/cloud.ts'
import type { Mail } from '../../src/server/ports/mailer.ts'
import type { Payments } from '../../src/server/ports/payments.ts'
import { type Random, seededRandom } from '../../testing/random.ts'
import { KeptStorage, storageOf } from '../../testing/stack/alarm-storage.ts'
import { memoryCounters } from '../../testing/stack/counters.ts'
import { Cut, Lost } from '../../testing/world/wire.ts'
import type { WorldDatabase } from './database.ts'
import { type Ec2World, openEc2 } from './ec2.ts'
import { openStripe, type StripeWorld } from './stripe.ts'
import { Turns } from './turns.ts'

/** How often calls fail: the share of calls that are lost, and of those that end their program. */
const WEATHER = {
  calm: { lost: 0, cut: 0, slowMs: 40 },
  rough: { lost: 0.02, cut: 0.01, slowMs: 400 },
  storm: { lost: 0.12, cut: 0.05, slowMs: 4_000 },
} as const
export type Weather = keyof typeof WEATHER

/** Over a longer time, alarms and triggers come this many times late, as while a platform is down. */
const LATE_AFTER_MS = 5 * MINUTE_MS
const LATE_LOOKS = 2
/** People ask for many things in a moment; the platform answers them together. */
const TOGETHER_MS = 500
const ZONES = ['us-east-1a', 'us-east-1b', 'us-east-1c']

const DAILY = '17 4 * * *'

type Invocation = { name: string; dead: boolean }
type Delivery = { event: StripeEvent; at: number; tries: number }

/** Something that must never be: the name of the rule, and what was seen. */
export class Broken extends Error {
  readonly rule: string
  constructor(rule: string, seen: string) {
    super(`${rule}: ${seen}`)
    this.rule = rule
  }
}

/**
 * The product's own verbs, jobs, triggers and SQL on one thread and one clock. Whatever leaves the program waits for its
 * turn, and may be lost, cut off, late or wrong. Everything depends on the seeds that the schedule names.
 */
export class World {
  readonly clock = { ms: Date.UTC(2027, 11, 20, 12) + 137 }
  readonly ec2: Ec2World
  readonly stripe: StripeWorld
  readonly ctx: Context
  readonly database: WorldDatabase
  readonly published: { userId: string; job: Job }[] = []
  readonly sent: Mail[] = []
  /** How often each state that is worth seeing was seen. */
  readonly reached = new Map<string, number>()
  /** When an instance's server first answered us. */
  readonly answeredAt = new Map<string, number>()
  /** Since when nothing has failed, for money and mail; and for the fleet, also nothing came late. */
  calmSince = { money: 0, fleet: 0 }
  /** Full rounds of all triggers since the start that nothing disturbed. */
  calmRounds: number[] = []
  /** Launches that EC2 carries out after we stopped waiting. */
  readonly late: (() => Promise<unknown>)[] = []
  readonly trace: ((line: string) => void) | null
  luck: Random = seededRandom(0)
  weather: Weather = 'calm'
  #turns = new Turns()
  #current = new AsyncLocalStorage<Invocation>()
  #invocations = new Set<Invocation>()
  #kept = new Map<string, KeptStorage>()
  #alarms = new Map<string, JobAlarm>()
  #notBefore = new Map<string, number>()
  #deliveries: Delivery[] = []
  #answers = new Map<string, number>()
  #bug: Broken | null = null

  constructor(database: WorldDatabase, trace: ((line: string) => void) | null = null) {
    this.database = database
    this.trace = trace
    const now = () => this.clock.ms
    this.ec2 = openEc2(
      now,
      (state) => this.note(state),
      () => this.disturb('fleet'),
    )
    this.stripe = openStripe(now, () => this.disturb())
    this.ctx = this.#context()
    // A trigger started it when this version was deployed.
    this.#kept.set(FLEET, Object.assign(new KeptStorage(), { alarm: now(), values: new Map([['userId', FLEET]]) }))
    this.calmSince = { money: now(), fleet: now() }
  }

  /** @param zones a place in each of these, in turn */
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

  /** Something failed or was late, so nothing is promised for a while. */
  disturb(what: 'fleet' | 'all' = 'all'): void {
    this.calmSince.fleet = this.clock.ms
    if (what === 'all') this.calmSince.money = this.clock.ms
  }

  /** How long it has been calm since that moment, in ms. */
  calmFor(what: 'money' | 'fleet', since: number): number {
    return this.clock.ms - Math.max(this.calmSince[what], since)
  }

  /** How many undisturbed rounds of triggers, at least so many ms apart, began since that moment and the last disturbance. */
  roundsSince(what: 'money' | 'fleet', since: number, apartMs: number): number {
    let last = Math.max(since, this.calmSince[what]) - apartMs
    let rounds = 0
    for (const at of this.calmRounds) {
      if (at <= Math.max(since, this.calmSince[what]) || at < last + apartMs) continue
      last = at
      rounds += 1
    }
    return rounds
  }

  /** Plays these at once, each as an invocation of its own. What a person may read as an error is no bug. */
  async together(tasks: { name: string; run: () => Promise<unknown> }[]): Promise<void> {
    const work = tasks.map(({ name, run }) => () => {
      const invocation = { name, dead: false }
      this.#invocations.add(invocation)
      return this.#current.run(invocation, async () => {
        try {
          await run()
        } catch (error) {
          if (isMishap(error)) return
          if (error instanceof Broken) this.#bug ??= error
          else if (toAppError(error).code === 'unexpected')
            this.#bug ??= new Broken('nothing-unexpected', `${name}: ${causes(error)}`)
          else this.trace?.(`    ${name} refused: ${(error as Error).message}`)
        } finally {
          this.#invocations.delete(invocation)
        }
      })
    })
    await this.#turns.play(this.luck, work)
    this.#collectEvents()
    if (this.#bug) throw this.#bug
  }

  /** Moves the clock, and plays whatever falls due until then. */
  async advance(ms: number): Promise<void> {
    const from = this.clock.ms
    const until = from + ms
    const lateBy = ms > LATE_AFTER_MS ? ms / LATE_LOOKS : 0
    this.#notBefore.clear()
    const cronEvery = Math.max(4 * MINUTE_MS, ms / LATE_LOOKS)
    let cronAt = from + this.luck.between(1, lateBy ? lateBy : cronEvery)
    for (;;) {
      const due = [...this.#nextAlarms(), ...this.#deliveries.map(({ at }) => at), cronAt]
      const next = Math.min(...due)
      if (next > until) break
      this.clock.ms = Math.max(this.clock.ms, next)
      this.stripe.passTime()
      this.#collectEvents()
      const tasks = [...this.#ringDue(lateBy), ...this.#deliverDue()]
      if (cronAt <= this.clock.ms + TOGETHER_MS) {
        tasks.push(...this.#crons())
        cronAt = this.clock.ms + cronEvery
      }
      await this.together(tasks)
    }
    this.clock.ms = Math.max(this.clock.ms, until)
    this.stripe.passTime()
    this.#collectEvents()
    if (lateBy || !this.ec2.isUsual()) this.disturb('fleet')
  }

  /** A new version is deployed: every program ends, and the objects forget what they hold in memory. */
  deploy(): void {
    for (const invocation of this.#invocations) invocation.dead = true
    this.#alarms.clear()
  }

  /** Rounds of all triggers in good weather, with all webhooks delivered. */
  async quietRound(): Promise<void> {
    await this.together([...this.#ringDue(0), ...this.#deliverDue()])
    await this.together(this.#crons())
  }

  /** Moves on to the next alarm or webhook if it is near. What people do then happens at the same time. */
  async untilNext(withinMs: number): Promise<{ name: string; run: () => Promise<unknown> }[]> {
    const next = Math.min(...this.#nextAlarms(), ...this.#deliveries.map(({ at }) => at))
    if (next > this.clock.ms + withinMs) return []
    await this.advance(Math.max(0, next - 1 - this.clock.ms))
    this.clock.ms = Math.max(this.clock.ms, next)
    return [...this.#ringDue(0), ...this.#deliverDue()]
  }

  #nextAlarms(): number[] {
    return [...this.#kept].flatMap(([userId, { alarm }]) =>
      alarm === null ? [] : [Math.max(alarm, this.#notBefore.get(userId) ?? 0)],
    )
  }

  #ringDue(lateBy: number) {
    const until = this.clock.ms + TOGETHER_MS
    return [...this.#kept].flatMap(([userId, kept]) => {
      if (kept.alarm === null || Math.max(kept.alarm, this.#notBefore.get(userId) ?? 0) > until) return []
      if (this.clock.ms - kept.alarm > 90_000) this.note('alarm came late')
      this.#notBefore.set(userId, lateBy ? this.clock.ms + lateBy * this.luck.next() : 0)
      kept.alarm = null
      return [{ name: `alarm of ${userId}`, run: () => this.#ring(userId, kept) }]
    })
  }

  async #ring(userId: string, kept: KeptStorage): Promise<void> {
    const invocation = this.#current.getStore()
    try {
      await this.#alarm(userId).ring()
    } finally {
      if (invocation?.dead) {
        // The platform rings again, in a new object.
        this.#alarms.delete(userId)
        kept.alarm ??= this.clock.ms + 2_000
      }
    }
  }

  #crons() {
    const tasks = Object.keys(TASKS).flatMap((cron) => {
      // The daily one, which deletes old traces, is rarely due.
      if (cron === DAILY && !this.luck.chance(0.1)) return []
      const luck = this.weather === 'calm' ? 0.5 + 0.45 * this.luck.next() : this.luck.next()
      if (luck < 0.1) {
        this.disturb()
        return []
      }
      const one = { name: `cron ${cron}`, run: () => runCron(this.ctx, cron) }
      if (luck > 0.9) this.note('trigger doubled')
      return luck > 0.9 ? [one, one] : [one]
    })
    if (this.weather === 'calm') this.calmRounds.push(this.clock.ms)
    return tasks
  }

  #deliverDue() {
    const due = this.#deliveries.filter(({ at }) => at <= this.clock.ms + TOGETHER_MS)
    this.#deliveries = this.#deliveries.filter((one) => !due.includes(one))
    return due.map((delivery) => ({ name: `webhook ${delivery.event.type}`, run: () => this.#deliver(delivery) }))
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { event, tries } = delivery
    try {
      await receiveStripeEvent(this.ctx, this.stripe.signed(event))
    } catch (error) {
      // Stripe tries again for three days.
      if (tries < 9) this.#deliveries.push({ event, tries: tries + 1, at: this.clock.ms + 5_000 * 5 ** tries })
      else this.disturb()
      throw error
    }
    if (tries === 0 && this.weather !== 'calm' && this.luck.chance(0.15)) {
      this.note('webhook doubled')
      this.#deliveries.push({ event, tries: 9, at: this.clock.ms + this.luck.between(1, 2 * HOUR_MS) })
    }
  }

  #collectEvents(): void {
    for (const event of this.stripe.takeEvents()) {
      const luck = this.luck.next()
      const isCalm = this.weather === 'calm'
      const isLost = this.stripe.conditions.losesWebhooks || (!isCalm && luck < 0.05)
      const kind = isLost ? 'lost' : !isCalm && luck < 0.2 ? 'late' : 'soon'
      if (kind === 'lost') {
        this.note('webhook lost')
        continue
      }
      if (kind === 'late') this.note('webhook late')
      const wait = kind === 'late' ? this.luck.between(MINUTE_MS, DAY_MS) : this.luck.between(200, 4_000)
      this.#deliveries.push({ event, tries: 0, at: this.clock.ms + wait })
    }
  }

  #alarm(userId: string): JobAlarm {
    let alarm = this.#alarms.get(userId)
    if (alarm) return alarm
    const kept = this.#kept.get(userId) ?? new KeptStorage()
    this.#kept.set(userId, kept)
    const alive = () => {
      const invocation = this.#current.getStore()
      if (invocation?.dead) throw new Cut('a dead object keeps nothing')
    }
    const run = jobRunner((job) => {
      if (!this.#current.getStore()?.dead) this.published.push({ userId, job })
    })
    const runJobs = async () => {
      const next = await run(this.ctx, userId)
      const at = this.clock.ms
      return { at, wait: next === null ? null : next - at }
    }
    const isFleet = userId === FLEET
    const look = isFleet ? () => watchFleet(this.ctx) : runJobs
    const clock = {
      now: () => this.clock.ms,
      random: () => this.luck.next(),
      ...(isFleet ? { retryMs: FAILED_LOOK_MS } : {}),
    }
    alarm = new JobAlarm(storageOf(kept, alive), look, this.#log, clock)
    this.#alarms.set(userId, alarm)
    return alarm
  }

  #log: Log = (event, fields, error) => {
    const matter = fields?.matter ? ` ${String(fields.matter).split(':')[0]}` : ''
    const code = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.name})` : ''
    this.note(`log: ${event}${matter}`)
    if (error !== undefined && !isMishap(error) && toAppError(error).code === 'unexpected')
      this.#bug ??= new Broken('nothing-unexpected', `${event}: ${causes(error)}`)
    this.trace?.(`    log ${event}${matter}${code} ${error instanceof Error ? error.message.slice(0, 120) : ''}`)
  }

  #call = async <T>(name: string, effect: () => Promise<T>): Promise<T> => {
    const invocation = this.#current.getStore()
    if (!invocation) throw new Error(`Nobody calls ${name}.`)
    if (invocation.dead) throw new Cut(`a dead program does not call ${name}`)
    return this.#turns.take(name, async () => {
      if (invocation.dead) throw new Cut(`a dead program does not call ${name}`)
      const { lost, cut, slowMs } = WEATHER[this.weather]
      this.clock.ms += this.luck.between(1, slowMs)
      const luck = lost === 0 ? 1 : this.luck.next()
      const before = this.luck.chance(0.5)
      const mishap = luck < cut ? 'cut' : luck < cut + lost ? 'lost' : null
      this.trace?.(
        `  ${new Date(this.clock.ms).toISOString()} ${invocation.name} → ${name}${mishap ? ` (${mishap} ${before ? 'before' : 'after'})` : ''}`,
      )
      if (mishap) this.disturb()
      if (mishap && name === 'ec2: launch' && this.luck.chance(0.4)) {
        this.late.push(effect)
        throw unanswered(name)
      }
      if (mishap && !before && name.startsWith('stripe: ') && this.luck.chance(0.3)) {
        this.note('answer lost, and its key forgotten')
        await effect().catch(() => {})
        this.stripe.forgetKeys()
        invocation.dead = mishap === 'cut'
        throw mishap === 'cut' ? new Cut(name) : unanswered(name)
      }
      if (mishap === 'cut' && this.luck.chance(0.1)) {
        this.note('deploy in the middle')
        this.deploy()
      }
      if (mishap === 'cut') {
        this.note(before ? 'program ended before a call' : 'program ended after a call')
        if (!before) await effect().catch(() => {})
        invocation.dead = true
        throw new Cut(name)
      }
      if (mishap === 'lost') {
        if (name === 'mail: send') this.note('mail lost')
        if (name.startsWith('db:')) this.note(before ? 'database lost before commit' : 'database lost after commit')
        if (!before) await effect()
        throw unanswered(name)
      }
      return effect()
    })
  }

  #context(): Context {
    const call = this.#call
    const { ec2, stripe } = this
    return {
      db: this.database.wired(call),
      now: () => this.clock.ms,
      random: () => this.luck.next(),
      cloud: everyCall('ec2', ec2.cloud, call),
      payments: everyCall('stripe', stripe.payments, call),
      mailer: { send: (mail) => call('mail: send', async () => void this.sent.push(mail)) },
      reach: (host) => call('reach', async () => this.#reach(host)),
      channel: (userId) => ({
        arm: () => call('channel: arm', () => this.#alarm(userId).arm(userId)),
        wake: () => call('channel: wake', () => this.#alarm(userId).wake(userId)),
        disconnect: () => call('channel: disconnect', async () => {}),
      }),
      fleetWatcher: { revive: (now) => call('watcher: revive', () => this.#alarm(FLEET).revive(FLEET, now)) },
      counter: memoryCounters(),
      hasher: { derive: async ({ secret }) => secret },
      background: (work) => this.#turns.background(work.catch((error) => this.#log('background_failed', {}, error))),
      log: bindLog(this.#log, {}),
      config: {
        origins: ['http://site.test'],
        secretKey: 's',
        passwordPepper: 'p',
        mailFrom: 'hello@site.test',
        operatorEmail: 'operator@site.test',
        plansForSale: true,
        metricsTokens: [],
        checkoutOrigin: 'https://checkout.stripe.com',
        portalOrigin: 'https://billing.stripe.com',
      },
    }
  }

  /** Most images answer within seconds, some after minutes, a few never. */
  #reach(host: string): { status: 'reachable' } | { status: 'unreachable'; code: string } {
    const instance = this.ec2.at(host)
    if (!instance) return { status: 'unreachable', code: 'EHOSTUNREACH' }
    let from = this.#answers.get(instance.id)
    if (from === undefined) {
      const luck = this.luck.next()
      from =
        luck < 0.05 ? Infinity : instance.runsFrom + (luck < 0.7 ? 2_000 : this.luck.between(10_000, 8 * MINUTE_MS))
      this.#answers.set(instance.id, from)
    }
    if (this.clock.ms < from) return { status: 'unreachable', code: 'ECONNREFUSED' }
    if (!this.answeredAt.has(instance.id)) this.answeredAt.set(instance.id, this.clock.ms)
    return { status: 'reachable' }
  }
}

/** Whether a call failed because this world made it fail. */
function isMishap(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause) if (e instanceof Cut || e instanceof Lost) return true
  return false
}

function causes(error: unknown): string {
  const messages: string[] = []
  for (let e = error; e instanceof Error; e = e.cause) messages.push(e.message)
  return messages.join(' ← ') || String(error)
}

function unanswered(name: string): AppError {
  return new AppError('unavailable', 'No answer came.', { cause: new Lost(name), retryable: true })
}

type AnyCall = (...args: never[]) => Promise<unknown>

function everyCall<Port extends Cloud | Payments>(
  vendor: string,
  port: Port,
  call: <T>(name: string, effect: () => Promise<T>) => Promise<T>,
): Port {
  return Object.fromEntries(
    Object.entries(port as Record<string, AnyCall>).map(([name, effect]) => [
      name,
      (...args: never[]) => call(`${vendor}: ${name}`, () => effect(...args)),
    ]),
  ) as Port
}
