import { type Identities, openIdentities } from '../../../dev/ec2/identity.ts'
import type { Instance } from '../../../dev/ec2/instance.ts'
import { Store } from '../../../dev/stand-in/store.ts'
import { DAY_MS } from '../../../src/domain/instant.ts'
import { isUnpaid } from '../../../src/domain/money/plan.ts'
import { FILES_LIMIT, FILES_OVER_DAYS } from '../../../src/domain/money/plan-files.ts'
import { memoryBucket } from '../../../testing/stack/memory-bucket.ts'
import type { Task } from '../program.ts'
import type { World } from '../world.ts'
import { KeptFiles } from './kept-files.ts'
import { type Grant, Machine } from './machine.ts'

/** One key is enough for all worlds: it takes longer to make than a world to play. */
let identities: Identities | null = null
export const amazon = () => (identities ??= openIdentities(new Store(null)))

/** How much of a plan was in use when a machine asked; null: they have no paid plan. */
type Space = { used: number; limit: number | null } | null

/** Everyone's files: the bucket, the machines that write to it, and what must be there. */
export class FilesWorld {
  readonly memory: ReturnType<typeof memoryBucket>
  readonly kept: KeptFiles
  readonly machines = new Map<string, Machine>()
  readonly grants: Grant[] = []
  /** What a machine had written and not saved when it ended. */
  readonly lost: { machine: Machine; instance: Instance; phase: string }[] = []
  /** What no rule about rows would see. */
  readonly contradictions: { rule: string; seen: string }[] = []
  /** When something below a key's first folder last changed. */
  readonly changedAt = new Map<string, number>()
  /** Whose plan includes less than they have: since when it's paid, and when what passes it is due, as we first emailed. */
  readonly over = new Map<string, { paidSince: number | null; dueAt: number | null }>()
  #settled = 0
  /** By account, as of the last look: all but the oldest that fit in its plan. */
  #mayGo = new Map<string, { at: number; paths: string[] }>()
  #world: World

  constructor(world: World) {
    this.#world = world
    const { clock } = world
    this.memory = memoryBucket(
      () => clock.ms,
      (key) => this.changedAt.set(key.slice(0, key.indexOf('/')), clock.ms),
    )
    this.kept = new KeptFiles(
      () => world.database.read().removals,
      () => clock.ms,
    )
  }

