import { randomUUID } from 'node:crypto'
import { eq, isNull, sql } from 'drizzle-orm'
import { afterAll, expect, test } from 'vitest'
import type { Database } from '../../db/client.ts'
import { factorRemovals, users } from '../../db/schema/accounts.ts'
import { bills, plans } from '../../db/schema/billing.ts'
import { places } from '../../db/schema/fleet.ts'
import { startStack } from '../../dev/stack.ts'
import type { SignIn } from '../../src/domain/wire/accounts.ts'
import type { Server } from '../../src/domain/wire/fleet.ts'
import { routes } from '../../src/server/app.ts'
import { newId } from '../../src/server/crypto/id.ts'
import { totpAt } from '../../testing/people/authenticator.ts'
import {
  Client,
  confirmationToken,
  mailedTo,
  newPerson,
  PASSWORD,
  type Reply,
  waitFor,
} from '../../testing/people/client.ts'
import { newPasskeyDevice } from '../../testing/people/passkey.ts'
import { checksOf, type Document } from '../../testing/stack/api-checks.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { openTestDatabase } from '../../testing/stack/database.ts'
import { quickHasher } from '../../testing/stack/quick-hasher.ts'

const dataDir = temporaryFolder('proving-ground-openapi')
// Plans are for sale here, so that a checkout page opens, and servers have doors, so that guests can come.
const stack = await startStack({
  dataDir,
  ec2BootMs: 300,
  fleetSize: 2,
  plansForSale: true,
  doorDomain: 'door.localhost',
  log: () => {},
  ...quickHasher,
})
afterAll(() => stack.close())
const { url } = stack

const document = (await (await fetch(`${url}/api/openapi.json`)).json()) as Document

const { operations: calls, faultOf } = checksOf(document)
const operations = [...calls].map(([route, operation]) => ({ route, operation }))
const accepted = new Set<string>()
const refused = new Set<string>()

/** Compares an answer with the document. */
function check(route: string, reply: Pick<Reply, 'status' | 'body' | 'text'>): void {
  expect(faultOf(route, reply.status, reply.body), reply.text).toBeNull()
  ;(reply.status < 300 ? accepted : refused).add(route)
}

/** Calls as someone, and checks the answer. */
async function ask(who: Client, route: string, body?: unknown, id = '') {
  const [method = '', pattern = ''] = route.split(' ')
  const [path = '', query = ''] = pattern.split('?')
  const reply = await who.request(method, path.replace(/:\w+$|:id/, id) + (query && `?${query}`), body)
  check(`${method} ${path}`, reply)
  return reply
}

const fields = (email: string) => ({
  name: 'Ada',
  email,
  password: PASSWORD,
  password_confirmation: PASSWORD,
  terms_of_service: true,
})

test('describes every call that answers JSON, and no other', () => {
  const OTHER = [
    'POST /servers/:id/extend',
    'POST /servers/:id/stop',
    'POST /mails/off',
    'POST /machines/credentials',
    'POST /machines/key',
    'POST /machines/files',
    'POST /machines/work',
    'GET /notices/latest',
    'POST /theme',
    'POST /files',
    'GET /healthz',
    'GET /readyz',
    'GET /metrics',
    'GET /robots.txt',
    'GET /.well-known/security.txt',
    'GET /sitemap.xml',
    'GET /llms.txt',
    'GET /prefetch.json',
    'POST /webhooks/stripe',
    'POST /oauth/device_authorization',
    'POST /oauth/token',
    'GET /cable',
    'GET /api/v1/servers/:id/tcp/:port',
    'GET /api/v1/files/content',
    'GET /api/v1/files/deletions',
    'POST /api/v1/files/deletions/:id/undo',
    'POST /api/v1/files/folders',
    'POST /api/v1/files/moves',
    'GET /api/openapi.json',
  ]
  const calls = Object.entries(routes.facts).filter(([, { kind }]) => kind !== 'page')
  const expected = calls
    .map(([route]) => route)
    // Nor are the console's forms part of the API.
    .filter((route) => !OTHER.includes(route) && !route.startsWith('POST /admin/'))
  expect(operations.map(({ route }) => route).sort()).toEqual(expected.sort())
  expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url }] })
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length)
})

