import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs'
import type { Instance } from './instance.ts'

/** How long an instance ran, in ms of the stack's clock; null for what has not happened (yet, or ever). */
export type InstanceRecord = {
  instanceId: string
  clientToken: string | null
  instanceType: string
  availabilityZone: string
  tags: Record<string, string>
  launchedAt: number
  runningAt: number | null
  /** The end of running, and of what AWS would bill. */
  shuttingDownAt: number | null
  terminatedAt: number | null
}

type Ended = Pick<Instance, 'id' | 'shutDownAt' | 'terminatedFrom'>
type Line = { launched: Instance } | { ended: Ended }

/**
 * An append-only file that outlives the state, which forgets instances. The state is written first; what a kill
 * kept from being appended is appended when the state is next looked at.
 */
export class History {
  readonly #path: string
  readonly #launched = new Map<string, Instance>()
  readonly #ended = new Map<string, Ended>()

  constructor(path: string) {
    this.#path = path
    const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    // A kill amid an append leaves half a line, which the next append must not continue.
    if (whole.length < text.length) truncateSync(path, Buffer.byteLength(whole))
    for (const line of whole.split('\n').filter(Boolean)) this.#remember(JSON.parse(line) as Line)
  }

  follow(instances: Instance[]): void {
    const lines: Line[] = []
    for (const instance of instances) {
      const { id, shutDownAt, terminatedFrom } = instance
      if (!this.#launched.has(id)) {
        lines.push({ launched: { ...instance, shutDownAt: null, terminatedFrom: null, stateReason: null } })
      }
      // A second end is an instance that vanished while it was shutting down.
      if (terminatedFrom !== null && this.#ended.get(id)?.terminatedFrom !== terminatedFrom) {
        lines.push({ ended: { id, shutDownAt, terminatedFrom } })
      }
    }
    if (lines.length === 0) return
    appendFileSync(this.#path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    for (const line of lines) this.#remember(line)
  }

  records(now: number): InstanceRecord[] {
    const past = (moment: number | null | undefined) => (moment != null && moment <= now ? moment : null)
    return [...this.#launched.values()].map((instance) => {
      const ended = this.#ended.get(instance.id)
      const ran = ended?.shutDownAt == null || ended.shutDownAt >= instance.runsFrom
      return {
        instanceId: instance.id,
        clientToken: instance.clientToken,
        instanceType: instance.instanceType,
        availabilityZone: instance.availabilityZone,
        tags: instance.tags,
        launchedAt: instance.launchedAt,
        runningAt: ran ? past(instance.runsFrom) : null,
        shuttingDownAt: past(ended?.shutDownAt),
        terminatedAt: past(ended?.terminatedFrom),
      }
    })
  }

  #remember(line: Line): void {
    if ('launched' in line) this.#launched.set(line.launched.id, line.launched)
    else this.#ended.set(line.ended.id, line.ended)
  }
}
