import { Hono } from 'hono'
import type { Identities } from '../../../dev/ec2/identity.ts'
import { type Instance, publicIp, stateOf } from '../../../dev/ec2/instance.ts'
import { MINUTE_MS } from '../../../src/domain/instant.ts'
import type { MachineFiles } from '../../../src/server/fleet/machines/files.ts'
import type { AppEnv } from '../../../src/server/http/app-env.ts'
import { statusOf, toAppError } from '../../../src/server/http/error-response.ts'
import { mount } from '../../../src/server/http/route.ts'
import { machines as routes } from '../../../src/server/routes/fleet/machines.ts'
import { BucketRefusal } from '../../../testing/stack/memory-bucket.ts'
import { isMishap } from '../mishaps.ts'
import type { World } from '../world.ts'

/** As infra/image/files.sh has them. */
const BOOT_MS = 1_000
const AGAIN_MS = 2_000
const PATIENCE_MS = 90_000
const WRITE_BACK_MS = 2_000
/** rclone tries to write back after twice as long each time, up to this. */
const MOST_BACK_OFF_MS = 5 * MINUTE_MS
/** systemd stops the simulator first. */
const STOP_MS = 1_000

/** Credentials that a machine got, for the rules. */
export type Grant = MachineFiles & {
  instance: Instance
  askedAt: number
  answeredAt: number
  endsAt: number
}

/** One instance: what infra/image/files.sh and rclone do on it, and what its simulator writes. */
export class Machine {
  readonly instanceId: string
  phase: 'loading' | 'up' | 'saving' | 'off' = 'loading'
  /** When it next does something. */
  at: number
  /** Written, and not in the bucket yet; null: removed. rclone keeps it on the disk. */
  readonly unsaved = new Map<string, number | null>()
  grant: Grant | null = null
  #patienceUntil: number
  #backOffMs = AGAIN_MS
  #world: World
  #identities: Identities

  constructor(world: World, identities: Identities, instance: Instance) {
    this.#world = world
    this.#identities = identities
    this.instanceId = instance.id
    this.at = instance.runsFrom + BOOT_MS
    this.#patienceUntil = this.at + PATIENCE_MS
  }

  get instance(): Instance {
    return this.#world.ec2.all().find(({ id }) => id === this.instanceId) as Instance
  }

  get userId(): string {
    return this.instance.tags.user ?? ''
  }

  mayWrite(): boolean {
    return this.phase === 'up' && this.grant?.Mode === 'write'
  }

