import { Hono } from 'hono'
import { afterAll } from 'vitest'
import { checkAccess } from '../../src/server/access.ts'
import type { AppEnv } from '../../src/server/app-env.ts'
import type { Context } from '../../src/server/context.ts'
import { errorResponse } from '../../src/server/error-response.ts'
import { takeFlash } from '../../src/server/flash.ts'
import { csrf, csrfToken } from '../../src/server/middleware/csrf.ts'
import { formMethod } from '../../src/server/middleware/form-method.ts'
import { limitBody } from '../../src/server/middleware/limit-body.ts'
import { requestId } from '../../src/server/middleware/request-id.ts'
import { securityHeaders } from '../../src/server/middleware/security-headers.ts'
import { currentSignIn } from '../../src/server/middleware/sign-in.ts'
import type { Mail } from '../../src/server/providers/mail.ts'
import { account } from '../../src/server/routes/account.ts'
import { passwords } from '../../src/server/routes/passwords.ts'
import { users } from '../../src/server/routes/users.ts'
import { memoryCounters } from './counters.ts'
import { ownDatabase } from './own-database.ts'

export const ORIGIN = 'http://localhost:8787'
export const SECRET = 'a-secret-of-thirty-two-characters-or-more'

const database = await ownDatabase()
const settlers: (() => Promise<unknown>)[] = []
afterAll(() => Promise.all(settlers.map((settle) => settle())))

/** A context on a real database, with a clock to move, mail in a list and the sign-ins whose sockets were closed. */
export function accountContext(secretKey = SECRET) {
  const sent: Mail[] = []
  const disconnected: string[] = []
  const pending: Promise<unknown>[] = []
  const clock = { ms: 1_800_000_000_000 + Math.floor(Math.random() * 1e6) }
  const ctx = {
    db: database,
    now: () => clock.ms,
    mailer: {
      async send(mail: Mail) {
        sent.push(mail)
      },
    },
    channel: () => ({
      async arm() {},
      async wake() {},
      async disconnect(ids: string[] | 'all') {
        disconnected.push(...(ids === 'all' ? ['all'] : ids))
      },
    }),
    counter: memoryCounters(),
    background: (work: Promise<unknown>) => pending.push(work),
    config: { origins: [ORIGIN], secretKey, passwordPepper: 'pepper', mailFrom: 'a@b.c', operatorEmail: 'op@b.c' },
  } as unknown as Context
  const settle = () => Promise.all(pending.splice(0))
  settlers.push(settle)
  return { ctx, sent, disconnected, clock, settle }
}

/** The account routes behind every defence, in the order of the real app, and a page that shows its token and message. */
export function accountApp(ctx: Context) {
  const app = new Hono<AppEnv>()
  app.use(requestId, securityHeaders({ dev: false }))
  app.use(async (c, next) => {
    c.set('ctx', ctx)
    await next()
  })
  app.use(limitBody, csrf)
  app.use(formMethod(() => app))
  app.use(currentSignIn, checkAccess)
  app.route('/', users).route('/', passwords).route('/', account)
  for (const page of [
    '/sign_in',
    '/sign_up',
    '/dashboard',
    '/account_overview',
    '/console',
    '/confirm_email',
    '/reset_password',
    '/devices',
  ])
    app.get(page, (c) => c.json({ token: csrfToken(c), flash: takeFlash(c) }))
  app.onError((error, c) => errorResponse(error, c))
  return app
}
