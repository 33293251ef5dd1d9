import type { Job } from '../../src/domain/wire/fleet.ts'
import { JobAlarm } from '../../src/server/channel/job-alarm.ts'
import { deliverDue } from '../../src/server/events/deliver.ts'
import { jobRunner } from '../../src/server/fleet/jobs/runner.ts'
import { keepLine } from '../../src/server/fleet/line/keep.ts'
import { FAILED_LOOK_MS, LOOK_EVERY_MS, watchFleet } from '../../src/server/fleet/look.ts'
import { FLEET, LINE } from '../../src/server/ports/objects.ts'
import { KeptStorage, storageOf } from '../../testing/stack/alarm-storage.ts'
import { Cut } from '../../testing/world/wire.ts'
import type { Task } from './program.ts'
import type { World } from './world.ts'

const LATE_MS = 90_000
/** An alarm whose handler was cut off rings again. */
const AGAIN_MS = 2_000
/** Before a user's id: the name of the object that delivers their events. */
export const SENDER = 'events of '

/** The objects for each user's jobs and for the fleet: what the platform stores for them, and when it rings their alarms. */
export class Alarms {
  /** What we told people. */
  readonly published: { userId: string; job: Job }[] = []
  #world: World
  #kept = new Map<string, KeptStorage>()
  #alarms = new Map<string, JobAlarm>()
  #notBefore = new Map<string, number>()
  #waits: { name: string; from: number; until: number }[] = []

  constructor(world: World) {
    this.#world = world
    // A trigger started it when this version was deployed.
    const started = { alarm: world.clock.ms, values: new Map([['userId', FLEET]]) }
    this.#kept.set(FLEET, Object.assign(new KeptStorage(), started))
  }

  of(userId: string): JobAlarm {
    const known = this.#alarms.get(userId)
    if (known) return known
    const alarm = this.#create(userId)
    this.#alarms.set(userId, alarm)
    return alarm
  }

  /** The object that delivers someone's events. */
  senderOf(userId: string): JobAlarm {
    return this.of(`${SENDER}${userId}`)
  }

  /** The objects forget what they hold in memory. */
  forget(): void {
    this.#alarms.clear()
  }

  /** From now on, holds back no alarm. */
  beOnTime(): void {
    this.#notBefore.clear()
  }

  /** When each alarm that is set would ring. */
  moments(): number[] {
    return [...this.#kept].flatMap(([userId, kept]) => this.#momentOf(userId, kept) ?? [])
  }

  /** Takes all alarms up to that moment. @param lateBy how late their next ones come, on average twice that in ms */
  due(until: number, lateBy = 0): Task[] {
    const { clock, luck } = this.#world
    return [...this.#kept].flatMap(([userId, kept]) => {
      const moment = this.#momentOf(userId, kept)
      if (kept.alarm === null || moment === null || moment > until) return []
      if (kept.alarm < clock.ms) this.#waits.push({ name: userId, from: kept.alarm, until: clock.ms })
      if (clock.ms - kept.alarm > LATE_MS) this.#world.note('alarm came late')
      this.#notBefore.set(userId, lateBy ? clock.ms + luck.between(0, lateBy) : 0)
      kept.alarm = null
      return [{ name: `alarm of ${userId}`, run: () => this.#ring(userId, kept) }]
    })
  }

  /** How long an object's alarm was due between two moments, but late, or waiting for others on our one clock. */
  heldUp(name: string, from: number, until: number): number {
    const due = this.#kept.get(name)?.alarm ?? null
    const waits = this.#waits.filter((wait) => wait.name === name)
    if (due !== null) waits.push({ name, from: due, until: this.#world.clock.ms })
    return waits.reduce((sum, wait) => sum + Math.max(0, Math.min(wait.until, until) - Math.max(wait.from, from)), 0)
  }

  #momentOf(userId: string, { alarm }: KeptStorage): number | null {
    return alarm === null ? null : Math.max(alarm, this.#notBefore.get(userId) ?? 0)
  }

  async #ring(userId: string, kept: KeptStorage): Promise<void> {
    const isDead = this.#world.program.deathOfThis()
    try {
      await this.of(userId).ring()
    } finally {
      if (isDead()) {
        // The platform rings again, in a new object.
        this.#alarms.delete(userId)
        kept.alarm ??= this.#world.clock.ms + AGAIN_MS
      }
    }
  }

  #create(userId: string): JobAlarm {
    const { program, clock, ctx } = this.#world
    const kept = this.#kept.get(userId) ?? new KeptStorage()
    this.#kept.set(userId, kept)
    const alive = () => {
      if (program.isDead()) throw new Cut('a dead object keeps nothing')
    }
    const run = jobRunner(
      (job) => {
        if (!program.isDead()) this.published.push({ userId, job })
      },
      () => {},
    )
    const runJobs = async () => {
      const next = await run(ctx, userId)
      const at = clock.ms
      return { at, wait: next === null ? null : next - at }
    }
    const sendEvents = async (owner: string) => {
      const next = await deliverDue(ctx, owner)
      const at = clock.ms
      return { at, wait: next === null ? null : next - at }
    }
    const isFleet = userId === FLEET
    const look = userId === LINE ? () => keepLine(ctx) : userId.startsWith(SENDER) ? sendEvents : runJobs
    return new JobAlarm(storageOf(kept, alive), isFleet ? () => this.#watch() : look, program.log, {
      now: () => clock.ms,
      random: () => this.#world.luck.next(),
      ...(isFleet ? { retryMs: FAILED_LOOK_MS } : {}),
    })
  }

  /** Most looks find nothing at all. If none could fail either, we know their outcome. */
  async #watch(): Promise<{ at: number; wait: number }> {
    const { ctx, clock, ec2, weather } = this.#world
    if (weather !== 'calm' || ec2.isTroubled() || ec2.alive().length > 0) return watchFleet(ctx)
    const { runs } = await this.#world.database.read()
    if (runs.some((run) => run.runningAt !== null && run.endedAt === null)) return watchFleet(ctx)
    ec2.looked.at = clock.ms
    return { at: clock.ms, wait: LOOK_EVERY_MS }
  }
}
