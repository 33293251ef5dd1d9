import { eq } from 'drizzle-orm'
import * as oauth from 'oauth4webapi'
import { expect, test } from 'vitest'
import { apiTokens, deviceLogins } from '../../../../db/schema/accounts.ts'
import { CLIENT_ID, DEVICE_GRANT } from '../../../../src/domain/device-code.ts'
import { forgetTraces } from '../../../../src/server/accounts/retention.ts'
import { ORIGIN } from '../../../../testing/people/account-app.ts'
import { openAppBrowser } from '../../../../testing/people/app-browser.ts'
import { openAccount, PASSWORD, signedInUser } from '../../../../testing/people/sign-up.ts'

const MINUTE = 60_000
type Codes = { device_code: string; user_code: string; verification_uri: string; verification_uri_complete: string }

async function setup() {
  const account = openAccount()
  const user = await signedInUser(account.browser, account)
  const send = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    account.app.request(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'CF-Connecting-IP': '203.0.113.9', ...headers },
      body: new URLSearchParams({ client_id: CLIENT_ID, ...fields }).toString(),
    })
  const ask = async (fields: Record<string, string> = {}) =>
    (await (await send('/oauth/device_authorization', { device_name: 'laptop', ...fields })).json()) as Codes
  const poll = async ({ device_code }: Codes, fields: Record<string, string> = {}) => {
    const response = await send('/oauth/token', { grant_type: DEVICE_GRANT, device_code, ...fields })
    const body = (await response.json()) as { error: string; access_token?: string }
    return { status: response.status, ...body }
  }
  const answer = (user_code: string, decision = 'approve', more: object = {}) =>
    account.browser.json('POST', '/activate', {
      user_code,
      decision,
      name: 'laptop',
      current_password: PASSWORD,
      ...more,
    })
  const who = async (token = '') => {
    const headers = { Authorization: `Bearer ${token}` }
    return account.app.request('/api/v1/users/get_session', { headers })
  }
  return { ...account, user, send, ask, poll, answer, who }
}

test('a stock OAuth client gets a token once its user has approved, and only once', async () => {
  const { app, browser, who, user, sent, settle, clock } = await setup()
  const as: oauth.AuthorizationServer = {
    issuer: ORIGIN,
    device_authorization_endpoint: `${ORIGIN}/oauth/device_authorization`,
    token_endpoint: `${ORIGIN}/oauth/token`,
  }
  const client: oauth.Client = { client_id: CLIENT_ID }
  const options = {
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url: string, init: unknown) => app.request(url.slice(ORIGIN.length), init as RequestInit),
  } as oauth.DeviceAuthorizationRequestOptions
  const asked = await oauth.deviceAuthorizationRequest(as, client, oauth.None(), { scope: 'read' }, options)
  const codes = await oauth.processDeviceAuthorizationResponse(as, client, asked)
  expect(codes).toMatchObject({
    verification_uri: `${ORIGIN}/activate`,
    verification_uri_complete: `${ORIGIN}/activate?user_code=${codes.user_code}`,
    expires_in: 600,
    interval: 5,
  })
  const poll = async () => {
    const response = await oauth.deviceCodeGrantRequest(as, client, oauth.None(), codes.device_code, options)
    return oauth.processDeviceCodeResponse(as, client, response)
  }
  await expect(poll()).rejects.toMatchObject({ error: 'authorization_pending' })
  clock.ms += 5_000
  const form = { user_code: codes.user_code.toLowerCase(), name: 'Mine', current_password: PASSWORD }
  expect((await browser.json('POST', '/activate', { ...form, decision: 'approve' })).status).toBe(200)
  const granted = await poll()
  expect(granted).toMatchObject({ token_type: 'bearer', scope: 'read', expires_in: 90 * 86_400 })
  expect((await (await who(granted.access_token)).json()).Body.email).toBe(user.email)
  await expect(poll()).rejects.toMatchObject({ error: 'expired_token' })
  await settle()
  expect(sent.filter(({ to }) => to === user.email).map(({ subject }) => subject)).toContain('You have a new API token')
})

