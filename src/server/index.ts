import type { ExecutionContext, ScheduledController } from '@cloudflare/workers-types'
import { app } from './app.ts'
import { runCron } from './cron.ts'
import { findPublicFile } from './http/public-files.ts'
import { createContext } from './runtime/create-context.ts'
import type { Env } from './settings/env.ts'
import { log } from './settings/log.ts'

export { PasswordHasher } from './accounts/credentials/password-hasher.ts'
export { EventSender } from './channel/event-sender.ts'
export { FleetWatcher } from './channel/fleet-watcher.ts'
export { JobChannel } from './channel/job-channel.ts'
export { RunLog } from './channel/run-log.ts'
export { DoorKeeper } from './door/door-keeper.ts'
export { AttemptCounter } from './limits/attempt-counter.ts'

export default {
  async fetch(request: Request, env: Env, execution: ExecutionContext) {
    if (isAtDoor(request, env)) return answerAtDoor(request, env, execution)
    if (new URL(request.url).pathname === '/machines/log') return answerMachine(request, env, execution)
    return (await findPublicFile(request, env)) ?? app.fetch(request, env, execution as never)
  },
  async scheduled(controller: ScheduledController, env: Env, execution: ExecutionContext) {
    const ctx = await createContext(env, (work) => execution.waitUntil(work), log)
    await runCron(ctx, controller.cron)
  },
}

/** The doors' domain isn't one of the site's hosts: no page of ours, no cookie, and no middleware. A name may end with the root's dot. */
function isAtDoor({ url }: Request, { DOOR_DOMAIN }: Env): boolean {
  return DOOR_DOMAIN !== undefined && `.${new URL(url).hostname.replace(/\.$/, '')}`.endsWith(`.${DOOR_DOMAIN}`)
}

async function answerAtDoor(request: Request, env: Env, execution: ExecutionContext): Promise<Response> {
  const { answerAtDoor } = await import('./door/entry.ts')
  const ctx = await createContext(env, (work) => execution.waitUntil(work), log)
  return answerAtDoor(ctx, request, env)
}

async function answerMachine(request: Request, env: Env, execution: ExecutionContext): Promise<Response> {
  const { answerMachine } = await import('./routes/fleet/machine-log.ts')
  return answerMachine(await createContext(env, (work) => execution.waitUntil(work), log), env, request)
}
