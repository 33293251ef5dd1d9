import type { ExecutionContext, ScheduledController } from '@cloudflare/workers-types'
import { app } from './app.ts'
import { createContext } from './create-context.ts'
import { runCron } from './cron.ts'
import type { Env } from './env.ts'
import { log } from './log.ts'

export { PasswordHasher } from './accounts/credentials/password-hasher.ts'
export { EventSender } from './channel/event-sender.ts'
export { FleetWatcher } from './channel/fleet-watcher.ts'
export { JobChannel } from './channel/job-channel.ts'
export { DoorKeeper } from './door/door-keeper.ts'
export { AttemptCounter } from './limits/attempt-counter.ts'

export default {
  fetch: (request: Request, env: Env, execution: ExecutionContext) =>
    isAtDoor(request, env) ? answerAtDoor(request, env, execution) : app.fetch(request, env, execution as never),
  async scheduled(controller: ScheduledController, env: Env, execution: ExecutionContext) {
    const ctx = await createContext(env, (work) => execution.waitUntil(work), log)
    await runCron(ctx, controller.cron)
  },
}

/** The doors' domain is none of the site's hosts: no page of ours, no cookie, and no middleware. */
function isAtDoor({ url }: Request, { DOOR_DOMAIN }: Env): boolean {
  return DOOR_DOMAIN !== undefined && `.${new URL(url).hostname}`.endsWith(`.${DOOR_DOMAIN}`)
}

async function answerAtDoor(request: Request, env: Env, execution: ExecutionContext): Promise<Response> {
  const { answerAtDoor } = await import('./door/entry.ts')
  const ctx = await createContext(env, (work) => execution.waitUntil(work), log)
  return answerAtDoor(ctx, request, (userId) => env.DOOR_KEEPER.getByName(userId))
}
