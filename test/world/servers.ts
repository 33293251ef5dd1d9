import { beginsAt, hasBegun, type Instance } from '../../dev/ec2/instance.ts'
import { MINUTE_MS } from '../../src/domain/instant.ts'
import type { World } from './world.ts'

/** What runs on the machines. Most images answer within seconds, some after minutes, a few never. */
export class Servers {
  /** When an instance's server first answered us. */
  readonly answeredAt = new Map<string, number>()
  #world: World
  #answersFrom = new Map<string, number>()

  constructor(world: World) {
    this.#world = world
  }

  reach(host: string): { status: 'reachable' } | { status: 'unreachable'; code: string } {
    const { ec2, clock, files } = this.#world
    const instance = ec2.at(host)
    if (!instance) return { status: 'unreachable', code: 'EHOSTUNREACH' }
    if (files && !files.isUp(instance.id)) return { status: 'unreachable', code: 'ECONNREFUSED' }
    if (clock.ms < this.#answering(instance)) return { status: 'unreachable', code: 'ECONNREFUSED' }
    if (!this.answeredAt.has(instance.id)) this.answeredAt.set(instance.id, clock.ms)
    return { status: 'reachable' }
  }

  #answering(instance: Instance): number {
    // It waits for a run.
    if (!hasBegun(instance)) return Infinity
    const { id } = instance
    const known = this.#answersFrom.get(id)
    if (known !== undefined) return known
    const { luck } = this.#world
    const chance = luck.next()
    const from =
      chance < 0.05 ? Infinity : beginsAt(instance) + (chance < 0.7 ? 2_000 : luck.between(10_000, 8 * MINUTE_MS))
    this.#answersFrom.set(id, from)
    return from
  }
}
