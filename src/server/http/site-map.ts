import type { SQL } from 'drizzle-orm'
import type { BatchResponse } from 'drizzle-orm/batch'
import type { Context as HonoContext } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { TokenScope } from '../../domain/api-token.ts'
import type { AppError } from '../../domain/error.ts'
import type { Reads } from '../accounts/live-sign-ins.ts'
import { openInvoiceQueries } from '../billing/bills/billing-history.ts'
import { usageQueries } from '../billing/bills/usage.ts'
import { dashboardQueries } from '../fleet/dashboard.ts'
import { listRunsQuery } from '../fleet/run-list.ts'
import { catalogQuery } from '../fleet/worlds.ts'
import { listNoticesQuery, mutedMailsQuery } from '../mail/bell.ts'
import type { Context } from '../runtime/context.ts'
import { vendorErrorOf } from '../settings/log.ts'
import type { AppEnv } from './app-env.ts'
import { bearerOf } from './caller.ts'

/** `guest`: only people who are not signed in. */
type Access = 'public' | 'guest' | 'user' | 'admin'

/** What we know about a route before its handler runs. */
export type RouteFacts = {
  access: Access
  /** A page redirects people to where they may be and fails as a page; a call answers with JSON. */
  kind: 'page' | 'call'
  /** A download, not a screen: signing in doesn't lead back to it. */
  file?: true
  /** The scope that an API token needs here. Without it, no token may call this. */
  scope?: TokenScope
  /** `listed` in the sitemap, or just `open` to search engines, which we keep out of all other pages. */
  search?: 'listed' | 'open'
  /**
   * A browser may prefetch the page when the pointer rests on its link (`hover`, for pages that rarely
   * change) or presses it (`press`, for personal pages). Not the dashboard and the console: they count
   * seconds from when they were rendered.
   */
  ahead?: 'hover' | 'press'
  /** Reads about the user that share the sign-in's round trip. */
  reads?: (ctx: Context, userId: SQL) => Reads
  /**
   * The page with this call's plain HTML form, and the page after success (the dashboard by default). `back`: the page
   * it came from, instead of both. `keeps`: what the page's address has of the fields. An `:id` is the call's own.
   */
  form?: { at: string; done: string; back?: true; keeps?: { query: string; field: string } }
  /** Its plain form carries a file, beside its fields. */
  takesFile?: true
  /** An act in the console: the admin must have typed their password in the last minutes. */
  recentPassword?: true
  /** Whether the call needs the page's token. By default, forms do and JSON doesn't. */
  token?: 'always' | 'never'
  /** The answer carries a token, for a page that isn't reloaded. */
  givesToken?: true
  /** It acts for no person, so a visitor's page may send it, whoever has signed in meanwhile. */
  forAnyone?: true
  /** Programs send it, without a cookie and without proof of origin. Other sites' pages may not. */
  fromPrograms?: true
  /** Its handler checks a bearer token that is no API token. */
  ownToken?: true
  /** Stripe signs it: none of our pages sends it, and its bursts are not rate limited. */
  signedBySender?: true
  /** Each call is a connection that a program makes, often many at once: they don't count as API calls. */
  connections?: true
  /** Extra fields in a refusal. */
  errorFields?: (error: AppError) => Record<string, unknown>
  /** Open pages poll it, so it doesn't mean that anyone is there. */
  byItself?: true
}

const page = <Facts extends Omit<RouteFacts, 'access' | 'kind'>>(access: Access, facts: Facts) =>
  ({ access, kind: 'page', ...facts }) as const
const call = <Facts extends Omit<RouteFacts, 'access' | 'kind'>>(access: Access, facts: Facts) =>
  ({ access, kind: 'call', ...facts }) as const

/** An act in the console. Its form and its JSON need the page's token: nothing else calls these. */
const act = (at: string) => call('admin', { form: { at, done: at, back: true }, token: 'always', recentPassword: true })

const ON_DOOR = { at: '/servers/:id/share', done: '/servers/:id/share' }
/** Back to the folder that they were in. */
const BY_FILES = { at: '/files', done: '/files', back: true } as const
const noticeReads = (ctx: Context, userId: SQL) => [listNoticesQuery(ctx, userId)] as const

