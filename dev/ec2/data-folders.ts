import { publicAddress } from './addresses.ts'
import { leavesOf } from './container.ts'
import { DataFolder } from './data-folder.ts'
import type { Identities } from './identity.ts'
import type { Instance } from './instance.ts'

type Options = {
  siteUrl: string | null
  identities: Identities
  now: () => number
  /** A machine that can't load its files shuts itself down. */
  shutDown: (instanceId: string) => void
}

/** The /data of each running instance. */
export class DataFolders {
  readonly #folders = new Map<string, DataFolder>()
  readonly #options: Options

  /** @param before instances that ran when the stack was last closed */
  constructor(options: Options, before: Instance[]) {
    this.#options = options
    for (const instance of before) this.#open(instance).resume()
  }

  /** Opens those of running instances, and has the others save what is left. @returns whose simulators may start */
  follow(running: Instance[]): Instance[] {
    const ids = new Set(running.map(({ id }) => id))
    for (const [id, folder] of this.#folders)
      if (!ids.has(id)) {
        this.#folders.delete(id)
        void folder.end()
      }
    return running.filter((instance) => {
      const folder = this.#folders.get(instance.id) ?? this.#begin(instance)
      return folder.state === 'loaded' || folder.state === 'none'
    })
  }

  of(instanceId: string): DataFolder | undefined {
    return this.#folders.get(instanceId)
  }

  close(): void {
    for (const folder of this.#folders.values()) folder.close()
  }

  #begin(instance: Instance): DataFolder {
    const folder = this.#open(instance)
    void folder.load().then(() => {
      if (folder.state === 'failed') this.#options.shutDown(instance.id)
      const left = leavesOf(instance)
      if (left && folder.state === 'loaded') folder.write(left.path, Buffer.from(left.text))
    })
    return folder
  }

  #open(instance: Instance): DataFolder {
    const { siteUrl, identities, now } = this.#options
    const proof = () => identities.proofOf(instance, now())
    const folder = new DataFolder({ siteUrl, proof, now, address: publicAddress(instance.slot) })
    this.#folders.set(instance.id, folder)
    return folder
  }
}
