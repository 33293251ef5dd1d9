import { and, eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { secrets } from '../../../../db/schema/fleet.ts'
import { LOGIN_REMOVED, LOGIN_SAVED, TOO_MANY_LOGINS } from '../../../../src/domain/registry-login.ts'
import { CURRENT_PASSWORD_WRONG } from '../../../../src/domain/user.ts'
import { renewRunSecrets } from '../../../../src/server/fleet/renew-secrets.ts'
import { openSecret } from '../../../../src/server/fleet/secrets.ts'
import { openAccount, PASSWORD, signedInUser } from '../../../../testing/people/sign-up.ts'

const TOKEN = 'canary-8c41-of-a-login'
const FIELDS = { host: 'ghcr.io', username: 'ada', token: TOKEN, current_password: PASSWORD }

async function setup() {
  const account = openAccount()
  const { browser, ctx } = account
  const user = await signedInUser(browser, account)
  const call = async (method: string, path: string, body?: object) => {
    const response = await browser.json(method, path, body)
    return [response.status, await response.json()]
  }
  const put = (host = 'ghcr.io', fields: object = {}) => {
    const { host: _, ...login } = FIELDS
    return call('PUT', `/registries/${host}`, { ...login, ...fields })
  }
  const remove = (host: string) => call('DELETE', `/registries/${host}`)
  const list = async () => (await (await browser.request('/api/v1/registries')).json()).registries
  const rowOf = async (host: string) => {
    const isTheirs = and(eq(secrets.userId, user.id), eq(secrets.name, host))
    return (await ctx.db.select().from(secrets).where(isTheirs))[0]
  }
  const opened = async (host: string) =>
    openSecret(ctx.config.secretKey, user.id, host, (await rowOf(host))?.sealed ?? '')
  const mails = async () => {
    await account.settle()
    return account.sent.filter(({ to }) => to === user.email)
  }
  return { ...account, user, call, put, remove, list, rowOf, opened, mails }
}

test('keeps a login, replaces it, and removes it, and each time tells its owner', async () => {
  const { put, list, opened, remove, rowOf, mails, clock, takeLines, browser, ctx } = await setup()
  const before = (await mails()).length
  const at = () => new Date(clock.ms).toISOString()
  expect(await list()).toEqual([])
  expect(await put('GHCR.io')).toEqual([200, { host: 'ghcr.io', username: 'ada', updated_at: at() }])
  expect((await put('registry.example.com:5000', { token: ' second\n' }))[0]).toBe(200)
  expect([await opened('ghcr.io'), await opened('registry.example.com:5000')]).toEqual([TOKEN, 'second'])
  clock.ms += 1_000
  expect((await put('ghcr.io', { username: 'bot', token: `${TOKEN}2` }))[0]).toBe(200)
  expect(await opened('ghcr.io')).toBe(`${TOKEN}2`)
  expect(await list()).toEqual([
    { host: 'ghcr.io', username: 'bot', updated_at: at() },
    { host: 'registry.example.com:5000', username: 'ada', updated_at: new Date(clock.ms - 1_000).toISOString() },
  ])
  const seen: string[] = []
  for (const path of [
    '/settings/developers',
    '/api/v1/registries',
    '/api/v1/users/export',
    '/dashboard',
    '/settings/servers',
  ])
    seen.push(await (await browser.request(path)).text())
  expect(seen[0]).toMatch(/ghcr\.io.*bot/s)
  seen.push(JSON.stringify(await ctx.db.select().from(secrets)))
  expect(await remove('GHCR.io')).toEqual([200, { message: LOGIN_REMOVED }])
  expect(await rowOf('ghcr.io')).toBeUndefined()
  expect((await remove('ghcr.io'))[0]).toBe(404)
  const sent = (await mails()).slice(before)
  expect(sent.map(({ subject, text }) => [subject, /login for (\S+?)[.,]? /.exec(text)?.[1]])).toEqual([
    ['You have a new registry login', 'ghcr.io'],
    ['You have a new registry login', 'registry.example.com:5000'],
    ['One of your registry logins changed', 'ghcr.io'],
    ['One of your registry logins was removed', 'ghcr.io'],
  ])
  for (const text of [...seen, JSON.stringify(sent), JSON.stringify(takeLines())]) expect(text).not.toContain('canary')
})

test('a form adds and removes one, and a refused one keeps all but the token', async () => {
  const { browser, opened, rowOf, list } = await setup()
  await browser.open('/settings/developers')
  const saved = await browser.form('/registries', { ...FIELDS, account: 'ada@example.com' })
  expect([saved.status, saved.headers.get('Location')]).toEqual([303, '/settings/developers#registries'])
  expect(await (await browser.request('/settings/developers')).text()).toContain(LOGIN_SAVED)
  expect([await opened('ghcr.io'), (await rowOf('ghcr.io'))?.username]).toEqual([TOKEN, 'ada'])
  await browser.form('/registries', {
    ...FIELDS,
    host: 'quay.io',
    account: 'ada@example.com',
    current_password: 'wrong',
  })
  expect((await browser.open('/settings/developers')).flash).toEqual({
    kind: 'danger',
    message: CURRENT_PASSWORD_WRONG,
    code: 'invalid',
    field: 'current_password',
    values: { host: 'quay.io', username: 'ada' },
  })
  expect(await list()).toHaveLength(1)
  await browser.form('/registries/ghcr.io', { _method: 'delete' })
  expect(await rowOf('ghcr.io')).toBeUndefined()
})

test('refuses a wrong password, a host that leads inside, what no registry takes, and the sixth', async () => {
  const { put, list } = await setup()
  const refused = async (...of: Parameters<typeof put>) => {
    const [status, { code, error }] = await put(...of)
    return [status, code, error]
  }
  expect(await refused('ghcr.io', { current_password: 'wrong' })).toEqual([422, 'invalid', CURRENT_PASSWORD_WRONG])
  const inside = 'This registry is not on the public Internet.'
  for (const host of [
    'localhost:5000',
    '127.0.0.1',
    '169.254.169.254:80',
    'registry.local',
    'metadata.google.internal',
  ])
    expect(await refused(host)).toEqual([422, 'invalid', inside])
  expect((await refused(encodeURIComponent('ghcr.io/ada')))[0]).toBe(422)
  expect((await refused('1.dkr.ecr.us-east-1.amazonaws.com'))[2]).toContain('expire after 12 hours')
  expect((await refused('ghcr.io', { username: 'a:b' })).slice(0, 2)).toEqual([422, 'invalid'])
  expect((await refused('ghcr.io', { token: 'x'.repeat(8_193) }))[0]).toBe(422)
  expect((await refused('ghcr.io', { token: undefined }))[0]).toBe(422)
  expect((await refused('ghcr.io', { token: 1 }))[0]).toBe(400)
  expect(await list()).toEqual([])
  for (let i = 0; i < 5; i++) expect((await put(`r${i}.example.com`))[0]).toBe(200)
  expect(await refused('r5.example.com')).toEqual([409, 'conflict', TOO_MANY_LOGINS])
  expect((await put('r4.example.com'))[0]).toBe(200)
  expect(await list()).toHaveLength(5)
})

test('secrets and logins know nothing of each other, though one table has both', async () => {
  const { call, put, remove, list } = await setup()
  const secret = { value: 'x', current_password: PASSWORD }
  for (let i = 0; i < 5; i++) await put(`r${i}.example.com`)
  // Five logins take no secret's room.
  for (let i = 0; i < 16; i++) expect((await call('PUT', `/secrets/S${i}`, secret))[0]).toBe(200)
  const [, { secrets: names }] = await call('GET', '/api/v1/secrets')
  expect(names).toHaveLength(16)
  expect(await list()).toHaveLength(5)
  expect((await call('DELETE', '/secrets/r0.example.com'))[0]).toBe(404)
  expect((await call('PUT', '/secrets/r0.example.com', secret))[0]).toBe(422)
  expect((await remove('S0'))[0]).toBe(404)
  expect((await put('S0'))[0]).toBe(422)
})

test('nobody else sees, changes, or removes it, and it goes with the account', async () => {
  const [ada, eve] = [await setup(), await setup()]
  await ada.put()
  expect(await eve.list()).toEqual([])
  expect((await eve.remove('ghcr.io'))[0]).toBe(404)
  await eve.put('ghcr.io', { token: 'hers' })
  expect([await ada.opened('ghcr.io'), await eve.opened('ghcr.io')]).toEqual([TOKEN, 'hers'])
  const sealed = (await ada.rowOf('ghcr.io'))?.sealed ?? ''
  expect(() => openSecret(ada.ctx.config.secretKey, eve.user.id, 'ghcr.io', sealed)).toThrow()
  expect((await ada.browser.json('DELETE', '/users', { user: { current_password: PASSWORD } })).status).toBe(200)
  expect(await ada.rowOf('ghcr.io')).toBeUndefined()
  expect(await eve.rowOf('ghcr.io')).toBeDefined()
})

test('is written only while the password is still the one that we checked, and survives a new SECRET_KEY', async () => {
  const { put, list, ctx, user, rowOf } = await setup()
  await put('kept.example.com')
  const write = ctx.db.$client.batch
  ctx.db.$client.batch = async function batch(...given) {
    if (JSON.stringify(given).includes('INSERT INTO secrets'))
      await ctx.db.update(users).set({ passwordHash: 'a newer one' }).where(eq(users.id, user.id))
    return write.apply(this, given)
  }
  expect((await put('late.example.com'))[0]).toBe(422)
  ctx.db.$client.batch = write
  expect((await list()).map(({ host }: { host: string }) => host)).toEqual(['kept.example.com'])
  const next = 'another-secret-of-thirty-two-characters'
  await renewRunSecrets({ ...ctx, config: { ...ctx.config, secretKey: `${next},${ctx.config.secretKey}` } })
  expect(openSecret(next, user.id, 'kept.example.com', (await rowOf('kept.example.com'))?.sealed ?? '')).toBe(TOKEN)
})
