import { createMiddleware } from 'hono/factory'
import { AppError } from '../../domain/error.ts'
import type { AppEnv } from './app-env.ts'
import { matchedRoute } from './matched-route.ts'

/** `guest`: only for those who are not signed in. */
export type Access = 'public' | 'guest' | 'user' | 'admin'

/** Who may come in where: every route, by the path it is registered under. There is no default, an unlisted one is refused. */
export const ACCESS: Record<string, Access> = {
  'GET /': 'public',
  'GET /contact_sales': 'public',
  'GET /pricing': 'public',
  'GET /terms_of_service': 'public',
  'GET /confirm_email': 'public',
  'GET /forgot_password': 'public',
  'GET /reset_password': 'public',
  'GET /sign_in': 'guest',
  'GET /sign_up': 'guest',
  'GET /subscriptions': 'user',
  'GET /subscriptions/pay': 'user',
  'GET /dashboard': 'user',
  'GET /account_overview': 'user',
  'GET /billing_history': 'user',
  'GET /billing_history/:id': 'user',
  'GET /billing_history.csv': 'user',
  'GET /devices': 'user',
  'GET /close_account': 'user',
  'GET /console': 'admin',
  'GET /console/messages': 'admin',

  'POST /users': 'public',
  'PUT /users': 'user',
  'DELETE /users': 'user',
  'GET /users/confirmation': 'public',
  'POST /users/confirmation': 'public',
  'POST /users/password': 'public',
  'PUT /users/password': 'public',
  'POST /users/sign_in': 'public',
  'DELETE /users/sign_out': 'user',
  'GET /api/v1/users/get_session': 'user',
  'GET /api/v1/users/export': 'user',
  'GET /api/v1/users/sign_ins': 'user',
  'DELETE /api/v1/users/sign_ins': 'user',
  'DELETE /api/v1/users/sign_ins/:id': 'user',

  'GET /api/v1/servers/get_servers': 'user',
  'GET /api/v1/aws/server_available': 'user',
  'POST /api/v1/aws/auto_cloud_start_request': 'user',
  'POST /api/v1/aws/start': 'user',
  'POST /api/v1/aws/stop_server': 'user',
  'POST /api/v1/aws/check_server_ip_status': 'user',
  'POST /api/servers/request_more': 'user',
  'GET /api/v1/instances': 'admin',

  'GET /api/v1/billings/summary': 'user',
  'GET /api/v1/billings/history': 'user',
  'POST /api/v1/subscriptions/cancel_subscription_at_period_end': 'user',
  'POST /api/v1/subscriptions/create_checkout_session': 'user',
  'POST /api/v1/contact_sales': 'public',

  'POST /theme': 'public',
  'GET /robots.txt': 'public',
  'GET /sitemap.xml': 'public',
  'GET /prefetch.json': 'public',
  /** Signed by Stripe. */
  'POST /webhooks/stripe': 'public',
  /** Refuses by its own protocol, so that stock clients understand. */
  'GET /cable': 'public',
}

/** A page sends people where they may be; a call is refused. */
export const checkAccess = createMiddleware<AppEnv>(async (c, next) => {
  const route = matchedRoute(c)
  if (route === null) return next()
  const access = ACCESS[route]
  if (!access) throw new Error(`${route} is not in the access table`)
  const user = c.var.signIn?.user
  if (access === 'public' || (access === 'guest' && !user)) return next()
  if (access === 'guest') return c.redirect('/dashboard')
  // The route's method: HEAD is answered as GET is.
  const isPage = route.startsWith('GET ') && !c.req.path.startsWith('/api/')
  if (!user) {
    if (isPage) return c.redirect(access === 'admin' ? '/dashboard' : '/sign_in')
    throw new AppError('unauthenticated', 'Please sign in first.')
  }
  if (access === 'admin' && !user.admin) {
    if (isPage) return c.redirect('/dashboard')
    throw new AppError('forbidden', 'You are not allowed to do that.')
  }
  return next()
})