test('the page shows who asks, and what it may do', async () => {
  const { browser, ask } = await setup()
  const { user_code, verification_uri_complete } = await ask({ device_name: 'حاسوب <b>', scope: 'read' })
  expect(user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
  const headers = { 'CF-Connecting-IP': '198.51.100.7' }
  const shown = await (await browser.request(verification_uri_complete.slice(ORIGIN.length), { headers })).text()
  for (const words of [user_code, '<bdi>حاسوب &lt;b&gt;</bdi>', '203.0.113.9', 'usage, and bills'])
    expect(shown).toContain(words)
  expect(shown).toMatch(/not this browser.*198\.51\.100\.7/)
  expect(shown).toContain('Decline if you didn')
  const here = { 'CF-Connecting-IP': '203.0.113.9' }
  expect(await (await browser.request(`/activate?user_code=${user_code}`, { headers: here })).text()).not.toContain(
    'not this browser',
  )
  // Without a code, it asks for one.
  const empty = await (await browser.request('/activate')).text()
  expect(empty).toContain('name="user_code"')
  expect(empty).not.toContain('current_password')
  expect(await (await browser.request('/activate?user_code=AAAA-AAAA')).text()).toContain('This code is wrong')
})

test('works as a plain form, which keeps its code after a wrong password', async () => {
  const { browser, ask, poll } = await setup()
  const codes = await ask()
  await browser.open(`/activate?user_code=${codes.user_code}`)
  const fields = { user_code: codes.user_code, name: 'laptop', decision: 'approve' }
  const wrong = await browser.form('/activate', { ...fields, current_password: 'guess' })
  expect([wrong.status, wrong.headers.get('Location')]).toEqual([303, '/activate'])
  const again = await (await browser.request('/activate')).text()
  expect(again).toContain(codes.user_code)
  expect(again).toContain('Current password')
  await browser.form('/activate', { ...fields, current_password: PASSWORD })
  expect((await browser.open('/activate')).flash?.message).toContain('Go back to your terminal')
  expect((await poll(codes)).status).toBe(200)
})

test('a program that polls too often must wait five seconds longer', async () => {
  const { ask, poll, clock } = await setup()
  const codes = await ask()
  expect(await poll(codes)).toMatchObject({ status: 400, error: 'authorization_pending' })
  clock.ms += 4_999
  expect((await poll(codes)).error).toBe('slow_down')
  clock.ms += 9_999
  expect((await poll(codes)).error).toBe('slow_down')
  clock.ms += 15_000
  expect((await poll(codes)).error).toBe('authorization_pending')
})

test('refusing needs no password, and ends it', async () => {
  const { ask, poll, answer } = await setup()
  const codes = await ask()
  expect((await answer(codes.user_code, 'deny', { current_password: '' })).status).toBe(200)
  expect((await poll(codes)).error).toBe('access_denied')
  expect((await answer(codes.user_code)).status).toBe(404)
})

test('codes end after ten minutes; one approved at the last moment is still claimed', async () => {
  const { ask, poll, answer, clock } = await setup()
  const [late, last] = [await ask(), await ask()]
  clock.ms += 10 * MINUTE - 1
  expect((await answer(last.user_code)).status).toBe(200)
  clock.ms += 1
  expect((await poll(late)).error).toBe('expired_token')
  expect((await answer(late.user_code)).status).toBe(404)
  expect((await poll(last)).status).toBe(200)
})

test('approving asks for the password, and obeys the rules for tokens', async () => {
  const { ask, poll, answer, ctx, user } = await setup()
  const codes = await ask()
  const count = () => ctx.db.$count(apiTokens, eq(apiTokens.userId, user.id))
  for (const [more, status] of [
    [{ current_password: 'guess' }, 422],
    [{ current_password: '' }, 422],
    [{ name: '' }, 422],
    [{ name: 'x'.repeat(51) }, 422],
  ] as const)
    expect((await answer(codes.user_code, 'approve', more)).status, JSON.stringify(more)).toBe(status)
  expect((await answer(codes.user_code, 'maybe')).status).toBe(422)
  expect([await count(), (await poll(codes)).error]).toEqual([0, 'authorization_pending'])
  expect((await answer(codes.user_code)).status).toBe(200)
  // A second click, and a name that is taken.
  expect((await answer(codes.user_code)).status).toBe(404)
  const second = await ask()
  expect((await answer(second.user_code)).status).toBe(409)
  expect(await count()).toBe(1)
})

test('two answers at once create one token', async () => {
  const { ask, answer, ctx, user } = await setup()
  const { user_code } = await ask()
  const statuses = await Promise.all([answer(user_code), answer(user_code, 'approve', { name: 'other' })])
  expect(statuses.map(({ status }) => status).sort()).toEqual([200, 404])
  expect(await ctx.db.$count(apiTokens, eq(apiTokens.userId, user.id))).toBe(1)
})

test('a refusal during the password check wins', async () => {
  const { ask, answer, ctx, user } = await setup()
  const { user_code } = await ask()
  const { derive } = ctx.hasher
  ctx.hasher.derive = async (...input) => {
    await ctx.db.update(deviceLogins).set({ deniedAt: ctx.now() }).where(eq(deviceLogins.userCode, user_code))
    return derive(...input)
  }
  expect((await answer(user_code)).status).toBe(404)
  expect(await ctx.db.$count(apiTokens, eq(apiTokens.userId, user.id))).toBe(0)
})

test('two programs with one code get one token', async () => {
  const { ask, poll, answer } = await setup()
  const codes = await ask()
  await answer(codes.user_code)
  const both = await Promise.all([poll(codes), poll(codes)])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 400])
})

