import { DurableObject } from 'cloudflare:workers'
import type { DurableObjectState } from '@cloudflare/workers-types'
import { FAILED_LOOK_MS, watchFleet } from '../fleet/look.ts'
import { FLEET, type FleetWatcherCalls } from '../ports/objects.ts'
import { createContext } from '../runtime/create-context.ts'
import type { Env } from '../settings/env.ts'
import { log } from '../settings/log.ts'
import { JobAlarm } from './job-alarm.ts'

/**
 * The object `fleet` looks at all servers, on its alarm: a trigger can't look more than once a minute. The object `line`
 * keeps the line moving while someone waits. They store only that alarm; the truth is in the database.
 */
export class FleetWatcher extends DurableObject<Env> implements FleetWatcherCalls {
  private readonly lookAlarm: JobAlarm

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.lookAlarm = new JobAlarm(ctx.storage, (name) => this.look(name), log, { retryMs: FAILED_LOOK_MS })
  }

  async arm(name: string): Promise<void> {
    await this.lookAlarm.arm(name)
  }

  async wake(name: string): Promise<void> {
    await this.lookAlarm.wake(name)
  }

  async revive(name: string, now: number): Promise<void> {
    await this.lookAlarm.revive(name, now)
  }

  override async alarm(): Promise<void> {
    await this.lookAlarm.ring()
  }

  private async look(name: string) {
    const context = await createContext(this.env, (work) => this.ctx.waitUntil(work), log)
    if (name === FLEET) return watchFleet(context)
    // Loaded when needed: most isolates never see a line.
    return (await import('../fleet/line/keep.ts')).keepLine(context)
  }
}