const ON_WEBHOOK = { at: '/webhooks/:id', done: '/webhooks/:id' }

/**
 * Every route, by the method and path it is registered under. There is no default: routes missing here are
 * refused.
 */
export const SITE_MAP = {
  'GET /': page('public', { search: 'listed', ahead: 'hover' }),
  'GET /pricing': page('public', { search: 'listed', ahead: 'hover' }),
  'GET /contact_sales': page('public', { search: 'listed', ahead: 'hover' }),
  'GET /help': page('public', { search: 'listed', ahead: 'hover' }),
  'GET /privacy': page('public', { search: 'listed', ahead: 'hover' }),
  'GET /terms_of_service': page('public', { search: 'listed', ahead: 'hover' }),
  'GET /docs': page('public', { search: 'listed', ahead: 'hover' }),
  'GET /docs/api': page('public', { search: 'listed', ahead: 'hover' }),
  'GET /docs/events': page('public', { search: 'listed', ahead: 'hover' }),
  'GET /docs/cli': page('public', { search: 'listed', ahead: 'hover' }),
  'GET /docs/billing': page('public', { search: 'listed', ahead: 'hover' }),
  'GET /docs/ci': page('public', { search: 'listed', ahead: 'hover' }),
  'GET /docs/images': page('public', { search: 'listed', ahead: 'hover' }),
  'GET /sign_up': page('guest', { search: 'listed', ahead: 'hover' }),
  'GET /sign_in': page('guest', { search: 'listed', ahead: 'hover' }),
  'GET /status': page('public', { search: 'open' }),
  'GET /forgot_password': page('public', { search: 'open', ahead: 'hover' }),
  'GET /confirm_email': page('public', { ahead: 'hover' }),
  'GET /reset_password': page('public', {}),
  'GET /.well-known/change-password': page('public', {}),
  'GET /dashboard': page('user', {
    reads: (ctx: Context, userId: SQL) =>
      [...openInvoiceQueries(ctx, userId), ...dashboardQueries(ctx, userId)] as const,
  }),
  'GET /servers/:id/extend': page('public', {}),
  // Its key is all that counts.
  'POST /servers/:id/extend': call('public', {
    form: { at: '/servers/:id/extend', done: '/servers/:id/extend', keeps: { query: 'key', field: 'key' } },
    forAnyone: true,
  }),
  'GET /servers/:id/stop': page('public', {}),
  // Its key is all that counts.
  'POST /servers/:id/stop': call('public', {
    form: { at: '/servers/:id/stop', done: '/servers/:id/stop', keeps: { query: 'key', field: 'key' } },
    forAnyone: true,
  }),
  'GET /stop_server': page('user', { reads: dashboardQueries }),
  'GET /servers/:id/open': page('user', {}),
  'GET /servers/:id/share': page('user', {}),
  'GET /servers/:id/connect': page('user', {}),
  'GET /subscriptions': page('user', {
    reads: (ctx: Context, userId: SQL) => [...usageQueries(ctx, userId), catalogQuery(ctx, userId)] as const,
    ahead: 'press',
  }),
  'GET /subscriptions/pay': page('user', {}),
  'GET /subscriptions/change': page('user', {}),
  'GET /account_overview': page('user', { ahead: 'press' }),
  'GET /billing_history': page('user', { ahead: 'press' }),
  'GET /billing_history/:id': page('user', { ahead: 'press' }),
  'GET /billing_history.csv': page('user', { scope: 'read', file: true }),
  'GET /servers': page('user', { ahead: 'press' }),
  'GET /servers.csv': page('user', { scope: 'read', file: true }),
  // It counts seconds.
  'GET /servers/:id': page('user', {}),
  'GET /servers/:id/log.txt': page('user', { scope: 'read', file: true }),
  // It counts seconds.
  'GET /line': page('user', {}),
  'GET /files': page('user', { ahead: 'press' }),
  'GET /budget': page('user', { ahead: 'press' }),
  'GET /notices': page('user', { reads: noticeReads }),
  'GET /notices/latest': call('user', { reads: noticeReads, byItself: true }),
  'GET /idle': page('user', { ahead: 'press' }),
  'GET /mails': page('user', {
    reads: (ctx: Context, userId: SQL) => [mutedMailsQuery(ctx, userId)] as const,
    ahead: 'press',
  }),
  // Their key is all that counts. Mail providers send it.
  'GET /mails/off': page('public', {}),
  'POST /mails/off': call('public', { fromPrograms: true }),
  'GET /devices': page('user', { ahead: 'press' }),
  'GET /api_tokens': page('user', { ahead: 'press' }),
  'GET /activate': page('user', {}),
  'GET /webhooks': page('user', { ahead: 'press' }),
  'GET /webhooks/:id': page('user', { ahead: 'press' }),
  'GET /secrets': page('user', { ahead: 'press' }),
  'GET /environments': page('user', { ahead: 'press' }),
  'GET /close_account': page('user', { ahead: 'press' }),
  'GET /console': page('admin', {}),
  'GET /console/messages': page('admin', {}),
  'GET /admin/people': page('admin', {}),
  'GET /admin/people/:id': page('admin', {}),
  'GET /admin/places': page('admin', {}),
  'GET /admin/line': page('admin', {}),
  'GET /admin/environments': page('admin', {}),
  'GET /admin/drift': page('admin', {}),
  'GET /admin/audit': page('admin', {}),
  'GET /admin/audit.csv': page('admin', { file: true }),
  'GET /admin/confirm': page('admin', {}),
  'POST /admin/confirm': call('admin', { form: { at: '/admin/confirm', done: '/admin/people' }, token: 'always' }),
  'POST /admin/runs/:id/stop': act('/admin/runs/:id'),
  'POST /admin/instances/end': act('/admin/drift'),
  'POST /admin/people/:id/suspend': act('/admin/people/:id'),
  'POST /admin/people/:id/lift': act('/admin/people/:id'),
  'POST /admin/people/:id/plan': act('/admin/people/:id'),
  'POST /admin/people/:id/end_plan': act('/admin/people/:id'),
  'POST /admin/people/:id/sign_out': act('/admin/people/:id'),
  'POST /admin/bills/correct': act('/admin/people'),
  'POST /admin/bills/hold': act('/admin/people'),
  'POST /admin/bills/release': act('/admin/people'),
  'POST /admin/places': act('/admin/places'),
  'POST /admin/places/change': act('/admin/places'),
  'POST /admin/groups': act('/admin/line'),
  'POST /admin/groups/end': act('/admin/line'),
  'POST /admin/environments': act('/admin/environments'),
  'POST /admin/environments/change': act('/admin/environments'),
  'POST /admin/environments/retire': act('/admin/environments'),
  'GET /admin/runs/:id': page('admin', {}),

  'POST /users': call('public', { form: { at: '/sign_up', done: '/sign_in' }, givesToken: true, forAnyone: true }),
  'PUT /users': call('user', {
    form: { at: '/account_overview', done: '/account_overview' },
    token: 'always',
    errorFields: () => ({ status: 'error' }),
  }),
  'DELETE /users': call('user', { form: { at: '/close_account', done: '/sign_in' }, token: 'always' }),
  'GET /users/confirmation': call('public', { form: { at: '/confirm_email', done: '/sign_in' } }),
  'POST /users/confirmation': call('public', { form: { at: '/confirm_email', done: '/sign_in' }, forAnyone: true }),
  'POST /users/password': call('public', { form: { at: '/forgot_password', done: '/sign_in' }, forAnyone: true }),
  'PUT /users/password': call('public', {
    form: {
      at: '/reset_password',
      done: '/sign_in',
      keeps: { query: 'reset_password_token', field: 'user[reset_password_token]' },
    },
    token: 'always',
    forAnyone: true,
  }),
  'POST /users/sign_in': call('public', {
    form: { at: '/sign_in', done: '/dashboard' },
    token: 'always',
    givesToken: true,
    forAnyone: true,
  }),
  'DELETE /users/sign_out': call('user', {
    form: { at: '/dashboard', done: '/sign_in' },
    token: 'always',
    givesToken: true,
  }),
  'GET /api/v1/users/get_session': call('user', {
    // Programs need their user's id to subscribe to /cable.
    scope: 'read',
    givesToken: true,
    errorFields: () => ({ Body: null }),
    byItself: true,
  }),
  'GET /api/v1/users/export': call('user', {}),
  'GET /api/v1/users/sign_ins': call('user', { byItself: true }),
  'DELETE /api/v1/users/sign_ins': call('user', { form: { at: '/devices', done: '/sign_in' }, token: 'always' }),
  'DELETE /api/v1/users/sign_ins/:id': call('user', { form: { at: '/devices', done: '/devices' }, token: 'always' }),
  'POST /api_tokens': call('user', { form: { at: '/api_tokens', done: '/api_tokens' }, token: 'always' }),
  'GET /api/v1/api_token': call('user', { scope: 'read', byItself: true }),
  'DELETE /api/v1/api_token': call('user', { scope: 'read', token: 'always' }),
  'POST /activate': call('user', { form: { at: '/activate', done: '/activate' }, token: 'always' }),
  // OAuth's own protocol (RFC 8628), for programs that have no token yet.
  'POST /oauth/device_authorization': call('public', { fromPrograms: true }),
  'POST /oauth/token': call('public', { fromPrograms: true }),
  'DELETE /api_tokens/:id': call('user', { form: { at: '/api_tokens', done: '/api_tokens' }, token: 'always' }),
  'POST /webhooks': call('user', { form: { at: '/webhooks', done: '/webhooks' }, token: 'always' }),
  'DELETE /webhooks/:id': call('user', { form: { at: '/webhooks/:id', done: '/webhooks' }, token: 'always' }),
  'POST /webhooks/:id/secret': call('user', { form: ON_WEBHOOK, token: 'always' }),
  'POST /webhooks/:id/on': call('user', { form: ON_WEBHOOK, token: 'always' }),
  'POST /webhooks/:id/test': call('user', { form: ON_WEBHOOK, token: 'always' }),
  'POST /webhooks/:id/deliveries/:event': call('user', { form: ON_WEBHOOK, token: 'always' }),

  'GET /api/v1/secrets': call('user', { scope: 'read' }),
  'PUT /secrets/:name': call('user', { token: 'always' }),
  'POST /secrets': call('user', { form: { at: '/secrets', done: '/secrets' }, token: 'always' }),
  'DELETE /secrets/:name': call('user', { form: { at: '/secrets', done: '/secrets' }, token: 'always' }),

  'GET /api/v1/notices': call('user', { scope: 'read', reads: noticeReads, byItself: true }),
  'POST /api/v1/notices/read': call('user', { form: { at: '/notices', done: '/notices', back: true } }),
  'GET /api/v1/idle': call('user', { scope: 'read' }),
  'POST /api/v1/idle': call('user', { scope: 'operate', form: { at: '/idle', done: '/idle' } }),
  'POST /api/v1/mails': call('user', { form: { at: '/mails', done: '/mails' } }),

  'GET /api/v1/servers/get_servers': call('user', {
    scope: 'read',
    reads: (ctx: Context, userId: SQL) => [listRunsQuery(ctx, userId)] as const,
    byItself: true,
  }),
  'GET /api/v1/servers': call('user', { scope: 'read', byItself: true }),
  'GET /api/v1/servers/:id': call('user', { scope: 'read', byItself: true }),
  'GET /api/v1/servers/:id/log': call('user', { scope: 'read', byItself: true }),
  'DELETE /api/v1/servers/:id/log': call('user', {
    scope: 'operate',
    form: { at: '/servers/:id', done: '/servers/:id' },
  }),
  'GET /api/v1/servers/:id/metrics': call('user', { scope: 'read', byItself: true }),
  'GET /api/v1/aws/server_available': call('user', { scope: 'read', reads: usageQueries, byItself: true }),
  'GET /api/v1/environments': call('user', {
    scope: 'read',
    reads: (ctx: Context, userId: SQL) => [catalogQuery(ctx, userId), ...usageQueries(ctx, userId)] as const,
  }),
  'POST /api/v1/environments': call('user', {
    scope: 'operate',
    form: { at: '/environments', done: '/environments' },
  }),
  'DELETE /api/v1/environments/:name': call('user', {
    scope: 'operate',
    form: { at: '/environments', done: '/environments' },
  }),
  'POST /files': call('user', { takesFile: true, form: BY_FILES }),
  'GET /api/v1/files': call('user', { scope: 'read' }),
  'POST /api/v1/files': call('user', { scope: 'operate' }),
  'GET /api/v1/files/uploads': call('user', { scope: 'read' }),
  'POST /api/v1/files/uploads': call('user', { scope: 'operate' }),
  'POST /api/v1/files/uploads/:id/parts': call('user', { scope: 'operate' }),
  'POST /api/v1/files/uploads/:id/complete': call('user', { scope: 'operate' }),
  'DELETE /api/v1/files/uploads/:id': call('user', { scope: 'operate', form: BY_FILES }),
  'GET /api/v1/files/deletions': call('user', { scope: 'read' }),
  'POST /api/v1/files/deletions/:id/undo': call('user', { scope: 'operate' }),
  'POST /api/v1/files/folders': call('user', { scope: 'operate' }),
  'POST /api/v1/files/moves': call('user', { scope: 'operate' }),
  'GET /api/v1/files/size': call('user', { scope: 'read' }),
  // To write, its handler asks for more.
  'POST /api/v1/files/credentials': call('user', { scope: 'read' }),
  'GET /api/v1/files/content': call('user', { scope: 'read' }),
  'DELETE /api/v1/files': call('user', { scope: 'operate', form: BY_FILES }),
  'POST /api/v1/aws/auto_cloud_start_request': call('user', { scope: 'operate' }),
  'POST /api/v1/aws/start': call('user', { scope: 'operate' }),
  'POST /api/v1/aws/stop_server': call('user', { scope: 'operate' }),
  'GET /api/v1/line': call('user', { scope: 'read', byItself: true }),
  'POST /api/v1/line': call('user', { scope: 'operate', form: { at: '/line', done: '/line' } }),
  'DELETE /api/v1/line': call('user', { scope: 'operate', form: { at: '/line', done: '/line' } }),
  'PUT /api/v1/servers/:id': call('user', {
    scope: 'operate',
    form: { at: '/dashboard', done: '/dashboard', back: true },
  }),
  'POST /api/v1/aws/check_server_ip_status': call('user', { scope: 'read', byItself: true }),
  'POST /api/servers/request_more': call('user', { scope: 'operate' }),
  'GET /api/v1/servers/:id/tcp/:port': call('user', { scope: 'operate', connections: true }),
  'GET /api/v1/servers/:id/guests': call('user', {}),
  'POST /api/v1/servers/:id/guests': call('user', { form: ON_DOOR }),
  'DELETE /api/v1/servers/:id/guests/:guest': call('user', { form: ON_DOOR }),
  'GET /api/v1/instances': call('admin', { byItself: true, errorFields: vendorErrorOf }),

  'GET /api/v1/billings/summary': call('user', { scope: 'read', reads: usageQueries, byItself: true }),
  'GET /api/v1/billings/history': call('user', { scope: 'read', byItself: true }),
  'POST /api/v1/billings/portal': call('user', {
    form: { at: '/billing_history', done: '/billing_history' },
  }),
  'POST /api/v1/billings/charge_card': call('user', {
    form: { at: '/account_overview', done: '/account_overview', back: true },
  }),
  'POST /api/v1/billings/budget': call('user', { form: { at: '/budget', done: '/budget' } }),
  'POST /api/v1/subscriptions/cancel_subscription_at_period_end': call('user', {
    form: { at: '/account_overview', done: '/account_overview' },
  }),
  'POST /api/v1/subscriptions/keep_subscription': call('user', {
    form: { at: '/account_overview', done: '/account_overview' },
  }),
  'POST /api/v1/subscriptions/change_plan': call('user', {
    form: { at: '/subscriptions/change', done: '/account_overview' },
  }),
  'POST /api/v1/subscriptions/create_checkout_session': call('user', {
    form: { at: '/subscriptions', done: '/account_overview' },
    errorFields: (error: AppError) => ({ Errors: error.errors }),
  }),
  'POST /api/v1/contact_sales': call('public', {
    form: { at: '/contact_sales', done: '/contact_sales' },
    errorFields: (error: AppError) => ({ Errors: error.errors }),
  }),

  'POST /api/v1/help': call('public', { form: { at: '/help', done: '/help' } }),
  'POST /api/v1/feedback': call('user', { form: { at: '/account_overview', done: '/account_overview' } }),

  // Its form is on pages that are the same for everyone and hold no token. It only changes colors.
  'POST /theme': call('public', { token: 'never' }),
  'GET /healthz': call('public', { byItself: true }),
  'GET /readyz': call('public', { byItself: true }),
  'GET /api/openapi.json': call('public', { scope: 'read' }),
  'GET /metrics': call('public', { ownToken: true, byItself: true }),
  'GET /robots.txt': call('public', {}),
  'GET /sitemap.xml': call('public', {}),
  'GET /llms.txt': call('public', {}),
  'GET /prefetch.json': call('public', {}),
  // What our machines call, with a proof of what they are.
  'POST /machines/credentials': call('public', { fromPrograms: true }),
  'POST /machines/key': call('public', { fromPrograms: true }),
  'POST /machines/files': call('public', { fromPrograms: true }),
  'POST /webhooks/stripe': call('public', { signedBySender: true }),
  // Refuses in its own protocol, which stock clients understand.
  'GET /cable': call('public', { scope: 'read', byItself: true }),
} satisfies Record<string, RouteFacts>

