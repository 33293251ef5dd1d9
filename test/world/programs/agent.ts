import { beginsAt, type Instance, publicIp, stateOf } from '../../../dev/ec2/instance.ts'
import { MINUTE_MS, SECOND_MS } from '../../../src/domain/instant.ts'
import { hearMachine } from '../../../src/server/fleet/machines/hear.ts'
import { readIdentity } from '../../../src/server/fleet/machines/identity.ts'
import { giveRunKey, readRunKey } from '../../../src/server/fleet/machines/run-key.ts'
import { toAppError } from '../../../src/server/http/error-response.ts'
import { amazon } from '../files/files-world.ts'
import { isMishap } from '../mishaps.ts'
import type { World } from '../world.ts'
import type { Plan } from './plan.ts'

/** As infra/image/agent.py has them. */
const BOOT_MS = SECOND_MS
const QUIET_MS = 30 * SECOND_MS
const MOST_BACK_OFF_MS = 20 * SECOND_MS
const LAST_MS = 15 * MINUTE_MS
/** systemd starts it again. */
const BEGINS_AGAIN_MS = 4 * SECOND_MS
const KILLED = 143

type Word = { at: number; phase: { name: string } | null }

/** One machine of a run until exit: what its program really does, and what infra/image/agent.py tells us of it. */
export class Agent {
  readonly runId: string
  readonly plan: Plan
  /** When its container started. */
  startedAt: number | null = null
  /** When we took a word of it. */
  readonly heard: number[] = []
  /** When it knew that we had its word of the exit. */
  saidExit: number | null = null
  readonly #instanceId: string
  readonly #world: World
  #key: string | null = null
  #isTold = false
  #isOver = false
  /** The number of the first line that we don't have. Null: it hasn't been told. */
  #next: number | null = null
  #words: Word[] = []
  #hasExited = false
  #hasStopped = false
  #at: number
  #failures = 0

  constructor(world: World, instance: Instance, plan: Plan) {
    this.#world = world
    this.#instanceId = instance.id
    this.runId = instance.tags.session ?? ''
    this.plan = plan
    this.#at = beginsAt(instance) + BOOT_MS
  }

  /** When its container ended or will end: by itself, or with its machine. */
  get endsAt(): number {
    return Math.min(this.#exitsAt, this.#instance.shutDownAt ?? Infinity)
  }

  /** How its program ended by itself, until now. */
  get exit(): { at: number; code: number } | null {
    const at = this.#exitsAt
    const isPast = at <= this.#world.clock.ms && at <= this.endsAt
    return isPast ? { at, code: this.#crashesAt <= at ? KILLED : this.plan.code } : null
  }

  get next(): number {
    return this.#next ?? 1
  }

  get #instance(): Instance {
    return this.#world.ec2.all().find(({ id }) => id === this.#instanceId) as Instance
  }

  get #crashesAt(): number {
    return (this.startedAt ?? Infinity) + this.plan.crashesAfterMs
  }

  get #exitsAt(): number {
    return Math.min((this.startedAt ?? Infinity) + this.plan.runsMs, this.#crashesAt)
  }

