import type { Context as HonoContext } from 'hono'
import type { AppEnv } from '../../http/app-env.ts'
import { route } from '../../http/route.ts'
import { checkReady } from '../../runtime/ready.ts'

/** For monitors and `npm run deploy`. They only say whether it works, and which commit answers. */
export const health = [
  route('GET /healthz', {
    access: 'public',
    byItself: true,
    description: '200 `{status: "ok", version}`: the Worker is running with valid settings.',
    refuses: ['unavailable'],
  }).answer((c) => c.json({ status: 'ok', version: versionOf(c) })),
  route('GET /readyz', {
    access: 'public',
    byItself: true,
    description: '200 `{status: "ready", version}`: the database answers and has every migration this version needs.',
    refuses: ['unavailable'],
  }).answer(async (c) => {
    await checkReady(c.var.ctx)
    return c.json({ status: 'ready', version: versionOf(c) })
  }),
]

const versionOf = (c: HonoContext<AppEnv>): string => c.env.VERSION ?? 'local'
