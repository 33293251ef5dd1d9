import { publicAddress } from './addresses.ts'
import { pullsFor } from './container.ts'
import type { Identities } from './identity.ts'
import { hasBegun, type Instance } from './instance.ts'

type Options = {
  siteUrl: string | null
  identities: Identities
  now: () => number
  begin: (instanceId: string, pulled: string[]) => void
}

const AGAIN_MS = 2_000

/** What warm machines do before they have a run: infra/image/simulator.sh. */
export class WarmMachines {
  readonly #options: Options
  readonly #asking = new Set<string>()
  readonly #askAt = new Map<string, number>()
  /** What the site told each machine to pull. */
  readonly #images = new Map<string, string[]>()
  readonly #closing = new AbortController()

  constructor(options: Options) {
    this.#options = options
  }

  /** Asks what the waiting machines are for. Its caller looks many times a second, and waits for nothing. */
  follow(running: Instance[]): void {
    const { siteUrl, now } = this.#options
    if (siteUrl === null) return
    for (const instance of running) {
      const { id } = instance
      if (hasBegun(instance) || this.#asking.has(id) || now() < (this.#askAt.get(id) ?? 0)) continue
      this.#asking.add(id)
      void this.#ask(instance)
        .catch(() => {})
        .finally(() => {
          this.#askAt.set(id, now() + AGAIN_MS)
          this.#asking.delete(id)
        })
    }
  }

  close(): void {
    this.#closing.abort()
  }

  async #ask(instance: Instance): Promise<void> {
    const { siteUrl, identities, now, begin } = this.#options
    const images = this.#images.get(instance.id)
    const ready = images !== undefined && now() >= instance.runsFrom + pullsFor(images)
    const answer = await fetch(`${siteUrl}/machines/work`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'CF-Connecting-IP': publicAddress(instance.slot) },
      body: JSON.stringify({ ...identities.proofOf(instance, now()), ready }),
      signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(10_000)]),
    })
    if (answer.status !== 200) {
      await answer.body?.cancel()
      return
    }
    const work = (await answer.json()) as { run: string | null; images?: string[] }
    if (work.run === null) this.#images.set(instance.id, work.images ?? [])
    else begin(instance.id, ready ? images : [])
  }
}