  moments(): number[] {
    for (const instance of this.#world.ec2.alive())
      if (!this.machines.has(instance.id)) this.machines.set(instance.id, new Machine(this.#world, amazon(), instance))
    return [...this.machines.values()].map((machine) => machine.moment())
  }

  due(until: number): Task[] {
    return [...this.machines.values()]
      .filter((machine) => machine.moment() <= until)
      .map((machine) => ({ name: `machine ${machine.instanceId}`, run: () => machine.run() }))
  }

  /** The simulator starts once its files are there. */
  isUp(instanceId: string): boolean {
    return this.machines.get(instanceId)?.phase === 'up'
  }

  of(userId: string): Machine | undefined {
    return [...this.machines.values()].find((one) => one.userId === userId && one.phase === 'up')
  }

  /** A machine has its files. */
  mounted(machine: Machine, found: Map<string, number>): void {
    const { userId, instanceId } = machine
    const kept = this.#isOwn(machine) ? this.kept.of(userId) : new Map<string, number>()
    for (const [path, size] of kept) {
      if (found.get(path) === size) this.#world.note('kept file read at a start')
      else this.contradict('files-stay', `${instanceId} finds ${found.get(path)}, not ${size}, in ${path} of ${userId}`)
    }
  }

  /** The bucket took what a machine wrote. */
  saved({ userId, phase }: Machine, path: string, size: number | null): void {
    this.#world.note(phase === 'saving' ? 'file saved at a stop' : 'file written back')
    if (size === null) this.kept.removed(userId, path)
    else this.kept.wrote(userId, path, size)
  }

  granted(grant: Grant, before: Space | undefined): void {
    this.grants.push(grant)
    if (grant.Mode === 'read') this.#world.note('read-only machine')
    if (before === undefined) return
    const after = this.#space(grant.instance.tags.user ?? '')
    const isFull = (space: Space) => space === null || (space.limit !== null && space.used >= space.limit)
    if (isFull(before) !== isFull(after) || isFull(before) === (grant.Mode === 'read')) return
    const seen = `${grant.instance.id} may ${grant.Mode} beside ${JSON.stringify(after)}`
    this.contradict('full-files-are-read-only', seen)
  }

  /** @returns undefined if an earlier answer, which was lost, has decided */
  spaceOf({ instance }: Machine): Space | undefined {
    const run = this.#world.database.read().runs.find(({ id }) => id === instance.tags.session)
    return run?.filesMode === null ? this.#space(instance.tags.user ?? '') : undefined
  }

  contradict(rule: string, seen: string): void {
    this.contradictions.push({ rule, seen })
  }

  /** What they have in the bucket, by its path. */
  inBucket(userId: string): Map<string, number> {
    const prefix = `${this.#prefixOf(userId)}/files/`
    return new Map(
      [...this.memory.files()].flatMap(([key, size]) =>
        key.startsWith(prefix) ? [[key.slice(prefix.length), size] as const] : [],
      ),
    )
  }

  /**
   * Takes note of everything that may go: with its account, 30 days after its plan or unpaid, or 7 days over its limit. The
   * oldest that fit stay.
   */
  settle(): void {
    const { users, witnessed, folders } = this.#world.database.read()
    for (const { id, closedAt } of users) if (closedAt !== null) this.kept.forget(id)
    const now = this.#world.clock.ms
    for (const { userId, overTold, overDeleteAt } of folders)
      if (overTold === 1 && overDeleteAt !== null && overDeleteAt <= now) this.#forgetOver(userId)
    for (const { what } of witnessed.slice(this.#settled)) {
      const [, why, userId] = /^mailed \d+ files-(end|unpaid|over):0:(.+):\d+$/.exec(what) ?? []
      if (userId === undefined) continue
      if (why !== 'over') this.kept.forget(userId)
      else this.#forgetOver(userId)
      this.#world.note(why !== 'over' ? 'files deleted after their plan' : 'files deleted over a limit')
    }
    this.#settled = witnessed.length
    for (const { userId } of folders) this.#lookOver(userId, now)
  }

  #lookOver(userId: string, now: number): void {
    const space = this.#space(userId)
    const isOver = space !== null && space.limit !== null && space.used > space.limit
    const { calm } = this.#world
    const { paidSince, dueAt = null } = this.over.get(userId) ?? {}
    if (isOver) {
      const since = paidSince ?? now
      // One round counts, and another emails.
      const isTold = calm.rounds.filter((at) => at > calm.from('money', since)).length >= 2
      this.over.set(userId, { paidSince: since, dueAt: dueAt ?? (isTold ? now + FILES_OVER_DAYS * DAY_MS : null) })
    }
    // It may be paid at any time, which begins nothing anew.
    else if (this.#planOf(userId) && !space) this.over.set(userId, { paidSince: null, dueAt })
    else this.over.delete(userId)
    if (!isOver) return
    const prefix = `${this.#prefixOf(userId)}/files/`
    const times = this.memory.times()
    const timeOf = (path: string) => times.get(prefix + path) ?? 0
    const oldestFirst = [...this.inBucket(userId)].sort(([a], [b]) => timeOf(a) - timeOf(b))
    let sum = 0
    const paths = oldestFirst.flatMap(([path, size]) => {
      sum += size
      return sum > (space.limit ?? 0) ? [path] : []
    })
    this.#mayGo.set(userId, { at: now, paths })
  }

  #forgetOver(userId: string): void {
    const { at, paths } = this.#mayGo.get(userId) ?? { at: 0, paths: [] }
    this.kept.forgetThese(userId, paths, at)
  }

  /** Not one that we gave up, while its owner has another. */
  #isOwn({ instance }: Machine): boolean {
    return this.#world.database
      .read()
      .runs.some(({ id, instanceId }) => id === instance.tags.session && instanceId === instance.id)
  }

  #prefixOf(userId: string): string | undefined {
    return this.#world.database.read().folders.find((folder) => folder.userId === userId)?.prefix
  }

  #planOf(userId: string) {
    const { plans } = this.#world.database.read()
    const now = this.#world.clock.ms
    return plans.find((one) => one.userId === userId && one.endedAt === null && (one.cancelAt ?? Infinity) > now)
  }

  #space(userId: string): Space {
    const plan = this.#planOf(userId)
    const used = [...this.inBucket(userId).values()].reduce((sum, size) => sum + size, 0)
    return plan && !isUnpaid(plan) ? { used, limit: FILES_LIMIT[plan.planType] } : null
  }
}
