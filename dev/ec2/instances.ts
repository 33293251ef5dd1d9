import { randomBytes } from 'node:crypto'
import type { Store } from '../stand-in/store.ts'
import { lowestFreeSlot } from './addresses.ts'
import { givesUpAfter } from './container.ts'
import { Ec2Error } from './ec2-error.ts'
import { type Instance, type InstanceState, isDescribed, isTokenKept, stateOf } from './instance.ts'

export type Launch = Pick<
  Instance,
  'clientToken' | 'tokenZone' | 'fingerprint' | 'instanceType' | 'imageId' | 'availabilityZone' | 'tags' | 'dies'
> & { count: number }

export type Termination = { instance: Instance; previous: InstanceState; current: InstanceState }

const NEVER = Number.MAX_SAFE_INTEGER

const hexId = (prefix: string) => prefix + randomBytes(9).toString('hex').slice(0, 17)

export type InstancesOptions = {
  now: () => number
  bootMs: number
  shutdownMs: number
  firstSlot: number
  /** EC2 is eventually consistent: it may not find a new instance for this many ms. */
  hiddenMs?: () => number
  /** How far EC2's clock differs from ours for an instance launched now. */
  clockOffsetMs?: () => number
}

/** All instances and the operations on them. Nothing here awaits, so every change is atomic. */
export class Instances {
  readonly #store: Store
  readonly #now: () => number
  readonly #bootMs: number
  readonly #shutdownMs: number
  readonly #firstSlot: number
  readonly #hiddenMs: () => number
  readonly #clockOffsetMs: () => number
  #held = false

  constructor(store: Store, options: InstancesOptions) {
    this.#store = store
    this.#now = options.now
    this.#bootMs = options.bootMs
    this.#shutdownMs = options.shutdownMs
    this.#firstSlot = options.firstSlot
    this.#hiddenMs = options.hiddenMs ?? (() => 0)
    this.#clockOffsetMs = options.clockOffsetMs ?? (() => 0)
  }

  /** While held, no instance finishes booting or shutting down. */
  hold(held: boolean): void {
    this.#held = held
    if (held) return
    const now = this.#now()
    for (const instance of this.all())
      if (instance.runsFrom === NEVER || instance.terminatedFrom === NEVER)
        this.#store.put('instances', instance.id, {
          ...instance,
          ...(instance.runsFrom === NEVER && this.#course(instance, now + this.#bootMs)),
          ...(instance.terminatedFrom === NEVER && { terminatedFrom: now + this.#shutdownMs }),
        })
  }

  /** When it runs, and when it ends if nobody ends it. */
  #course(launch: Pick<Instance, 'tags' | 'dies' | 'pulled'>, runsFrom: number) {
    if (launch.dies && runsFrom !== NEVER) {
      const diesAt = runsFrom - Math.ceil(this.#bootMs / 2)
      return { runsFrom, shutDownAt: diesAt, terminatedFrom: diesAt, stateReason: launch.dies }
    }
    const after = givesUpAfter(launch)
    if (runsFrom === NEVER || after === null)
      return { runsFrom, shutDownAt: null, terminatedFrom: null, stateReason: null }
    const shutDownAt = runsFrom + after
    const stateReason = 'Client.InstanceInitiatedShutdown'
    return { runsFrom, shutDownAt, terminatedFrom: shutDownAt + this.#shutdownMs, stateReason }
  }

  /** Every instance ever, in launch order. */
  all(): Instance[] {
    return this.#store.all<Instance>('instances')
  }

  /** Only that region's instances; other regions can't see them. */
  described(region = ''): Instance[] {
    const visibleFrom = this.#now() - this.#hiddenMs()
    return this.#remembered().filter(
      ({ launchedAt, availabilityZone }) => launchedAt <= visibleFrom && availabilityZone.startsWith(region),
    )
  }

  running(): Instance[] {
    const now = this.#now()
    return this.all().filter((instance) => stateOf(instance, now) === 'running')
  }

  /** The named instances, in that order. Throws EC2's error if an id is malformed or unknown. */
  named(ids: string[], region = ''): Instance[] {
    return this.#find(ids, this.described(region))
  }

  #find(ids: string[], among: Instance[]): Instance[] {
    const malformed = ids.find((id) => !/^i-([0-9a-f]{8}|[0-9a-f]{17})$/.test(id))
    if (malformed !== undefined) {
      throw new Ec2Error('InvalidInstanceID.Malformed', `Invalid id: "${malformed}" (expecting "i-...")`)
    }
    const byId = new Map(among.map((instance) => [instance.id, instance]))
    const unknown = ids.filter((id) => !byId.has(id))
    if (unknown.length === 1) {
      throw new Ec2Error('InvalidInstanceID.NotFound', `The instance ID '${unknown[0]}' does not exist`)
    }
    if (unknown.length > 1) {
      throw new Ec2Error('InvalidInstanceID.NotFound', `The instance IDs '${unknown.join(', ')}' do not exist`)
    }
    return [...new Set(ids)].flatMap((id) => byId.get(id) ?? [])
  }