  /** The simulator closes a file; null: removes it. */
  write(path: string, size: number | null): void {
    this.unsaved.set(path, size)
    this.at = Math.min(this.at, this.#world.clock.ms + WRITE_BACK_MS)
  }

  /** Notices what EC2 does to it. @returns when it next does something, or Infinity */
  moment(): number {
    if (this.phase === 'off') return Infinity
    const { instance } = this
    const state = stateOf(instance, this.#world.clock.ms)
    if (state === 'terminated') this.#end(instance)
    else if (state === 'shutting-down' && this.phase !== 'saving') {
      if (this.phase === 'up') {
        this.phase = 'saving'
        this.at = (instance.shutDownAt ?? 0) + STOP_MS
      } else this.phase = 'off'
    } else if (instance.shutDownAt !== null && this.phase === 'up') return Math.min(this.at, instance.shutDownAt)
    return (this.phase as string) === 'off' ? Infinity : this.at
  }

  async run(): Promise<void> {
    this.at = this.#world.clock.ms + (this.phase === 'up' ? this.#backOffMs : AGAIN_MS)
    this.#backOffMs = Math.min(2 * this.#backOffMs, MOST_BACK_OFF_MS)
    try {
      if (this.phase === 'loading') await this.#load()
      else if (this.phase !== 'off') await this.#save()
    } catch (error) {
      if (!isMishap(error) && !(error instanceof Refused) && !(error instanceof BucketRefusal)) throw error
      this.#world.trace?.(`    ${this.instanceId} ${this.phase}: ${(error as Error).message}`)
    }
  }

  /** The same call from somewhere else, by someone who read the document on this machine. @returns whether it worked */
  async isStolenFrom(address: string | null): Promise<boolean> {
    return (await this.#ask('credentials', {}, address)).status === 200
  }

  async #load(): Promise<void> {
    const isOver = this.#world.clock.ms > this.#patienceUntil
    try {
      await this.#renew()
      const { Prefix } = this.grant as Grant
      const { files } = this.#world
      const found = await this.#world.program.call('machine: list', async () =>
        files?.memory.openWith(this.grant?.AccessKeyId ?? '').list(Prefix),
      )
      files?.mounted(this, new Map([...(found ?? [])].map(([key, size]) => [key.slice(Prefix.length), size])))
    } catch (error) {
      if (!isOver) throw error
      await this.#say('failed').catch(() => {})
      this.phase = 'off'
      this.#world.ec2.shutItselfDown(this.instanceId)
      this.#world.note('machine without its files')
      return
    }
    this.phase = 'up'
    this.at = Infinity
    await this.#say('loaded').catch(() => {})
  }

  async #save(): Promise<void> {
    const { program, files } = this.#world
    for (const [path, size] of this.unsaved) {
      if (!this.grant || this.#world.clock.ms >= Date.parse(this.grant.Expiration)) await this.#renew()
      const { AccessKeyId, Prefix } = this.grant as Grant
      await program.call('machine: write', async () => {
        const bucket = files?.memory.openWith(AccessKeyId)
        if (size === null) bucket?.remove(Prefix + path)
        else bucket?.put(Prefix + path, size)
        files?.saved(this, path, size)
      })
      if (this.unsaved.get(path) === size) this.unsaved.delete(path)
    }
    this.at = Infinity
    this.#backOffMs = AGAIN_MS
    if (this.phase !== 'saving') return
    await this.#say('saved').catch(() => {})
    this.#world.ec2.powerOff(this.instanceId)
    this.moment()
  }

  #end(instance: Instance): void {
    if (this.unsaved.size > 0) this.#world.files?.lost.push({ machine: this, instance, phase: this.phase })
    this.phase = 'off'
  }

  async #renew(): Promise<void> {
    const askedAt = this.#world.clock.ms
    const { instance } = this
    const before = this.grant ? undefined : this.#world.files?.spaceOf(this)
    const { status, given } = await this.#ask('credentials', {}, publicIp(instance, askedAt))
    if (status !== 200 || !given) throw new Refused(status)
    const isRenewal = this.grant !== null
    const endsAt = this.#world.files?.memory.given.at(-1)?.expiresAt ?? 0
    this.grant = { ...given, instance, askedAt, answeredAt: this.#world.clock.ms, endsAt }
    this.#world.files?.granted(this.grant, before)
    if (isRenewal) this.#world.note('machine renewed its credentials')
  }

  async #say(phase: string): Promise<void> {
    await this.#ask('files', { phase }, publicIp(this.instance, this.#world.clock.ms))
  }

  /** Through the Worker's own route. */
  async #ask(path: 'credentials' | 'files', more: object, address: string | null) {
    const { ctx, clock } = this.#world
    const app = new Hono<AppEnv>().use((c, next) => {
      c.set('ctx', ctx)
      return next()
    })
    mount(app, routes).onError((error, c) => {
      const known = toAppError(error)
      if (isMishap(error) || known.code === 'unexpected') throw error
      return c.body(null, statusOf(known))
    })
    const headers = { 'Content-Type': 'application/json', ...(address && { 'CF-Connecting-IP': address }) }
    const body = JSON.stringify({ ...this.#identities.proofOf(this.instance, clock.ms), ...more })
    // Without a limit of the platform's.
    const answer = await app.request(`/machines/${path}`, { method: 'POST', headers, body }, {})
    return { status: answer.status, given: answer.status === 200 ? ((await answer.json()) as MachineFiles) : null }
  }
}

class Refused extends Error {
  constructor(status: number) {
    super(`the site answered ${status}`)
  }
}

/** Longer than a shutdown may take to save: the machine ends it earlier. */
export const SHUTDOWN_MS = 2 * MINUTE_MS + STOP_MS
