import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { apiTokens } from '../../../../db/schema/accounts.ts'
import { TOKEN_NAME_TAKEN, TOKEN_REVOKED, TOO_MANY_TOKENS } from '../../../../src/domain/api-token.ts'
import type { ApiToken } from '../../../../src/domain/wire/accounts.ts'
import { openAccount, PASSWORD, signedInUser } from '../../../../testing/people/sign-up.ts'

const DAY = 86_400_000
const CI = { name: 'CI', scope: 'operate', current_password: PASSWORD }

async function setup() {
  const account = openAccount()
  const user = await signedInUser(account.browser, account)
  const make = (fields: object = {}) => account.browser.json('POST', '/api_tokens', { ...CI, ...fields })
  return { ...account, user, make }
}

test('a token lasts 90 days unless you choose otherwise', async () => {
  const { make, clock } = await setup()
  const made = (await (await make()).json()) as ApiToken & { token: string }
  expect(made).toEqual({
    id: expect.stringMatching(/^tok_/),
    name: 'CI',
    scope: 'operate',
    created_at: new Date(clock.ms).toISOString(),
    expires_at: new Date(clock.ms + 90 * DAY).toISOString(),
    last_used_at: null,
    last_address: null,
    token: expect.stringMatching(/^pg_[0-9A-Za-z]{36}$/),
  })
  for (const days of [7, 365]) {
    const { expires_at } = (await (await make({ name: `${days}`, days })).json()) as ApiToken
    expect(expires_at).toBe(new Date(clock.ms + days * DAY).toISOString())
  }
  for (const days of [366, 0, 1e99]) expect((await make({ name: 'x', days })).status, `${days}`).toBe(422)
})

test('ends on time', async () => {
  const { make, clock, app } = await setup()
  const { token } = (await (await make({ days: 1 })).json()) as { token: string }
  const use = async () =>
    (await app.request('/api/v1/users/get_session', { headers: { Authorization: `Bearer ${token}` } })).status
  clock.ms += DAY - 1
  expect(await use()).toBe(200)
  clock.ms += 1
  expect(await use()).toBe(401)
})

test('a name is free again once its token has ended', async () => {
  const { make, browser, clock } = await setup()
  const { id } = (await (await make({ days: 1 })).json()) as ApiToken
  expect((await (await make()).json()).error).toBe(TOKEN_NAME_TAKEN)
  await browser.json('DELETE', `/api_tokens/${id}`)
  expect((await make({ days: 1 })).status).toBe(201)
  clock.ms += 2 * 3_600_000
  expect((await make()).status).toBe(409)
})

test('an account has at most twenty at a time', async () => {
  const { make, user, ctx, clock } = await setup()
  const row = { userId: user.id, scope: 'read' as const, createdAt: clock.ms, expiresAt: clock.ms + DAY }
  const rows = Array.from({ length: 20 }, (_, i) => ({
    ...row,
    id: `${user.id}-${i}`,
    hash: `${user.id}-${i}`,
    name: `${i}`,
  }))
  await ctx.db.insert(apiTokens).values(rows)
  const refused = await make()
  expect([refused.status, (await refused.json()).error]).toEqual([409, TOO_MANY_TOKENS])
  await ctx.db
    .update(apiTokens)
    .set({ expiresAt: clock.ms })
    .where(eq(apiTokens.id, `${user.id}-0`))
  expect((await make()).status).toBe(201)
})

test('records the last use and its address, at most once a minute for each', async () => {
  const { make, user, ctx, clock, app, settle } = await setup()
  const { token } = (await (await make()).json()) as { token: string }
  const use = async (address: string, method = 'GET') => {
    const headers = { Authorization: `Bearer ${token}`, 'CF-Connecting-IP': address }
    await app.request('/api/v1/servers/get_servers', { method, headers })
    await settle()
    const [row] = await ctx.db.select().from(apiTokens).where(eq(apiTokens.userId, user.id))
    return [row?.lastUsedAt, row?.lastAddress]
  }
  const first = clock.ms
  expect(await use('203.0.113.1', 'HEAD')).toEqual([null, null])
  expect(await use('203.0.113.1')).toEqual([first, '203.0.113.1'])
  clock.ms += 59_999
  expect(await use('203.0.113.1')).toEqual([first, '203.0.113.1'])
  expect(await use('203.0.113.2')).toEqual([first + 59_999, '203.0.113.2'])
  clock.ms += 60_000
  expect(await use('203.0.113.2')).toEqual([first + 119_999, '203.0.113.2'])
})

test('the page creates a token once, shows it once, and revokes it, with plain forms', async () => {
  const { browser, user, ctx } = await setup()
  await browser.open('/settings/developers')
  const fields = { ...CI, name: 'Nightly', days: '30' }
  const response = await browser.form('/api_tokens', fields)
  const html = await response.text()
  expect(response.status).toBe(201)
  expect(html).toMatch(/<code class="secret">pg_[0-9A-Za-z]{36}<\/code>/)
  expect(response.headers.getSetCookie().join()).not.toContain('pg_')

  // Sending it again, as a reload does.
  expect((await browser.form('/api_tokens', fields)).status).toBe(303)
  expect((await browser.open('/settings/developers')).flash).toMatchObject({
    message: TOKEN_NAME_TAKEN,
    values: { name: 'Nightly' },
  })
  const again = await (await browser.request('/settings/developers')).text()
  expect(again).toContain('Nightly')
  expect(again).not.toMatch(/pg_[0-9A-Za-z]{36}/)

  const [row] = await ctx.db.select().from(apiTokens).where(eq(apiTokens.userId, user.id))
  expect((await browser.form(`/api_tokens/${row?.id}`, { _method: 'delete' })).status).toBe(303)
  expect((await browser.open('/settings/developers')).flash).toMatchObject({ message: TOKEN_REVOKED })
  expect(await (await browser.request('/settings/developers')).text()).toContain('No tokens yet.')
})

test('a refused form keeps what was typed, but never the password', async () => {
  const { browser } = await setup()
  await browser.open('/settings/developers')
  await browser.form('/api_tokens', { name: 'Nightly', scope: 'operate', days: '180', current_password: 'wrong' })
  const { flash } = await browser.open('/settings/developers')
  expect(flash).toMatchObject({ field: 'current_password', values: { name: 'Nightly', scope: 'operate', days: '180' } })
  expect(flash?.values).not.toHaveProperty('current_password')
})
