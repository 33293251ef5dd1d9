import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { emailTokens, users } from '../../../db/schema/accounts.ts'
import { plans } from '../../../db/schema/billing.ts'
import { places, runs } from '../../../db/schema/fleet.ts'
import { CLIENT_ID } from '../../../src/domain/device-code.ts'
import { EVENT_TYPES } from '../../../src/domain/webhook.ts'
import { newEmailToken } from '../../../src/server/accounts/email-tokens.ts'
import { newId } from '../../../src/server/crypto/id.ts'
import type { Limited } from '../../../src/server/limits/limits.ts'
import { newAddress, PASSWORD, signUpFields } from '../../../testing/people/sign-up.ts'
import { memoryCounters } from '../../../testing/stack/counters.ts'
import { openPage, openSite, type Role } from '../../../testing/stack/site.ts'

const DOOR = { DOOR_DOMAIN: 'door.test', FLEET: {} as never }
const WAIT_MS = 61_000
const counters = memoryCounters()
const spent = async () => WAIT_MS

/** Counters that refuse all uses but no guess, or the other way around. */
const usesUp = { getByName: (name: string) => ({ ...counters(name), take: spent, takeExactly: spent }) }
const guessesUp = { getByName: (name: string) => ({ ...counters(name), guess: spent }) }

type Call = [
  route: string,
  body?: unknown,
  before?: (site: Awaited<ReturnType<typeof openSite>>, userId: string) => unknown,
]

async function refusal(counter: object, role: Role, [route, body, before]: Call) {
  const site = await openSite({ ATTEMPT_COUNTER: counter as never, PLANS_FOR_SALE: 'true', ...DOOR })
  const { userId, cookie } = await site.signInAs(role)
  await before?.(site, userId)
  const page = await openPage(site, cookie)
  const [method = '', path = ''] = route.split(' ')
  const isForm = typeof body === 'string'
  const answer = await site.request(path, {
    method,
    headers: {
      'CF-Connecting-IP': '203.0.113.9',
      'Content-Type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
      'Sec-Fetch-Site': 'same-origin',
      'X-CSRF-Token': page.token,
      Cookie: page.cookie,
    },
    ...(method === 'GET' ? {} : { body: isForm ? body : JSON.stringify(body ?? {}) }),
  })
  // A page says so itself, or leads to one that does.
  const next = answer.headers.get('Location')
  const flash = answer.headers.getSetCookie().map((line) => line.split(';')[0])
  const shown = next ? await site.request(next, { headers: { Cookie: [page.cookie, ...flash].join('; ') } }) : answer
  return shown.text()
}

const email = newAddress()
const password = { current_password: PASSWORD }
const newPassword = {
  user: { name: 'Ada', ...password, password: 'a newer one', password_confirmation: 'a newer one' },
}
const webhook = { url: 'https://example.com/hook', events: [EVENT_TYPES[0]], ...password }
const message = { name: 'Ada', email, message: 'Hello' }

const isCustomer: Call[2] = ({ db }, userId) =>
  db
    .update(users)
    .set({ stripeCustomerId: newId('cus' as never) })
    .where(eq(users.id, userId))
