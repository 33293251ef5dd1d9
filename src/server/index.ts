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
export { AttemptCounter } from './limits/attempt-counter.ts'

export default {
  fetch: app.fetch,
  async scheduled(controller: ScheduledController, env: Env, execution: ExecutionContext) {
    const ctx = await createContext(env, (work) => execution.waitUntil(work), log)
    await runCron(ctx, controller.cron)
  },
}