  /** The instances an earlier launch started with this token and zone (null: it named no zone), or none. */
  ofToken(clientToken: string | null, tokenZone: string | null): Instance[] {
    if (clientToken === null) return []
    const now = this.#now()
    return this.all().filter(
      (instance) =>
        instance.clientToken === clientToken && instance.tokenZone === tokenZone && isTokenKept(instance, now),
    )
  }

  /** Adds tags, or changes them. */
  tag(ids: string[], tags: Record<string, string>, region = ''): void {
    for (const instance of this.named(ids, region))
      this.#store.put('instances', instance.id, { ...instance, tags: { ...instance.tags, ...tags } })
  }

  /** A machine that was waiting for a run has heard of it. */
  begin(id: string, pulled: string[] = []): void {
    const instance = this.all().find((one) => one.id === id)
    if (!instance || instance.workFrom !== undefined) return
    const now = this.#now()
    const course = instance.shutDownAt === null ? this.#course({ ...instance, pulled }, now) : {}
    this.#store.put('instances', id, { ...instance, ...course, runsFrom: instance.runsFrom, workFrom: now, pulled })
  }

  /** The version of every launch template. */
  templateVersion(): number {
    return this.#store.get<{ version: number }>('settings', 'template')?.version ?? 1
  }

  /** Someone deploys the zones again. */
  newTemplateVersion(): void {
    this.#store.put('settings', 'template', { version: this.templateVersion() + 1 })
  }

  launch(launch: Launch): Instance[] {
    const earlier = this.ofToken(launch.clientToken, launch.tokenZone)
    return earlier.length > 0 ? this.#repeated(launch, earlier) : this.#started(launch)
  }

  /** All or nothing, like EC2: an unknown id throws before anything changes. */
  terminate(ids: string[], region = ''): Termination[] {
    return this.named(ids, region).map((instance) =>
      this.#end(instance, this.#shutdownMs, 'Client.UserInitiatedShutdown'),
    )
  }

  /** Terminates an instance without warning, skipping shutting-down, even one that EC2 doesn't show yet. */
  vanish(id: string): void {
    for (const instance of this.#find([id], this.#remembered())) this.#end(instance, 0, 'Server.InternalError')
  }

  /** Like `poweroff`. */
  shutItselfDown(id: string): void {
    for (const instance of this.#find([id], this.#remembered()))
      this.#end(instance, this.#shutdownMs, 'Client.InstanceInitiatedShutdown')
  }

  #remembered(): Instance[] {
    const now = this.#now()
    return this.all().filter((instance) => isDescribed(instance, now))
  }

  #repeated(launch: Launch, earlier: Instance[]): Instance[] {
    if (earlier.some((instance) => instance.fingerprint !== launch.fingerprint)) {
      throw new Ec2Error(
        'IdempotentParameterMismatch',
        'Arguments on this idempotent request are inconsistent with arguments used in previous request(s).',
      )
    }
    if (earlier.every((instance) => stateOf(instance, this.#now()) === 'terminated')) {
      throw new Ec2Error(
        'IdempotentInstanceTerminated',
        'The client token you have provided is associated with a terminated instance. Please use a different client token.',
      )
    }
    return earlier
  }

  #started({ count, ...launch }: Launch): Instance[] {
    const launchedAt = this.#now()
    const reservationId = hexId('r-')
    const taken = new Set(this.#remembered().map((instance) => instance.slot))
    const last = this.all().at(-1)?.sequence ?? 0
    const started: Instance[] = []
    for (let launchIndex = 0; launchIndex < count; launchIndex++) {
      const slot = lowestFreeSlot(taken, this.#firstSlot)
      taken.add(slot)
      started.push({
        ...launch,
        id: hexId('i-'),
        reservationId,
        sequence: last + 1 + launchIndex,
        launchIndex,
        slot,
        launchedAt,
        ...this.#course(launch, this.#held ? NEVER : launchedAt + this.#bootMs),
        clockOffsetMs: this.#clockOffsetMs(),
      })
    }
    for (const instance of started) this.#store.put('instances', instance.id, instance)
    return started
  }

  #end(instance: Instance, shutdownMs: number, stateReason: string): Termination {
    const now = this.#now()
    const previous = stateOf(instance, now)
    const terminatedFrom = this.#held ? NEVER : now + shutdownMs
    const isSooner = instance.terminatedFrom === null || terminatedFrom < instance.terminatedFrom
    if (!isSooner) return { instance, previous, current: previous }
    const isEnding = instance.shutDownAt !== null && instance.shutDownAt <= now
    const ended = { ...instance, ...(isEnding ? {} : { shutDownAt: now, stateReason }), terminatedFrom }
    this.#store.put('instances', ended.id, ended)
    return { instance: ended, previous, current: stateOf(ended, now) }
  }
}
