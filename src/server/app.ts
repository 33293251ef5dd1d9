import { Hono, type Context as HonoContext } from 'hono'
import { doorRoutes } from './door/routes.ts'
import { checkAccess } from './http/access.ts'
import type { AppEnv } from './http/app-env.ts'
import { readCookie } from './http/cookies.ts'
import { csrf } from './http/middleware/csrf.ts'
import { formMethod } from './http/middleware/form-method.ts'
import { keptPages } from './http/middleware/kept-pages.ts'
import { knownMethod } from './http/middleware/known-method.ts'
import { outerLimit } from './http/middleware/outer-limit.ts'
import { requestId } from './http/middleware/request-id.ts'
import { securityHeaders } from './http/middleware/security-headers.ts'
import { currentSignIn } from './http/middleware/sign-in.ts'
import { mount, type Route } from './http/route.ts'
import { tableOf } from './http/route-table.ts'
import { account } from './routes/accounts/account.ts'
import { accountPages } from './routes/accounts/account-pages.tsx'
import { apiTokens } from './routes/accounts/api-tokens.tsx'
import { deviceLogin } from './routes/accounts/device-login.tsx'
import { notices } from './routes/accounts/notices.tsx'
import { passwords } from './routes/accounts/passwords.ts'
import { registries } from './routes/accounts/registries.ts'
import { secrets } from './routes/accounts/secrets.ts'
import { security } from './routes/accounts/security.ts'
import { settings } from './routes/accounts/settings.ts'
import { users } from './routes/accounts/users.ts'
import { billingPages } from './routes/billing/billing-pages.tsx'
import { billings } from './routes/billing/billings.ts'
import { stripeWebhook } from './routes/billing/stripe-webhook.ts'
import { subscriptions } from './routes/billing/subscriptions.ts'
import { docs } from './routes/docs/docs.tsx'
import { openapi } from './routes/docs/openapi.ts'
import { cable } from './routes/events/cable.ts'
import { webhooks } from './routes/events/webhooks.tsx'
import { files } from './routes/files/files.ts'
import { environments } from './routes/fleet/environments.tsx'
import { line } from './routes/fleet/line.ts'
import { log as runLog } from './routes/fleet/log.ts'
import { machines } from './routes/fleet/machines.ts'
import { runLinks } from './routes/fleet/run-links.tsx'
import { runs } from './routes/fleet/runs.tsx'
import { servers } from './routes/fleet/servers.ts'
import { admin } from './routes/operations/admin.ts'
import { health } from './routes/operations/health.ts'
import { metrics } from './routes/operations/metrics.ts'
import { status } from './routes/operations/status.tsx'
import { contact } from './routes/site/contact.ts'
import { failed } from './routes/site/failed.tsx'
import { notFound } from './routes/site/not-found.tsx'
import { pages } from './routes/site/pages.tsx'
import { prefetch } from './routes/site/prefetch.ts'
import { robots } from './routes/site/robots.ts'
import { security as securityPage } from './routes/site/security.tsx'
import { theme } from './routes/site/theme.ts'
import type { Context } from './runtime/context.ts'
import { createContext } from './runtime/create-context.ts'
import { type Log, log } from './settings/log.ts'

/** The table of contents, in the order of the sitemap and the API's document. There is no route but these. */
const ROUTES: readonly Route[] = [
  ...pages,
  ...docs,
  ...accountPages,
  ...status,
  ...users,
  ...passwords,
  ...account,
  ...apiTokens,
  ...deviceLogin,
  ...webhooks,
  ...secrets,
  ...settings,
  ...registries,
  ...security,
  ...servers,
  ...runs,
  ...runLog,
  ...runLinks,
  ...line,
  ...doorRoutes,
  ...environments,
  ...files,
  ...notices,
  ...billings,
  ...subscriptions,
  ...billingPages,
  ...contact,
  ...admin,
  ...machines,
  ...stripeWebhook,
  ...theme,
  ...health,
  ...metrics,
  ...robots,
  ...securityPage,
  ...prefetch,
  ...cable,
  ...openapi,
]

export const routes = tableOf(ROUTES)

/** What every request passes through, then who answers it. */
export function createApp(log: Log, openContext = contextOf): Hono<AppEnv> {
  const app: Hono<AppEnv> = new Hono<AppEnv>()
    .use(async (c, next) => {
      c.set('routes', routes)
      await next()
    })
    .use(requestId(log))
    .use(keptPages)
    .use(securityHeaders({ dev: import.meta.env.DEV }))
    .use(async (c, next) => {
      c.set('ctx', await openContext(c))
      c.set('ctx', { ...c.var.ctx, browser: readCookie(c, 'browser') ?? '' })
      await next()
    })
    .use(outerLimit)
    .use(knownMethod)
    // Loaded when needed: most requests have no body.
    .use(async (c, next) =>
      c.req.raw.body ? (await import('./http/middleware/limit-body.ts')).readBody(c, next) : next(),
    )
    .use(csrf)
    .use(formMethod(() => app))
    .use(currentSignIn)
    .use(checkAccess)
    .notFound(notFound)
  mount(app, ROUTES).onError(failed)
  return app
}

function contextOf(c: HonoContext<AppEnv>): Promise<Context> {
  return createContext(c.env, (work) => c.executionCtx.waitUntil(work), c.var.log)
}

export const app = createApp(log)