type SiteMap = typeof SITE_MAP

/**
 * `POST /users/:id`, as registered: the handler that will answer, whatever middleware runs before it. Null
 * for a 404.
 */
export function matchedRoute(c: HonoContext<AppEnv>): string | null {
  const handler = matchedRoutes(c).find((route) => route.method !== 'ALL')
  return handler ? `${handler.method} ${handler.path}` : null
}

/** Null for a 404 and for a route that is not in the site map, which access.ts refuses. */
export function factsOf(c: HonoContext<AppEnv>): RouteFacts | null {
  return (SITE_MAP as Record<string, RouteFacts>)[matchedRoute(c) ?? ''] ?? null
}

/** Whether a person, not a program, sees the answer. */
export function isPage(c: HonoContext<AppEnv>): boolean {
  if (bearerOf(c) !== null) return false
  const facts = factsOf(c)
  return facts ? facts.kind === 'page' : !c.req.path.startsWith('/api/')
}

const ROUTES = Object.entries<RouteFacts>(SITE_MAP).map(([route, facts]) => {
  const [method = '', path = ''] = route.split(' ')
  return { method, path, parts: path.split('/'), facts }
})

/** The routes at this path, whatever their methods. `/webhooks/stripe` isn't a `/webhooks/:id`. */
function routesAt(pathname: string) {
  const given = pathname.split('/')
  const found = ROUTES.filter(
    ({ parts }) =>
      parts.length === given.length && parts.every((part, i) => part === given[i] || (part[0] === ':' && given[i])),
  )
  const named = (parts: string[]) => parts.filter((part) => part[0] !== ':').length
  const most = Math.max(...found.map(({ parts }) => named(parts)))
  return found.filter(({ parts }) => named(parts) === most)
}

