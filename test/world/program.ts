import { AsyncLocalStorage } from 'node:async_hooks'
import { MINUTE_MS } from '../../src/domain/instant.ts'
import { toAppError } from '../../src/server/http/error-response.ts'
import type { Log } from '../../src/server/settings/log.ts'
import { Cut } from '../../testing/world/wire.ts'
import { Broken, causes, isMishap, unanswered } from './mishaps.ts'
import { Turns } from './turns.ts'
import type { World } from './world.ts'

/** How often calls fail: the share of calls that are lost, and of those that end their program. */
const WEATHER = {
  calm: { lost: 0, cut: 0, slowMs: 40 },
  rough: { lost: 0.02, cut: 0.01, slowMs: 400 },
  storm: { lost: 0.12, cut: 0.05, slowMs: 4_000 },
} as const
export type Weather = keyof typeof WEATHER

/** AWS refuses a request that was signed longer ago. */
const REQUEST_EXPIRES_MS = 5 * MINUTE_MS

type Invocation = { name: string; dead: boolean }
export type Task = { name: string; run: () => Promise<unknown> }

/** The product's invocations, and the calls that leave them: each waits for its turn, and may be lost or cut off. */
export class Program {
  /** Launches that EC2 carries out after we stopped waiting. */
  #late: { launch: () => Promise<unknown>; at: number }[] = []
  #world: World
  #turns = new Turns()
  #current = new AsyncLocalStorage<Invocation>()
  #invocations = new Set<Invocation>()
  #bug: Broken | null = null

  constructor(world: World) {
    this.#world = world
  }

  /** Plays these at once, each as an invocation of its own. What a person may read as an error is no bug. */
  async together(tasks: Task[]): Promise<void> {
    await this.#turns.play(
      this.#world.luck,
      tasks.map((task) => () => this.#invoke(task)),
    )
  }

  /** @throws what no invocation should have done */
  expectNoBug(): void {
    if (this.#bug) throw this.#bug
  }

  async #invoke({ name, run }: Task): Promise<void> {
    const invocation = { name, dead: false }
    this.#invocations.add(invocation)
    await this.#current.run(invocation, async () => {
      try {
        await run()
      } catch (error) {
        if (isMishap(error)) return
        if (error instanceof Broken) this.#bug ??= error
        else if (toAppError(error).code === 'unexpected')
          this.#bug ??= new Broken('nothing-unexpected', `${name}: ${causes(error)}`)
        else this.#world.trace?.(`    ${name} refused: ${(error as Error).message}`)
      } finally {
        this.#invocations.delete(invocation)
      }
    })
  }

  /** Whether the calling invocation has ended. What is left of it reaches nothing. */
  isDead(): boolean {
    return this.#current.getStore()?.dead ?? false
  }

  /** When EC2 carries out a launch that we no longer wait for. */
  moments(): number[] {
    return this.#late.map(({ at }) => at)
  }

  /** The late launches until then. */
  due(until: number): Task[] {
    const due = this.#late.filter(({ at }) => at <= until)
    this.#late = this.#late.filter(({ at }) => at > until)
    return due.map(({ launch }) => ({ name: 'late launch', run: () => this.#carryOut(launch) }))
  }

  async #carryOut(launch: () => Promise<unknown>): Promise<void> {
    await launch().catch(() => {})
    this.#world.calm.disturb()
    this.#world.note('launch carried out late')
  }

  /** Asks later whether the invocation that runs now has ended. */
  deathOfThis(): () => boolean {
    const invocation = this.#current.getStore()
    return () => invocation?.dead ?? false
  }

  /** Every invocation ends at its next call. */
  endAll(): void {
    for (const invocation of this.#invocations) invocation.dead = true
  }

  background(work: Promise<unknown>): void {
    this.#turns.background(work.catch((error) => this.log('background_failed', {}, error)))
  }

  /** A dead program logs nothing: what it catches from then on never happened. */
  log: Log = (event, fields, error) => {
    if (this.isDead()) return
    const matter = fields?.matter ? ` ${String(fields.matter).split(':')[0]}` : ''
    const code = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.name})` : ''
    this.#world.note(`log: ${event}${matter}`)
    if (error !== undefined && !isMishap(error) && toAppError(error).code === 'unexpected')
      this.#bug ??= new Broken('nothing-unexpected', `${event}: ${causes(error)}`)
    this.#world.trace?.(`    log ${event}${matter}${code} ${error instanceof Error ? error.message.slice(0, 120) : ''}`)
  }

  call = async <T>(name: string, effect: () => Promise<T>): Promise<T> => {
    const invocation = this.#current.getStore()
    if (!invocation) throw new Error(`Nobody calls ${name}.`)
    if (invocation.dead) throw new Cut(`a dead program does not call ${name}`)
    return this.#turns.take(name, async () => {
      if (invocation.dead) throw new Cut(`a dead program does not call ${name}`)
      return this.#go(invocation, name, effect)
    })
  }

  async #go<T>(invocation: Invocation, name: string, effect: () => Promise<T>): Promise<T> {
    const world = this.#world
    const { lost, cut, slowMs } = WEATHER[world.weather]
    world.clock.ms += world.luck.between(1, slowMs)
    const luck = lost === 0 ? 1 : world.luck.next()
    const before = world.luck.chance(0.5)
    const mishap = luck < cut ? 'cut' : luck < cut + lost ? 'lost' : null
    world.trace?.(
      `  ${new Date(world.clock.ms).toISOString()} ${invocation.name} → ${name}${mishap ? ` (${mishap} ${before ? 'before' : 'after'})` : ''}`,
    )
    if (!mishap) return effect()
    world.calm.disturb()
    if (name === 'ec2: launch' && world.luck.chance(0.4)) {
      this.#late.push({ launch: effect, at: world.clock.ms + world.luck.between(1, REQUEST_EXPIRES_MS) })
      throw unanswered(name)
    }
    if (!before && name.startsWith('stripe: ') && world.luck.chance(0.3)) {
      world.note('answer lost, and its key forgotten')
      await effect().catch(() => {})
      world.stripe.forgetKeys()
      invocation.dead = mishap === 'cut'
      throw mishap === 'cut' ? new Cut(name) : unanswered(name)
    }
    return mishap === 'cut' ? this.#cut(invocation, name, before, effect) : this.#lose(name, before, effect)
  }

  async #cut(invocation: Invocation, name: string, before: boolean, effect: () => Promise<unknown>): Promise<never> {
    const world = this.#world
    if (world.luck.chance(0.1)) {
      world.note('deploy in the middle')
      world.deploy()
    }
    world.note(before ? 'program ended before a call' : 'program ended after a call')
    if (!before) await effect().catch(() => {})
    invocation.dead = true
    throw new Cut(name)
  }

  async #lose(name: string, before: boolean, effect: () => Promise<unknown>): Promise<never> {
    if (name === 'mail: send') this.#world.note('mail lost')
    if (name.startsWith('db:')) this.#world.note(before ? 'database lost before commit' : 'database lost after commit')
    if (!before) await effect()
    throw unanswered(name)
  }
}