test('a token revoked before its program fetched it never arrives; nor one after a new password', async () => {
  const { ask, poll, answer, browser, ctx, user } = await setup()
  const codes = await ask()
  await answer(codes.user_code)
  const [made] = await ctx.db.select().from(apiTokens).where(eq(apiTokens.userId, user.id))
  await browser.json('DELETE', `/api_tokens/${made?.id}`)
  expect((await poll(codes)).error).toBe('access_denied')
  const next = await ask()
  await answer(next.user_code)
  await browser.json('PUT', '/users', {
    user: { current_password: PASSWORD, password: 'another good one', password_confirmation: 'another good one' },
  })
  expect((await poll(next)).error).toBe('access_denied')
})

test('a token survives the rotation of our secret', async () => {
  const { ask, poll, answer, ctx, who } = await setup()
  const codes = await ask()
  await answer(codes.user_code)
  ctx.config.secretKey = `another-secret-of-thirty-two-characters,${ctx.config.secretKey}`
  const { status, access_token } = await poll(codes)
  expect([status, (await who(access_token)).status]).toEqual([200, 200])
})

test('keeps neither the device code nor the token', async () => {
  const { ask, poll, answer, ctx } = await setup()
  const codes = await ask()
  await answer(codes.user_code)
  const { access_token = '' } = await poll(codes)
  const kept = JSON.stringify([await ctx.db.select().from(deviceLogins), await ctx.db.select().from(apiTokens)])
  expect(access_token).toMatch(/^pg_/)
  for (const secret of [codes.device_code, access_token]) expect(kept).not.toContain(secret)
})

test('refuses anything that isn’t a request of RFC 8628, in its terms', async () => {
  const { send, poll, ask } = await setup()
  const error = async (response: Response) => ((await response.json()) as { error: string }).error
  expect(await error(await send('/oauth/device_authorization', { client_id: 'other' }))).toBe('invalid_client')
  expect(await error(await send('/oauth/device_authorization', { scope: 'admin' }))).toBe('invalid_scope')
  expect((await poll(await ask(), { grant_type: 'password' })).error).toBe('unsupported_grant_type')
  expect((await poll(await ask(), { device_code: 'x' })).error).toBe('invalid_grant')
  const json = { 'Content-Type': 'application/json' }
  expect((await send('/oauth/token', {}, json)).status).toBe(400)
  // No other site's page may spend a visitor's limits.
  for (const headers of [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }])
    expect((await send('/oauth/device_authorization', {}, headers as Record<string, string>)).status).toBe(403)
})

test('limits how many codes one address asks for, and how many one person looks up', async () => {
  const { send, browser, answer } = await setup()
  let asked = 0
  while ((await send('/oauth/device_authorization', {})).status === 200) asked++
  expect(asked).toBe(20)
  let looked = 0
  while (!(await (await browser.request('/activate?user_code=BBBB-BBBB')).text()).includes('Too many')) looked++
  expect(looked).toBe(30)
  for (const decision of ['approve', 'deny']) expect((await answer('BBBB-BBBB', decision)).status).toBe(429)
})

test('a token sees and ends itself; a browser has none there', async () => {
  const { ask, poll, answer, app, browser, who } = await setup()
  const codes = await ask()
  await answer(codes.user_code)
  const { access_token = '' } = await poll(codes)
  const headers = { Authorization: `Bearer ${access_token}` }
  const seen = await (await app.request('/api/v1/api_token', { headers })).json()
  expect(seen).toMatchObject({ api_token: { name: 'laptop', scope: 'operate' } })
  expect(JSON.stringify(seen)).not.toContain(access_token)
  expect((await browser.json('GET', '/api/v1/api_token')).status).toBe(404)
  expect((await app.request('/api/v1/api_token', { method: 'DELETE', headers })).status).toBe(200)
  expect((await who(access_token)).status).toBe(401)
})

test('people who must sign in first return with the code', async () => {
  const { app, ask, user } = await setup()
  const { user_code } = await ask()
  const visitor = openAppBrowser(app)
  expect((await visitor.open(`/activate?user_code=${user_code}`)).location).toBe('/sign_in')
  await visitor.open('/sign_in')
  const signedIn = await visitor.json('POST', '/users/sign_in', { user: { email: user.email, password: PASSWORD } })
  expect((await signedIn.json()).page).toBe(`/activate?user_code=${user_code}`)
})

test('forgets codes a day after they end', async () => {
  const { ask, ctx, clock } = await setup()
  await ask()
  const count = () => ctx.db.$count(deviceLogins)
  clock.ms += 10 * MINUTE + 86_400_000
  await forgetTraces(ctx)
  const before = await count()
  clock.ms += 1
  await forgetTraces(ctx)
  expect(before - (await count())).toBeGreaterThan(0)
})
