import { hasBegun, publicIp } from '../../dev/ec2/instance.ts'
import { readIdentity } from '../../src/server/fleet/machines/identity.ts'
import { giveWork } from '../../src/server/fleet/warm/work.ts'
import { amazon } from './files/files-world.ts'
import type { Task } from './program.ts'
import type { World } from './world.ts'

/** How often one asks here. A real one asks each 2 seconds. */
const AGAIN_MS = 20_000

/** What a machine heard, and what EC2's tags said at that moment. */
type Told = { instanceId: string; runId: string; session: string | undefined }

/** Machines that wait for a run, as infra/image/simulator.sh does. */
export class WarmMachines {
  readonly told: Told[] = []
  readonly #world: World
  readonly #askAt = new Map<string, number>()
  readonly #hung = new Set<string>()
  #everyMs = AGAIN_MS

  constructor(world: World) {
    this.#world = world
  }

  /** While the platform is down, no one hears them. */
  askEvery(ms: number): void {
    this.#everyMs = Math.max(AGAIN_MS, ms)
  }

  /** It does nothing any more. */
  hang(id: string): void {
    this.#hung.add(id)
  }

  moments(): number[] {
    return this.#waiting().map(({ id, runsFrom }) => this.#askAt.get(id) ?? runsFrom)
  }

  due(until: number): Task[] {
    return this.#waiting()
      .filter(({ id, runsFrom }) => (this.#askAt.get(id) ?? runsFrom) <= until)
      .map(({ id }) => ({ name: `${id} waits`, run: () => this.#ask(id) }))
  }

  #waiting() {
    return this.#world.ec2
      .running()
      .filter((instance) => instance.tags.warm && !hasBegun(instance) && !this.#hung.has(instance.id))
  }

  async #ask(id: string): Promise<void> {
    const { ctx, ec2, clock } = this.#world
    this.#askAt.set(id, clock.ms + this.#everyMs)
    const [instance] = ec2.all().filter((one) => one.id === id)
    if (!instance) return
    const work = await giveWork(
      ctx,
      await readIdentity(ctx.config.machines, amazon().proofOf(instance, clock.ms)),
      publicIp(instance, clock.ms),
      clock.ms > instance.runsFrom + 60_000,
    )
    if (work.run === null) return
    this.told.push({ instanceId: id, runId: work.run, session: ec2.all().find((one) => one.id === id)?.tags.session })
    ec2.begin(id)
    this.#world.note('warm machine got its run')
  }
}
