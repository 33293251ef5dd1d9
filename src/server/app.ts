import { Hono, type Context as HonoContext } from 'hono'
import type { Context } from './context.ts'
import { createContext } from './create-context.ts'
import { doorRoutes } from './door/routes.ts'
import { checkAccess } from './http/access.ts'
import type { AppEnv } from './http/app-env.ts'
import { csrf } from './http/middleware/csrf.ts'
import { formMethod } from './http/middleware/form-method.ts'
import { keptPages } from './http/middleware/kept-pages.ts'
import { readBody } from './http/middleware/limit-body.ts'
import { outerLimit } from './http/middleware/outer-limit.ts'
import { requestId } from './http/middleware/request-id.ts'
import { securityHeaders } from './http/middleware/security-headers.ts'
import { currentSignIn } from './http/middleware/sign-in.ts'
import { type Log, log } from './log.ts'
import { account } from './routes/account.ts'
import { accountPages } from './routes/account-pages.tsx'
import { admin } from './routes/admin.ts'
import { apiTokens } from './routes/api-tokens.tsx'
import { billingPages } from './routes/billing-pages.tsx'
import { billings } from './routes/billings.ts'
import { cable } from './routes/cable.ts'
import { contact } from './routes/contact.ts'
import { deviceLogin } from './routes/device-login.tsx'
import { docs } from './routes/docs.tsx'
import { environments } from './routes/environments.tsx'
import { extend } from './routes/extend.tsx'
import { failed } from './routes/failed.tsx'
import { health } from './routes/health.ts'
import { metrics } from './routes/metrics.ts'
import { notFound } from './routes/not-found.tsx'
import { openapi } from './routes/openapi.ts'
import { pages } from './routes/pages.tsx'
import { passwords } from './routes/passwords.ts'
import { prefetch } from './routes/prefetch.ts'
import { robots } from './routes/robots.ts'
import { runs } from './routes/runs.tsx'
import { servers } from './routes/servers.ts'
import { status } from './routes/status.tsx'
import { stripeWebhook } from './routes/stripe-webhook.ts'
import { subscriptions } from './routes/subscriptions.ts'
import { theme } from './routes/theme.ts'
import { users } from './routes/users.ts'
import { webhooks } from './routes/webhooks.tsx'

/**
 * The table of contents: what every request passes through, then who answers it. site-map.ts says what we
 * know about each route beforehand.
 */
export function createApp(log: Log, openContext = contextOf): Hono<AppEnv> {
  const app: Hono<AppEnv> = new Hono<AppEnv>()
    .use(requestId(log))
    .use(keptPages)
    .use(securityHeaders({ dev: import.meta.env.DEV }))
    .use(async (c, next) => {
      c.set('ctx', await openContext(c))
      await next()
    })
    .use(outerLimit)
    .use(readBody)
    .use(csrf)
    .use(formMethod(() => app))
    .use(currentSignIn)
    .use(checkAccess)
    .route('/', pages)
    .route('/', accountPages)
    .route('/', admin)
    .route('/', billingPages)
    .route('/', users)
    .route('/', passwords)
    .route('/', account)
    .route('/', apiTokens)
    .route('/', deviceLogin)
    .route('/', webhooks)
    .route('/', servers)
    .route('/', extend)
    .route('/', runs)
    .route('/', doorRoutes)
    .route('/', environments)
    .route('/', billings)
    .route('/', subscriptions)
    .route('/', stripeWebhook)
    .route('/', contact)
    .route('/', theme)
    .route('/', health)
    .route('/', metrics)
    .route('/', status)
    .route('/', robots)
    .route('/', prefetch)
    .route('/', cable)
    .route(
      '/',
      openapi(() => app),
    )
    .route(
      '/',
      docs(() => app),
    )
    .notFound(notFound)
  app.onError(failed)
  return app
}

function contextOf(c: HonoContext<AppEnv>): Promise<Context> {
  return createContext(c.env, (work) => c.executionCtx.waitUntil(work), c.var.log)
}

export const app = createApp(log)