test('has only types that generators of clients know: one, or null', () => {
  const wrong: unknown[] = []
  JSON.stringify(document, (key, value) => {
    const types = key === 'type' && Array.isArray(value) ? value : []
    const choices = key === 'anyOf' ? (value as { type?: string }[]) : []
    if ([types, choices].some((all) => all.length > 2)) wrong.push(value)
    if (types.length && !types.includes('null')) wrong.push(value)
    if (choices.length && !choices.some(({ type }) => type === 'null')) wrong.push(value)
    return value
  })
  expect(wrong).toEqual([])
})

test('says which scope opens a call, as its route does', () => {
  for (const { route, operation } of operations) {
    const scopes = operation.security.flatMap(({ token }) => token ?? [])
    const { access, scope } = routes.facts[route] ?? {}
    expect(scopes, route).toEqual(scope && access !== 'public' ? [scope] : [])
  }
})

test('every answer of the running product has the shape that the document gives it', async () => {
  const visitor = new Client(url)
  const email = `${randomUUID()}@example.com`
  await visitor.open('/sign_up')
  await ask(visitor, 'POST /users', { user: fields(email) })
  await ask(visitor, 'POST /users', { user: { ...fields(email), password: '' } })
  await ask(visitor, 'POST /users', '{')
  await ask(visitor, 'GET /users/confirmation?confirmation_token=none')
  await ask(visitor, `GET /users/confirmation?confirmation_token=${await confirmationToken(url, email)}`)
  await ask(visitor, 'POST /users/confirmation', { user: { email } })
  await ask(visitor, 'POST /users/confirmation', { user: { email: 'none' } })
  await ask(visitor, 'POST /users/password', { user: { email } })
  await ask(visitor, 'POST /users/password', {})
  const reset = { reset_password_token: await resetToken(email), password: PASSWORD, password_confirmation: PASSWORD }
  await visitor.open('/reset_password')
  await ask(visitor, 'PUT /users/password', { user: { ...reset, reset_password_token: 'none' } })
  await ask(visitor, 'PUT /users/password', { user: reset })
  await ask(visitor, 'POST /users/sign_in', { user: { email, password: 'wrong' } })
  await ask(visitor, 'POST /users/sign_in', { user: { email, password: PASSWORD } })
  const contact = { name: 'Ada', email, source: 'Referral', message: 'Hello' }
  await ask(visitor, 'POST /api/v1/contact_sales', contact)
  await ask(visitor, 'POST /api/v1/contact_sales', {})

  const nobody = new Client(url)
  await nobody.open('/sign_in')
  for (const { route, operation } of operations.filter(({ operation }) => operation.security.length)) {
    const body = operation.requestBody && { server_id: 'x', session_id: 'x', ip_address: 'x', user: {} }
    expect((await ask(nobody, route, body, 'x')).status, route).toBe(401)
  }

  const ada = await newPerson(url)
  const program = new Client(url)
  const { body: made } = await ask(ada, 'POST /api_tokens', {
    name: 'CI',
    scope: 'operate',
    current_password: PASSWORD,
  })
  await ask(ada, 'POST /api_tokens', { name: 'CI', scope: 'operate', current_password: PASSWORD })
  const hook = { url: 'http://127.0.0.1:9/', events: ['server.running'], current_password: PASSWORD }
  const { body: added } = await ask(ada, 'POST /webhooks', hook)
  await ask(ada, 'POST /webhooks', hook)
  await ask(ada, 'POST /webhooks', {})
  for (const id of [added.id, 'whk_none']) {
    await ask(ada, 'POST /webhooks/:id/test', undefined, id)
    await ask(ada, 'POST /webhooks/:id/on', undefined, id)
    await ask(ada, 'POST /webhooks/:id/secret', { current_password: PASSWORD }, id)
  }
  await ask(ada, 'POST /webhooks/:id/secret', {}, added.id)
  const { body: kept } = await ask(ada, 'GET /api/v1/users/export')
  const [delivery] = kept.webhook_deliveries as { event_id: string }[]
  for (const event of [delivery?.event_id, 'evt_none'])
    check(
      'POST /webhooks/:id/deliveries/:event',
      await ada.request('POST', `/webhooks/${added.id}/deliveries/${event}`),
    )
  await ask(ada, 'DELETE /webhooks/:id', undefined, added.id)
  await ask(ada, 'DELETE /webhooks/:id', undefined, added.id)
  const secret = { value: 'let-me-in', current_password: PASSWORD }
  await ask(ada, 'GET /api/v1/secrets')
  await ask(ada, 'POST /secrets', { name: 'LICENSE_KEY', ...secret })
  for (const name of ['LICENSE_KEY', 'PATH'])
    check('PUT /secrets/:name', await ada.request('PUT', `/secrets/${name}`, secret))
  for (let i = 0; i < 2; i++) check('DELETE /secrets/:name', await ada.request('DELETE', '/secrets/LICENSE_KEY'))
  const registry = { username: 'ada', token: 'let-me-in', current_password: PASSWORD }
  await ask(ada, 'GET /api/v1/registries')
  await ask(ada, 'POST /registries', { host: 'ghcr.io', ...registry })
  for (const host of ['ghcr.io', 'localhost'])
    check('PUT /registries/:host', await ada.request('PUT', `/registries/${host}`, registry))
  for (let i = 0; i < 2; i++) check('DELETE /registries/:host', await ada.request('DELETE', '/registries/ghcr.io'))
  const db = openTestDatabase(stack.services.vars.LIBSQL_URL ?? '')
  await askAboutFactors(ada, db)
  const headers = { Authorization: `Bearer ${made.token}` }
  const callAs = async (route: string, body?: unknown) => {
    const [method = '', path = ''] = route.split(' ')
    const reply = await program.request(method, path, body, headers)
    expect(reply.headers.get('RateLimit')).toMatch(/^"token";r=\d+;t=\d+$/)
    check(route, reply)
    return reply
  }
  await callAs('GET /api/v1/users/get_session')
  await callAs('GET /api/v1/api_token')
  await ask(ada, 'GET /api/v1/api_token')
  await callAs('GET /api/v1/servers/get_servers')
  const { body: free } = await callAs('GET /api/v1/aws/server_available')
  await callAs('GET /api/v1/environments')
  await callAs('GET /api/v1/files')
  check('GET /api/v1/files', await program.request('GET', '/api/v1/files?path=..', undefined, headers))
  await callAs('POST /api/v1/files', { path: '..', size: 1 })
  const { body: uploading } = await callAs('POST /api/v1/files', { path: 'a.txt', size: 5 })
  const { url: link, ...sent } = uploading.upload as { url: string; method: string; headers: Record<string, string> }
  await fetch(link, { ...sent, body: 'hello' })
  for (let i = 0; i < 2; i++)
    check('DELETE /api/v1/files', await program.request('DELETE', '/api/v1/files?path=a.txt', undefined, headers))
  const parts = { path: 'b.bin', size: 20, version: '1' }
  for (const wish of [parts, { ...parts, size: 0 }]) await callAs('POST /api/v1/files/uploads', wish)
  const { body: begun } = await callAs('POST /api/v1/files/uploads', parts)
  await callAs('GET /api/v1/files/uploads')
  const { body: other } = await callAs('POST /api/v1/files/uploads', { ...parts, path: 'c.bin' })
  for (const { id } of [begun.upload, other.upload, { id: 'upl_none' }] as { id: string }[]) {
    const on = async (route: string, act: string, json?: unknown) => {
      const [method = ''] = route.split(' ')
      const reply = await program.request(method, `/api/v1/files/uploads/${id}${act}`, json, headers)
      check(route, reply)
      return reply
    }
    await on('POST /api/v1/files/uploads/:id/parts', '/parts', { parts: [2] })
    await on('POST /api/v1/files/uploads/:id/complete', '/complete')
    if (id === (other.upload as { id: string }).id) await on('DELETE /api/v1/files/uploads/:id', '')
    const { body: links } = await on('POST /api/v1/files/uploads/:id/parts', '/parts', { parts: [1] })
    for (const { url: to } of (links.parts ?? []) as { url: string }[])
      await fetch(to, { method: 'PUT', body: Buffer.alloc(20) })
    await on('POST /api/v1/files/uploads/:id/complete', '/complete')
  }
  check('GET /api/v1/files/size', await program.request('GET', '/api/v1/files/size', undefined, headers))
  for (const path of ['b.bin', 'none/']) {
    check('GET /api/v1/files/size', await program.request('GET', `/api/v1/files/size?path=${path}`, undefined, headers))
    check('DELETE /api/v1/files', await program.request('DELETE', `/api/v1/files?path=${path}`, undefined, headers))
  }
  await callAs('POST /api/v1/files/credentials', { mode: 'read' })
  await callAs('POST /api/v1/files/credentials', { mode: 'all' })
  await callAs('POST /api/v1/aws/start', { server_id: 'srv_none' })
  await callAs('POST /api/v1/aws/start', {})
  const place = (free.candidates as { available: boolean; server_id: string }[]).find(({ available }) => available)
  await callAs('POST /api/v1/aws/start', { server_id: place?.server_id })
  await callAs('POST /api/v1/aws/auto_cloud_start_request')
  const server = await waitFor(async () => {
    const { body } = await callAs('GET /api/v1/servers/get_servers')
    return (body.servers as Server[]).find(({ billed_from }) => billed_from)
  })
  await callAs('POST /api/v1/aws/check_server_ip_status', { ip_address: server.ip_address })
  await callAs('POST /api/v1/aws/check_server_ip_status', { ip_address: '203.0.113.1' })
  await ask(ada, 'GET /api/v1/users/export')
  const run = { server_id: server.server_id, session_id: server.id }
  await ask(ada, 'PUT /api/v1/servers/:id', { name: 'first flight' }, server.id)
  await ask(ada, 'PUT /api/v1/servers/:id', { ends_at: 'tomorrow' }, server.id)
  await ask(ada, 'PUT /api/v1/servers/:id', {}, 'ses_none')
  for (const page of ['GET /api/v1/servers', 'GET /api/v1/servers?page=0']) await ask(ada, page)
  for (const id of [server.id, 'ses_none']) {
    await ask(ada, 'GET /api/v1/servers/:id', undefined, id)
    await ask(ada, 'GET /api/v1/servers/:id/log', undefined, id)
    await ask(ada, 'DELETE /api/v1/servers/:id/log', undefined, id)
    await ask(ada, 'GET /api/v1/servers/:id/metrics', undefined, id)
    await ask(ada, 'GET /api/v1/servers/:id/guests', undefined, id)
    const { body: invited } = await ask(ada, 'POST /api/v1/servers/:id/guests', { hours: 1 }, id)
    const guest = (invited.guest as { id: string } | undefined)?.id ?? 'guest_none'
    check(
      'DELETE /api/v1/servers/:id/guests/:guest',
      await ada.request('DELETE', `/api/v1/servers/${id}/guests/${guest}`),
    )
  }
  await callAs('POST /api/v1/aws/stop_server', run)
  await callAs('POST /api/v1/aws/stop_server', { ...run, session_id: 'ses_none' })
  await waitFor(async () => (await callAs('POST /api/v1/aws/stop_server', run)).status === 409)
  await callAs('GET /api/v1/servers/get_servers')
  await callAs('POST /api/v1/line', { start: true })
  await db.update(places).set({ reservedBy: sql`'ses_in ' || id` }).where(isNull(places.reservedBy))
  await callAs('POST /api/v1/line', { start: true })
  await callAs('GET /api/v1/line')
  await callAs('DELETE /api/v1/line')
  await db.update(places).set({ reservedBy: null })
  await callAs('POST /api/v1/aws/auto_cloud_start_request', {})
  await callAs('POST /api/servers/request_more')
  await callAs('POST /api/servers/request_more')
  await callAs('GET /api/v1/billings/summary')
  await callAs('GET /api/v1/billings/history')
  await ask(ada, 'POST /api/v1/billings/charge_card', { on: true })
  for (const dollars of [20, null, -1]) await ask(ada, 'POST /api/v1/billings/budget', { dollars, stops: true })
  for (const minutes of [30, null, 5]) await ask(ada, 'POST /api/v1/idle', { minutes })
  await callAs('GET /api/v1/idle')
  await ask(ada, 'POST /api/v1/mails', { ending: true })
  for (const until of [null, 'x']) await ask(ada, 'POST /api/v1/notices/read', { until })
  await callAs('GET /api/v1/notices')
  for (const route of ['POST /api/v1/help', 'POST /api/v1/feedback'])
    for (const message of ['Hello', '']) await ask(ada, route, { topic: 'My account', message })

  const now = Date.now()
  const bill = { userId: ada.id, includedHours: 0, trial: false, seconds: 7200, amountCents: 350, createdAt: now }
  await db.insert(bills).values({ id: newId('bill'), ...bill, periodStart: now - 9e9, periodEnd: now - 8e9 })
  await callAs('GET /api/v1/billings/history')
  await ask(ada, 'POST /api/v1/billings/portal')
  await ask(ada, 'POST /api/v1/subscriptions/create_checkout_session', { plan_type: 'basic' })
  await ask(ada, 'POST /api/v1/billings/portal')
  await ask(ada, 'POST /api/v1/subscriptions/create_checkout_session', { plan_type: 'none' })
  await ask(ada, 'POST /api/v1/subscriptions/cancel_subscription_at_period_end')
  await db.update(plans).set({ endedAt: now }).where(eq(plans.userId, ada.id))
  const plan = { planType: 'basic', subType: 'paid', status: 'active', anchor: now, hours: 5, createdAt: now } as const
  await db.insert(plans).values({ id: newId('sub'), userId: ada.id, ...plan })
  await ask(ada, 'POST /api/v1/subscriptions/cancel_subscription_at_period_end')
  await callAs('GET /api/v1/billings/summary')
  await ask(ada, 'POST /api/v1/subscriptions/keep_subscription')
  await ask(ada, 'POST /api/v1/subscriptions/change_plan', { plan_type: 'premium' })
  await db.update(plans).set({ endedAt: now }).where(eq(plans.userId, ada.id))
  await ask(ada, 'POST /api/v1/subscriptions/keep_subscription')
  await ask(ada, 'POST /api/v1/subscriptions/change_plan', { plan_type: 'premium' })
  const bought = await ask(ada, 'POST /api/v1/subscriptions/create_checkout_session', { plan_type: 'basic' })
  await fetch(bought.body.url as string, { method: 'POST', redirect: 'manual' })
  await waitFor(async () => {
    const changed = await ask(ada, 'POST /api/v1/subscriptions/change_plan', { plan_type: 'premium' })
    return changed.status === 200
  })
  const own = { name: 'Harbor', image: 'ghcr.io/ada/harbor:1' }
  for (let i = 0; i < 2; i++) await ask(ada, 'POST /api/v1/environments', own)
  for (let i = 0; i < 2; i++) await ask(ada, 'DELETE /api/v1/environments/:name', undefined, own.name)

  await ask(ada, 'GET /api/v1/instances')
  await ask(ada, 'POST /account_security/link')
  await db.update(users).set({ admin: true }).where(eq(users.id, ada.id))
  await ask(ada, 'POST /account_security/link')
  await ask(ada, 'GET /api/v1/instances')
  await ask(ada, 'PUT /users', { user: { name: '' } })
  await ask(ada, 'PUT /users', { user: { name: 'Grace' } })
  await ask(ada, 'GET /api/v1/users/get_session')
  const { body: listed } = await ask(ada, 'GET /api/v1/users/sign_ins')
  const { body: second } = await ask(ada, 'POST /api_tokens', { name: 'X', scope: 'read', current_password: PASSWORD })
  await ask(ada, 'DELETE /api_tokens/:id', undefined, second.id)
  await ask(ada, 'DELETE /api_tokens/:id', undefined, second.id)
  await callAs('DELETE /api/v1/api_token')
  await ask(ada, 'DELETE /api/v1/api_token')
  const device = new URLSearchParams({ client_id: 'proving-ground' })
  const codes = await (await fetch(`${url}/oauth/device_authorization`, { method: 'POST', body: device })).json()
  await ask(ada, 'POST /activate', { user_code: 'BBBB-BBBB', decision: 'deny' })
  await ask(ada, 'POST /activate', { user_code: (codes as { user_code: string }).user_code, decision: 'deny' })
  await ask(ada, 'DELETE /api/v1/users/sign_ins/:id', undefined, 'in_none')
  await ask(ada, 'DELETE /api/v1/users/sign_ins/:id', undefined, (listed.sign_ins as SignIn[])[0]?.id)
  await ada.signIn(ada.email, PASSWORD)
  await ask(ada, 'DELETE /users/sign_out')
  await ada.signIn(ada.email, PASSWORD)
  await ask(ada, 'DELETE /api/v1/users/sign_ins')
  await ada.signIn(ada.email, PASSWORD)
  await ask(ada, 'DELETE /users', { user: { current_password: '' } })
  await ask(ada, 'DELETE /users', { user: { current_password: PASSWORD } })

  const all = operations.map(({ route }) => route).sort()
  expect([...accepted].sort()).toEqual(all)
  expect([...refused].sort()).toEqual(all)
})