/** The methods that work at this path; none if it's unknown. */
export const methodsAt = (pathname: string) => routesAt(pathname).map(({ method }) => method)

/** The paths of all matching pages. */
export function pagesWhere(holds: (facts: RouteFacts) => boolean): string[] {
  const found = Object.entries<RouteFacts>(SITE_MAP).filter(([, facts]) => facts.kind === 'page' && holds(facts))
  return found.map(([route]) => route.slice('GET '.length))
}

/** The page at this path, whichever route registered it; null if there is none. */
export function pageAt(pathname: string): RouteFacts | null {
  return routesAt(pathname).find(({ facts }) => facts.kind === 'page')?.facts ?? null
}

type ReadingRoute = {
  [Route in keyof SiteMap]: SiteMap[Route] extends { reads: unknown } ? Route : never
}[keyof SiteMap]
type ReadsOf<Route extends ReadingRoute> = SiteMap[Route] extends { reads: (...args: never[]) => infer R extends Reads }
  ? R
  : never

/** What this route read together with the sign-in. By now the person is signed in and has access. */
export function readAlong<Route extends ReadingRoute>(
  c: HonoContext<AppEnv>,
  route: Route,
): BatchResponse<ReadsOf<Route>> {
  if (matchedRoute(c) !== route) throw new Error(`These reads belong to another route: ${route}`)
  return c.var.readAlong as unknown as BatchResponse<ReadsOf<Route>>
}