const withServer =
  (id: string, endedAt: number | null): NonNullable<Call[2]> =>
  async ({ db }, userId) => {
    const place = { id: newId('srv'), instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1a', position: 0 }
    await db.insert(places).values({ ...place, retiredAt: 1 })
    const { id: placeId, instanceType } = place
    await db.insert(runs).values({ id, userId, placeId, instanceType, requestedAt: 1, endedAt })
  }
const hadServer = withServer('ses_x', 2)
const hasServer = withServer('ses_y', null)
const withDoor =
  (id: string): NonNullable<Call[2]> =>
  async (site, userId) => {
    await withServer(id, null)(site, userId)
    await site.db
      .update(runs)
      .set({ doorLabel: newId('x' as never) })
      .where(eq(runs.id, id))
  }
const { token: resetToken, hash: resetHash } = newEmailToken()
const resetFields = { reset_password_token: resetToken, password: 'a newer one', password_confirmation: 'a newer one' }
const hasResetLink: Call[2] = ({ db }, userId) =>
  db.insert(emailTokens).values({
    hash: resetHash,
    userId,
    purpose: 'reset',
    createdAt: Date.now(),
    expiresAt: Date.now() + 3_600_000,
  })
const owesAPlan: Call[2] = ({ db }, userId) =>
  db.insert(plans).values({
    id: newId('sub'),
    userId,
    planType: 'basic',
    subType: 'paid',
    status: 'past_due',
    anchor: Date.now(),
    stripeSubscriptionId: `sub_${userId}`,
    createdAt: Date.now(),
  })

/**
 * Each place that asks for the limit. Left out are what only an optional question to Stripe uses, and what a known
 * browser uses before it counts as unknown.
 */
const CALLS: Record<Exclude<Limited, 'ask_stripe' | 'known_sign_in'>, [Role, ...Call[]]> = {
  sign_in: ['visitor', ['POST /users/sign_in', { user: { email, password: PASSWORD } }]],
  second_factor: [
    'visitor',
    ['POST /users/sign_in/second_factor', { challenge: 'x', totp: '123456' }],
    ['POST /users/sign_in/passkey', { challenge: 'x', response: {} }],
  ],
  passkey_options: ['visitor', ['POST /users/sign_in/passkey/options']],
  sign_up: ['visitor', ['POST /users', { user: signUpFields(email) }]],
  resend: ['visitor', ['POST /users/confirmation', { user: { email } }]],
  reset: ['visitor', ['POST /users/password', { user: { email } }]],
  device: ['visitor', ['POST /oauth/device_authorization', `client_id=${CLIENT_ID}&scope=read`]],
  contact: [
    'visitor',
    ['POST /api/v1/contact_sales', { ...message, source: 'Referral' }],
    ['POST /api/v1/help', { ...message, topic: 'Billing and plans' }],
  ],
  extend: [
    'visitor',
    ['GET /servers/ses_x/extend?key=x'],
    ['POST /servers/ses_x/extend', { key: 'x', ends_at: '2028-01-01T00:00:00Z' }],
  ],
  checkout: ['user', ['POST /api/v1/subscriptions/create_checkout_session', { plan_type: 'basic' }]],
  portal: ['user', ['POST /api/v1/billings/portal', {}, isCustomer]],
  pay_page: ['user', ['GET /subscriptions/pay', null, owesAPlan]],
  quote_plan: ['user', ['GET /subscriptions/change?plan_type=premium']],
  change_plan: [
    'user',
    ['POST /api/v1/subscriptions/change_plan', { plan_type: 'premium' }],
    ['POST /api/v1/subscriptions/keep_subscription'],
  ],
  cancel_plan: ['user', ['POST /api/v1/subscriptions/cancel_subscription_at_period_end']],
  charge_answer: ['user', ['POST /api/v1/billings/charge_card', { on: false }]],
  set_budget: ['user', ['POST /api/v1/billings/budget', { dollars: 10, stops: true }]],
  set_idle: ['user', ['POST /api/v1/idle', { minutes: 30 }]],
  new_password: ['user', ['PUT /users', newPassword]],
  close_account: ['user', ['DELETE /users', { user: password }]],
  use_reset_link: ['user', ['PUT /users/password', { user: resetFields }, hasResetLink]],
  ask_passkey: ['user', ['POST /account_security/passkeys/confirm']],
  change_factor: [
    'admin',
    ['POST /account_security/link'],
    ['POST /account_security/passkeys/options', password],
    ['DELETE /account_security/passkeys/pky_x', password],
    ['POST /account_security/totp', password],
    ['DELETE /account_security/totp', password],
    ['POST /account_security/recovery_codes', password],
  ],
  confirm_factor: [
    'user',
    ['POST /account_security/totp/confirm', { code: '123456' }],
    ['POST /account_security/passkeys', { name: 'Key', response: {} }],
  ],
  new_token: ['user', ['POST /api_tokens', { name: 'CI', scope: 'read', ...password }]],
  user_code: [
    'user',
    ['GET /activate?user_code=BCDF-GHJK'],
    ['POST /activate', { user_code: 'BCDF-GHJK', decision: 'deny' }],
    ['POST /activate', { user_code: 'BCDF-GHJK', decision: 'approve', name: 'CI', ...password }],
  ],
  name_run: ['user', ['PUT /api/v1/servers/ses_x', { name: 'n' }, hadServer]],
  move_end: [
    'user',
    ['PUT /api/v1/servers/ses_y', { ends_at: new Date(Date.now() + 86_400_000).toISOString() }, hasServer],
  ],
  change_environment: [
    'user',
    ['POST /api/v1/environments', { name: 'sim', image: 'ghcr.io/ada/sim:1' }],
    ['DELETE /api/v1/environments/sim'],
  ],
  join_line: ['user', ['POST /api/v1/line', { start: true }]],
  open_door: ['user', ['GET /servers/ses_w/open', null, withDoor('ses_w')]],
  invite_guest: ['user', ['POST /api/v1/servers/ses_z/guests', { hours: 1 }, withDoor('ses_z')]],
  export: ['user', ['GET /api/v1/users/export']],
  runs_file: ['user', ['GET /servers.csv']],
  find_runs: [
    'user',
    ['GET /api/v1/servers'],
    ['GET /servers'],
    ['GET /api/v1/servers?q=a'],
    ['GET /servers?page=2'],
    ['GET /servers?month=2026-01'],
    ['GET /servers?status=error'],
  ],
  feedback: ['user', ['POST /api/v1/feedback', { message: 'Hello' }]],
  new_webhook: ['user', ['POST /webhooks', webhook]],
  files_access: ['user', ['POST /api/v1/files/credentials', { mode: 'read' }]],
  files_change: [
    'user',
    ['POST /api/v1/files', { path: 'a', size: 1 }],
    ['POST /api/v1/files/uploads', { path: 'a', size: 1, version: '1' }],
    ['POST /api/v1/files/uploads/upl_x/parts', { parts: [1] }],
    ['POST /api/v1/files/uploads/upl_x/complete'],
    ['DELETE /api/v1/files?path=a/'],
  ],
  files_list: ['user', ['GET /api/v1/files'], ['GET /api/v1/files/content?path=a/../b']],
  files_open: ['user', ['GET /api/v1/files/content?path=a']],
  files_size: ['user', ['GET /api/v1/files/size?path=a/']],
  new_webhook_secret: ['user', ['POST /webhooks/whk_x/secret', password]],
  put_secret: [
    'user',
    ['PUT /secrets/A', { value: 'x', ...password }],
    ['POST /secrets', { name: 'A', value: 'x', ...password }],
    ['PUT /registries/ghcr.io', { username: 'a', token: 'x', ...password }],
    ['POST /registries', { host: 'ghcr.io', username: 'a', token: 'x', ...password }],
  ],
  send_event: ['user', ['POST /webhooks/whk_x/test'], ['POST /webhooks/whk_x/deliveries/evt_x']],
}
const ROWS = Object.entries(CALLS).flatMap(([limit, [role, ...calls]]) =>
  calls.map((call) => [limit, call[0], role, call] as const),
)

test.each(ROWS)('beyond the limit %s, %s does nothing', async (_limit, _route, role, call) => {
  expect(await refusal(usesUp, role, call)).toContain('Please try again in 61 seconds.')
})

test.each<[string, Role, Call]>([
  ['signing in', 'visitor', ['POST /users/sign_in', { user: { email, password: PASSWORD } }]],
  ['a new password', 'user', ['PUT /users', newPassword]],
  ['closing the account', 'user', ['DELETE /users', { user: password }]],
  ['an API token', 'user', ['POST /api_tokens', { name: 'CI', scope: 'read', ...password }]],
  ['an authenticator app', 'user', ['POST /account_security/totp', password]],
  ['a webhook', 'user', ['POST /webhooks', webhook]],
  ['a registry login', 'user', ['PUT /registries/ghcr.io', { username: 'a', token: 'x', ...password }]],
  ['a secret', 'user', ['PUT /secrets/A', { value: 'x', ...password }]],
  ['a new secret of a webhook', 'user', ['POST /webhooks/whk_x/secret', password]],
  ['the console', 'admin', ['POST /admin/confirm', { to: '', user: password }]],
])('after too many guesses, %s waits, whatever the password', async (_, role, call) => {
  expect(await refusal(guessesUp, role, call)).toContain('Please try again in 61 seconds.')
})