async function askAboutFactors(ada: Client & { email: string }, db: Database): Promise<void> {
  const proof = { current_password: PASSWORD }
  await ask(ada, 'POST /account_security/totp', { current_password: 'wrong' })
  const { body: app } = await ask(ada, 'POST /account_security/totp', proof)
  await ask(ada, 'POST /account_security/totp/confirm', { code: 'wrong' })
  const code = totpAt(app.secret, Date.now())
  const { body: first } = await ask(ada, 'POST /account_security/totp/confirm', { code })
  await ask(ada, 'POST /account_security/recovery_codes', proof)
  const recovery = first.recovery_codes[0]
  const { body: renewed } = await ask(ada, 'POST /account_security/recovery_codes', { ...proof, recovery })
  const [owner] = await db.select({ id: users.id }).from(users).where(eq(users.email, ada.email))
  const removal = { userId: owner?.id ?? '', actor: 'script', reason: 'Lost', dueAt: Date.now() + 9e9 }
  await db.insert(factorRemovals).values(removal)
  for (let i = 0; i < 2; i++) await ask(ada, 'POST /account_security/keep')
  const phone = new Client(url)
  const asked = await phone.signIn(ada.email, PASSWORD)
  check('POST /users/sign_in', asked)
  const { challenge } = asked.body
  await ask(phone, 'POST /users/sign_in/second_factor', { challenge, totp: 'wrong' })
  const alone = new Client(url)
  await alone.open('/sign_in')
  const { body: unknown } = await ask(alone, 'POST /users/sign_in/passkey/options')
  await ask(new Client(url), 'POST /users/sign_in/passkey/options')
  await ask(alone, 'POST /users/sign_in/passkey', { challenge: unknown.challenge, response: { id: 'x' } })
  await ask(phone, 'POST /users/sign_in/second_factor', { challenge, recovery: renewed.recovery_codes[0] })
  const { origin } = new URL(url)
  const device = newPasskeyDevice({ origin })
  await ask(ada, 'POST /account_security/passkeys/options', { ...proof, totp: 'wrong' })
  const adding = { ...proof, recovery: renewed.recovery_codes[2] }
  const { body: start } = await ask(ada, 'POST /account_security/passkeys/options', adding)
  await ask(ada, 'POST /account_security/passkeys', { name: '', response: {} })
  const { body: key } = await ask(ada, 'POST /account_security/passkeys', {
    name: 'K',
    response: device.create(start.options),
  })
  const { body: asked2 } = await ask(alone, 'POST /users/sign_in/passkey/options')
  const response = device.get(asked2.options)
  await ask(alone, 'POST /users/sign_in/passkey', { challenge: asked2.challenge, response })
  const { body: confirming } = await ask(ada, 'POST /account_security/passkeys/confirm')
  const passkey = device.get(confirming.options)
  await ask(ada, 'DELETE /account_security/passkeys/:id', proof, key.id)
  await ask(ada, 'DELETE /account_security/passkeys/:id', { ...proof, passkey }, key.id)
  await ask(ada, 'DELETE /account_security/totp', { ...proof, recovery: renewed.recovery_codes[1] })
  await ask(ada, 'DELETE /account_security/totp', proof)
}

const resetToken = (email: string) =>
  waitFor(async () => (await mailedTo(url, email, /reset_password_token=([\w-]+)/))[0])