  /** @returns when it next does something, or Infinity */
  moment(): number {
    if (this.#isOver) return Infinity
    const instance = this.#instance
    const { shutDownAt, stateReason, runsFrom } = instance
    const neverRan = shutDownAt !== null && shutDownAt < runsFrom
    this.#isOver = neverRan || stateOf(instance, this.#world.clock.ms) === 'terminated'
    if (this.#isOver) return Infinity
    const exit = this.#hasExited || this.endsAt < this.#exitsAt ? Infinity : this.#exitsAt
    const stop = this.#hasStopped || stateReason !== 'Client.UserInitiatedShutdown' ? Infinity : (shutDownAt ?? 0)
    return Math.min(this.#at, exit, stop)
  }

  async run(): Promise<void> {
    const { clock, luck } = this.#world
    if (this.moment() === Infinity) return
    this.#at = Infinity
    this.#notice()
    try {
      if (this.#isAway()) return
      if (this.#next === null) await this.#post(null)
      if (!this.#mayStart()) return
      for (let word = this.#words[0]; word && !this.#isOver; word = this.#words[0]) await this.#say(word)
      this.#failures = 0
      if (this.#hasExited) this.#powerOff()
    } catch (error) {
      const { code } = toAppError(error)
      if (!isMishap(error) && code === 'unexpected') throw error
      if (code === 'unauthenticated') this.#key = null
      if (code === 'forbidden' && this.#isTold) this.#isOver = true
      const pause = Math.min(MOST_BACK_OFF_MS, SECOND_MS * 2 ** this.#failures++)
      this.#at = clock.ms + Math.round(pause * (0.75 + luck.next() / 2))
      this.#world.trace?.(`    agent of ${this.#instanceId}: ${(error as Error).message}`)
    }
  }

  /** A quiet word changes only when we last heard of it, so it's said when somebody asks. @returns its moment */
  lastQuietWord(until: number): number | null {
    const last = this.heard.at(-1)
    if (this.#next === null || this.#words.length > 0 || last === undefined) return null
    let at = Math.min(until, this.endsAt)
    for (const { from } of this.plan.silences) if (this.#isCutOff(at)) at = (this.startedAt ?? 0) + from - 1
    const word = last + Math.floor((at - last) / QUIET_MS) * QUIET_MS
    return word > last && !this.#isCutOff(word) ? word : null
  }

  /** What happened since it last looked. */
  #notice(): void {
    const { world, exit } = { world: this.#world, exit: this.exit }
    if (exit && !this.#hasExited) {
      this.#hasExited = true
      world.programs.sayQuietly(this, exit.at)
      world.note(`program ended after ${lengthOf(exit.at - (this.startedAt ?? 0))}`)
      if (this.#crashesAt <= exit.at) {
        // What it hadn't sent is lost, and so are its numbers and its key.
        this.#key = this.#next = null
        this.#words = [{ at: this.startedAt ?? 0, phase: { name: 'started' } }]
        world.note('agent began again')
      }
      const phase = { name: 'exited', exit_code: exit.code, oom: exit.code === 137, answered: false }
      this.#words.push({ at: exit.at, phase })
    }
    const { shutDownAt, stateReason } = this.#instance
    if (shutDownAt === null || shutDownAt > world.clock.ms || this.#hasStopped) return
    this.#hasStopped = true
    if (stateReason !== 'Client.UserInitiatedShutdown') return
    if (this.startedAt !== null && !this.#hasExited) world.programs.sayQuietly(this, shutDownAt)
    this.#words.push({ at: shutDownAt, phase: null })
  }

  /** Whether it reaches nobody now: its agent is down, or its network. */
  #isAway(): boolean {
    const { clock, luck } = this.#world
    const beginsAt = this.#crashesAt + BEGINS_AGAIN_MS
    if (this.#crashesAt <= clock.ms && clock.ms < beginsAt) this.#at = beginsAt
    else if (this.#isCutOff(clock.ms)) {
      const givesUpAt = this.#hasExited ? this.#exitsAt + LAST_MS : Infinity
      if (clock.ms >= givesUpAt) this.#powerOff()
      else this.#at = Math.min(this.#reachesUsAt() + luck.between(0, MOST_BACK_OFF_MS), givesUpAt)
      this.#world.note('machine fell silent')
    } else return false
    return true
  }

  #isCutOff(at: number): boolean {
    const since = at - (this.startedAt ?? Infinity)
    return this.plan.silences.some(({ from, until }) => from <= since && since < until)
  }

  #reachesUsAt(): number {
    const ends = this.plan.silences.map(({ until }) => (this.startedAt ?? 0) + until)
    return ends.find((at) => at > this.#world.clock.ms) ?? Infinity
  }

  #mayStart(): boolean {
    const { clock } = this.#world
    if (this.startedAt !== null || this.#hasStopped) return true
    this.#at = beginsAt(this.#instance) + this.plan.startsAfterMs
    if (clock.ms < this.#at) return false
    this.#at = Infinity
    this.startedAt = clock.ms
    this.#words.push({ at: clock.ms, phase: { name: 'started' } })
    return !this.#isAway()
  }

  async #say(word: Word): Promise<void> {
    await this.#post(word)
    this.#words.shift()
    if (word.phase?.name === 'exited') this.saidExit = this.#world.clock.ms
    // The answer was lost on its way.
    if (this.plan.stutters) await this.#post(word, this.next - 1)
  }

  /** @param word null: it asks which lines we have */
  async #post(word: Word | null, first = this.next): Promise<void> {
    const { ctx } = this.#world
    this.#key ??= await this.#ask()
    const lines = word ? [{ at: word.at + this.plan.liesByMs, source: 'machine', text: 'a word' }] : []
    const body = { first, lines, ...(word?.phase && { phase: word.phase }), complete: false }
    const { next } = await hearMachine(ctx, readRunKey(ctx.config.secretKey, this.#key), async () => body)
    this.#next = next
  }

  async #ask(): Promise<string> {
    const { ctx, clock } = this.#world
    const proof = amazon().proofOf(this.#instance, clock.ms)
    const { key } = await giveRunKey(
      ctx,
      await readIdentity(ctx.config.machines, proof),
      publicIp(this.#instance, clock.ms),
    )
    this.#isTold = true
    return key
  }

  #powerOff(): void {
    this.#isOver = true
    if (stateOf(this.#instance, this.#world.clock.ms) === 'running') this.#world.ec2.powerOffByItself(this.#instanceId)
  }
}

function lengthOf(ms: number): string {
  if (ms < 2 * SECOND_MS) return 'a moment'
  return ms < 5 * MINUTE_MS ? 'seconds' : 'long'
}
