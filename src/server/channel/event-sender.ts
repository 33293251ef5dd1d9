import { DurableObject } from 'cloudflare:workers'
import type { DurableObjectState } from '@cloudflare/workers-types'
import type { EventSenderCalls } from '../ports/objects.ts'
import { createContext } from '../runtime/create-context.ts'
import type { Env } from '../settings/env.ts'
import { log } from '../settings/log.ts'
import { JobAlarm } from './job-alarm.ts'

/**
 * One object per user, apart from their JobChannel: an endpoint that hangs must not hold up a server's end. Its alarm
 * delivers the user's due events.
 */
export class EventSender extends DurableObject<Env> implements EventSenderCalls {
  private readonly ownAlarm: JobAlarm

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.ownAlarm = new JobAlarm(ctx.storage, (userId) => this.look(userId), log)
  }

  async wake(userId: string): Promise<void> {
    await this.ownAlarm.wake(userId)
  }

  override async alarm(): Promise<void> {
    await this.ownAlarm.ring()
  }

  private async look(userId: string) {
    const ctx = await createContext(this.env, (work) => this.ctx.waitUntil(work), log)
    // Loaded when needed: most isolates send no events.
    const { deliverDue } = await import('../events/deliver.ts')
    const next = await deliverDue(ctx, userId)
    const at = ctx.now()
    return { at, wait: next === null ? null : next - at }
  }
}
