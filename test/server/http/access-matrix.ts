import type { Role } from '../../../testing/stack/site.ts'

/** `in`: the route answers. A path: redirected there. A number: refused with that status. */
export type Outcome = 'in' | '/sign_in' | '/dashboard' | 401 | 403

/** A program with an API token of this scope. */
export type Program = 'read' | 'operate'
type Row = Record<Role | Program, Outcome>

const everyone = (outcome: Outcome): Record<Role, Outcome> => ({
  visitor: outcome,
  unconfirmed: outcome,
  user: outcome,
  suspended: outcome,
  admin: outcome,
})

const NO_PROGRAM = { read: 403, operate: 403 } as const
const PUBLIC: Row = { ...everyone('in'), ...NO_PROGRAM }
const OWN_TOKEN: Row = { ...everyone(401), read: 401, operate: 401 }
const GUESTS: Row = { ...everyone('/dashboard'), visitor: 'in', unconfirmed: 'in', ...NO_PROGRAM }
const PAGE: Row = { ...everyone('in'), visitor: '/sign_in', unconfirmed: '/sign_in', ...NO_PROGRAM }
const CALL: Row = { ...everyone('in'), visitor: 401, unconfirmed: 401, ...NO_PROGRAM }
const ADMIN_PAGE: Row = { ...everyone('/dashboard'), admin: 'in', ...NO_PROGRAM }
const ADMIN_CALL: Row = { ...CALL, user: 403, suspended: 403 }
const READ = { read: 'in', operate: 'in' } as const
const OPERATE = { read: 403, operate: 'in' } as const

/** Who may use which route, written down a second time: the tests compare the app against it. */
export const MATRIX: Record<string, Row> = {
  'GET /': PUBLIC,
  'GET /contact_sales': PUBLIC,
  'GET /pricing': PUBLIC,
  'GET /help': PUBLIC,
  'GET /privacy': PUBLIC,
  'GET /terms_of_service': PUBLIC,
  'GET /status': PUBLIC,
  'GET /confirm_email': PUBLIC,
  'GET /forgot_password': PUBLIC,
  'GET /reset_password': PUBLIC,
  'GET /.well-known/change-password': PUBLIC,
  'GET /sign_in': GUESTS,
  'GET /sign_up': GUESTS,
  'GET /subscriptions': PAGE,
  'GET /subscriptions/pay': PAGE,
  'GET /subscriptions/change': PAGE,
  'GET /dashboard': PAGE,
  'GET /stop_server': PAGE,
  'GET /account_overview': PAGE,
  'GET /billing_history': PAGE,
  'GET /billing_history/:id': PAGE,
  'GET /billing_history.csv': { ...PAGE, ...READ },
  'GET /devices': PAGE,
  'GET /api_tokens': PAGE,
  'GET /activate': PAGE,
  'POST /activate': CALL,
  'POST /oauth/device_authorization': PUBLIC,
  'POST /oauth/token': PUBLIC,
  'GET /api/v1/api_token': { ...CALL, ...READ },
  'DELETE /api/v1/api_token': { ...CALL, ...READ },
  'POST /api_tokens': CALL,
  'DELETE /api_tokens/:id': CALL,
  'GET /webhooks': PAGE,
  'GET /webhooks/:id': PAGE,
  'POST /webhooks': CALL,
  'DELETE /webhooks/:id': CALL,
  'POST /webhooks/:id/secret': CALL,
  'POST /webhooks/:id/on': CALL,
  'POST /webhooks/:id/test': CALL,
  'POST /webhooks/:id/deliveries/:event': CALL,
  'GET /close_account': PAGE,
  'GET /console': ADMIN_PAGE,
  'GET /console/messages': ADMIN_PAGE,
  'GET /admin/people': ADMIN_PAGE,
  'GET /admin/people/:id': ADMIN_PAGE,
  'GET /admin/places': ADMIN_PAGE,
  'GET /admin/drift': ADMIN_PAGE,
  'GET /admin/audit': ADMIN_PAGE,
  'GET /admin/audit.csv': ADMIN_PAGE,
  'GET /admin/confirm': ADMIN_PAGE,
  'POST /admin/confirm': ADMIN_CALL,
  'POST /admin/runs/:id/stop': ADMIN_CALL,
  'POST /admin/instances/end': ADMIN_CALL,
  'POST /admin/people/:id/suspend': ADMIN_CALL,
  'POST /admin/people/:id/lift': ADMIN_CALL,
  'POST /admin/people/:id/plan': ADMIN_CALL,
  'POST /admin/people/:id/end_plan': ADMIN_CALL,
  'POST /admin/people/:id/sign_out': ADMIN_CALL,
  'POST /admin/bills/correct': ADMIN_CALL,
  'POST /admin/places': ADMIN_CALL,
  'POST /admin/places/change': ADMIN_CALL,
  'POST /users': PUBLIC,
  'GET /users/confirmation': PUBLIC,
  'POST /users/confirmation': PUBLIC,
  'POST /users/password': PUBLIC,
  'PUT /users/password': PUBLIC,
  'POST /users/sign_in': PUBLIC,
  'DELETE /users/sign_out': CALL,
  'PUT /users': CALL,
  'DELETE /users': CALL,
  'GET /api/v1/users/get_session': { ...CALL, ...READ },
  'GET /api/v1/users/export': CALL,
  'GET /api/v1/users/sign_ins': CALL,
  'DELETE /api/v1/users/sign_ins': CALL,
  'DELETE /api/v1/users/sign_ins/:id': CALL,
  'GET /api/v1/servers/get_servers': { ...CALL, ...READ },
  'GET /api/v1/aws/server_available': { ...CALL, ...READ },
  'POST /api/v1/aws/auto_cloud_start_request': { ...CALL, ...OPERATE },
  'POST /api/v1/aws/start': { ...CALL, ...OPERATE },
  'POST /api/v1/aws/stop_server': { ...CALL, ...OPERATE },
  'POST /api/v1/aws/check_server_ip_status': { ...CALL, ...READ },
  'POST /api/servers/request_more': { ...CALL, ...OPERATE },
  'GET /api/v1/billings/summary': { ...CALL, ...READ },
  'GET /api/v1/billings/history': { ...CALL, ...READ },
  'POST /api/v1/billings/portal': CALL,
  'POST /api/v1/subscriptions/cancel_subscription_at_period_end': CALL,
  'POST /api/v1/subscriptions/keep_subscription': CALL,
  'POST /api/v1/subscriptions/change_plan': CALL,
  'POST /api/v1/subscriptions/create_checkout_session': CALL,
  'GET /api/v1/instances': ADMIN_CALL,
  'POST /api/v1/contact_sales': PUBLIC,
  'POST /api/v1/help': PUBLIC,
  'POST /api/v1/feedback': CALL,
  'POST /theme': PUBLIC,
  'GET /healthz': PUBLIC,
  'GET /readyz': PUBLIC,
  'GET /api/openapi.json': { ...PUBLIC, ...READ },
  'GET /metrics': OWN_TOKEN,
  'GET /robots.txt': PUBLIC,
  'GET /sitemap.xml': PUBLIC,
  'GET /prefetch.json': PUBLIC,
  'POST /webhooks/stripe': PUBLIC,
  'GET /cable': { ...PUBLIC, ...READ },
}
