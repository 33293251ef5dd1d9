import { DurableObject } from 'cloudflare:workers'
import type { DurableObjectState } from '@cloudflare/workers-types'
import { createContext } from '../create-context.ts'
import type { Env } from '../env.ts'
import { FAILED_LOOK_MS, FLEET, watchFleet } from '../fleet/look.ts'
import { log } from '../log.ts'
import type { FleetWatcherCalls } from '../ports/objects.ts'
import { JobAlarm } from './job-alarm.ts'

/**
 * The one object that looks at all servers, on its alarm. A trigger can't look more than once a minute. It stores only
 * that alarm; the truth is in the database.
 */
export class FleetWatcher extends DurableObject<Env> implements FleetWatcherCalls {
  private readonly lookAlarm: JobAlarm

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.lookAlarm = new JobAlarm(ctx.storage, () => this.look(), log, { retryMs: FAILED_LOOK_MS })
  }

  async revive(now: number): Promise<void> {
    await this.lookAlarm.revive(FLEET, now)
  }

  override async alarm(): Promise<void> {
    await this.lookAlarm.ring()
  }

  private async look() {
    return watchFleet(await createContext(this.env, (work) => this.ctx.waitUntil(work), log))
  }
}
