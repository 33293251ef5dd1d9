import { publicAddress } from './addresses.ts'
import { isPrivate } from './container.ts'
import type { Identities } from './identity.ts'
import type { Instance } from './instance.ts'
import { MachineLog } from './machine-log.ts'

type Options = {
  /** Null: there is no site to tell. */
  siteUrl: string | null
  identities: Identities
  now: () => number
  find: (instanceId: string) => Instance | undefined
  /** How many machines speak. A fleet of thousands would keep the site busy with machines that have nothing to say. */
  most: number
}

/** Machines don't all start speaking at once. */
const AT_ONCE = 2

/** What each running instance tells the site about itself. */
export class MachineLogs {
  readonly #running = new Map<string, MachineLog>()
  /** Those that are shutting down, until they have said everything. */
  readonly #ending = new Set<MachineLog>()
  readonly #options: Options
  #sent = 0

  constructor(options: Options) {
    this.#options = options
  }

  /** How many requests they have sent. */
  sent(): number {
    return this.#sent
  }

  /** Whether its program may run. One that needs something from the site waits for it. */
  mayRun(instance: Instance): boolean {
    const waits = (instance.tags.agent !== undefined || isPrivate(instance)) && this.#options.siteUrl !== null
    return !waits || this.#running.get(instance.id)?.isTold === true
  }

  follow(running: Instance[]): void {
    const ids = new Set(running.map(({ id }) => id))
    for (const [id, log] of this.#running) {
      if (ids.has(id)) continue
      this.#running.delete(id)
      const instance = this.#options.find(id)
      if (instance) log.end(instance)
      this.#ending.add(log)
    }
    const { most } = this.#options
    const silent = running.filter(({ id }) => !this.#running.has(id))
    for (const instance of silent.slice(0, Math.min(AT_ONCE, most - this.#running.size))) this.#open(instance)
    for (const log of this.#running.values()) void log.look()
    for (const log of this.#ending) {
      if (log.isOver) this.#ending.delete(log)
      void log.look()
    }
  }

  close(): void {
    for (const log of [...this.#running.values(), ...this.#ending]) log.close()
  }

  #open(instance: Instance): void {
    const { siteUrl, identities, now } = this.#options
    if (siteUrl === null) return
    const proof = () => identities.proofOf(instance, now())
    const onSend = () => this.#sent++
    const log = new MachineLog(instance, { siteUrl, proof, now, onSend, address: publicAddress(instance.slot) })
    this.#running.set(instance.id, log)
  }
}
