import { publicAddress } from './addresses.ts'
import type { Identities } from './identity.ts'
import type { Instance } from './instance.ts'
import { MachineLog } from './machine-log.ts'

type Options = {
  /** Null: there is nobody to tell. */
  siteUrl: string | null
  identities: Identities
  now: () => number
  find: (instanceId: string) => Instance | undefined
}

/** A fleet of thousands would keep the site busy with machines that have nothing to say. */
const MOST = 500

/** What each running instance tells the site of itself, for 500 of them at most. */
export class MachineLogs {
  readonly #running = new Map<string, MachineLog>()
  /** Of those that shut down, until they have said everything. */
  readonly #ending = new Set<MachineLog>()
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
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
    for (const instance of running)
      if (!this.#running.has(instance.id) && this.#running.size < MOST) this.#open(instance)
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
    const log = new MachineLog(instance, { siteUrl, proof, now, address: publicAddress(instance.slot) })
    this.#running.set(instance.id, log)
  }
}
