import { and, eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { secrets } from '../../../../db/schema/fleet.ts'
import { SECRET_REMOVED, SECRET_SAVED, TOO_MANY_SECRETS } from '../../../../src/domain/secret.ts'
import { CURRENT_PASSWORD_WRONG } from '../../../../src/domain/user.ts'
import { renewRunSecrets } from '../../../../src/server/fleet/renew-secrets.ts'
import { openSecret, sealSecret } from '../../../../src/server/fleet/secrets.ts'
import { openAccount, PASSWORD, signedInUser } from '../../../../testing/people/sign-up.ts'

const VALUE = 'canary-5e1d-of-a-secret'
const FIELDS = { name: 'LICENSE_KEY', value: VALUE, current_password: PASSWORD }

async function setup() {
  const account = openAccount()
  const { browser, ctx } = account
  const user = await signedInUser(browser, account)
  const put = async (name = 'LICENSE_KEY', fields: object = {}) => {
    const response = await browser.json('PUT', `/secrets/${name}`, {
      value: VALUE,
      current_password: PASSWORD,
      ...fields,
    })
    return [response.status, await response.json()]
  }
  const remove = async (name: string) => {
    const response = await browser.json('DELETE', `/secrets/${name}`)
    return [response.status, await response.json()]
  }
  const list = async () => (await (await browser.request('/api/v1/secrets')).json()).secrets
  const rowOf = async (name: string) => {
    const [row] = await ctx.db
      .select()
      .from(secrets)
      .where(and(eq(secrets.userId, user.id), eq(secrets.name, name)))
    return row
  }
  const opened = async (name: string) =>
    openSecret(ctx.config.secretKey, user.id, name, (await rowOf(name))?.sealed ?? '')
  const mails = async () => {
    await account.settle()
    return account.sent.filter(({ to }) => to === user.email)
  }
  return { ...account, user, put, remove, list, rowOf, opened, mails }
}

test('keeps a value, replaces it, and removes it, and each time tells its owner', async () => {
  const { put, list, opened, remove, rowOf, mails, clock, takeLines, browser } = await setup()
  const before = (await mails()).length
  const at = () => new Date(clock.ms).toISOString()
  expect(await list()).toEqual([])
  expect(await put()).toEqual([200, { name: 'LICENSE_KEY', updated_at: at() }])
  expect(await put('A', { value: 'a\nb\r\nc' })).toEqual([200, { name: 'A', updated_at: at() }])
  expect([await opened('LICENSE_KEY'), await opened('A')]).toEqual([VALUE, 'a\nb\r\nc'])
  clock.ms += 1_000
  expect(await put('LICENSE_KEY', { value: `${VALUE}2` })).toEqual([200, { name: 'LICENSE_KEY', updated_at: at() }])
  expect(await opened('LICENSE_KEY')).toBe(`${VALUE}2`)
  expect(await list()).toEqual([
    { name: 'A', updated_at: new Date(clock.ms - 1_000).toISOString() },
    { name: 'LICENSE_KEY', updated_at: at() },
  ])
  const seen: string[] = []
  for (const path of ['/settings/developers', '/api/v1/secrets', '/api/v1/users/export', '/dashboard'])
    seen.push(await (await browser.request(path)).text())
  expect(seen[0]).toContain('LICENSE_KEY')
  expect(await remove('LICENSE_KEY')).toEqual([200, { message: SECRET_REMOVED }])
  expect(await rowOf('LICENSE_KEY')).toBeUndefined()
  expect((await remove('LICENSE_KEY'))[0]).toBe(404)
  const sent = (await mails()).slice(before)
  expect(sent.map(({ subject, text }) => [subject, /secret (\w+)/.exec(text)?.[1]])).toEqual([
    ['You have a new secret', 'LICENSE_KEY'],
    ['You have a new secret', 'A'],
    ['One of your secrets changed', 'LICENSE_KEY'],
    ['One of your secrets was removed', 'LICENSE_KEY'],
  ])
  for (const text of [...seen, JSON.stringify(sent), JSON.stringify(takeLines())]) expect(text).not.toContain('canary')
})

test('a form adds and removes one, with the line ends of its own', async () => {
  const { browser, opened, rowOf, list } = await setup()
  await browser.open('/settings/developers')
  const saved = await browser.form('/secrets', { ...FIELDS, value: 'one\r\ntwo' })
  expect([saved.status, saved.headers.get('Location')]).toEqual([303, '/settings/developers#secrets'])
  expect(await (await browser.request('/settings/developers')).text()).toContain(SECRET_SAVED)
  expect(await opened('LICENSE_KEY')).toBe('one\ntwo')
  const refused = await browser.form('/secrets', { ...FIELDS, value: VALUE, current_password: 'wrong' })
  expect(refused.headers.get('Location')).toBe('/settings/developers#secrets')
  // A cookie carries what was typed, and a page shows it again.
  expect((await browser.open('/settings/developers')).flash).toEqual({
    kind: 'danger',
    message: CURRENT_PASSWORD_WRONG,
    code: 'invalid',
    field: 'current_password',
    values: { name: 'LICENSE_KEY' },
  })
  expect(await list()).toHaveLength(1)
  await browser.form('/secrets/LICENSE_KEY', { _method: 'delete' })
  expect(await rowOf('LICENSE_KEY')).toBeUndefined()
})

test('refuses a wrong password, a name that no container takes, a value too long, and the 21st', async () => {
  const { put, list } = await setup()
  const refused = async (...of: Parameters<typeof put>) => {
    const [status, { code, error }] = await put(...of)
    return [status, code, error]
  }
  expect(await refused('A', { current_password: 'wrong' })).toEqual([422, 'invalid', CURRENT_PASSWORD_WRONG])
  expect((await refused('A', { current_password: undefined }))[0]).toBe(422)
  expect((await refused('PATH')).slice(0, 2)).toEqual([422, 'invalid'])
  expect((await refused('A', { value: 'x'.repeat(8_193) }))[0]).toBe(422)
  expect((await refused('A', { value: '' }))[0]).toBe(422)
  expect((await refused('A', { value: 1 }))[0]).toBe(400)
  expect(await list()).toEqual([])
  for (let i = 0; i < 20; i++) expect((await put(`S${i}`, { value: 'x'.repeat(8_192) }))[0]).toBe(200)
  expect(await refused('S20')).toEqual([409, 'conflict', TOO_MANY_SECRETS])
  expect((await put('S19'))[0]).toBe(200)
  expect(await list()).toHaveLength(20)
})

test('nobody else sees, changes, or removes it, and its value opens in no other row', async () => {
  const [ada, eve] = [await setup(), await setup()]
  await ada.put()
  expect(await eve.list()).toEqual([])
  expect((await eve.remove('LICENSE_KEY'))[0]).toBe(404)
  await eve.put('LICENSE_KEY', { value: 'hers' })
  expect([await ada.opened('LICENSE_KEY'), await eve.opened('LICENSE_KEY')]).toEqual([VALUE, 'hers'])
  const { secretKey } = ada.ctx.config
  const sealed = (await ada.rowOf('LICENSE_KEY'))?.sealed ?? ''
  expect(sealed).not.toContain(VALUE)
  expect(() => openSecret(secretKey, eve.user.id, 'LICENSE_KEY', sealed)).toThrow()
  expect(() => openSecret(secretKey, ada.user.id, 'OTHER', sealed)).toThrow()
})

test('is written only while the password is still the one that we checked, and goes with the account', async () => {
  const { put, list, ctx, user, browser, rowOf } = await setup()
  await put('KEPT')
  const [row] = await ctx.db.select({ hash: users.passwordHash }).from(users).where(eq(users.id, user.id))
  const set = (passwordHash = '') => ctx.db.update(users).set({ passwordHash }).where(eq(users.id, user.id))
  const write = ctx.db.$client.batch
  ctx.db.$client.batch = async function batch(...given) {
    if (JSON.stringify(given).includes('INSERT INTO secrets')) await set('a newer one')
    return write.apply(this, given)
  }
  expect((await put('LATE'))[0]).toBe(422)
  ctx.db.$client.batch = write
  await set(row?.hash)
  expect((await list()).map(({ name }: { name: string }) => name)).toEqual(['KEPT'])
  expect((await browser.json('DELETE', '/users', { user: { current_password: PASSWORD } })).status).toBe(200)
  expect(await rowOf('KEPT')).toBeUndefined()
})

test('survives a rotation of SECRET_KEY once the night has renewed it, unless its owner changed it meanwhile', async () => {
  const { put, ctx, user, rowOf, takeLines } = await setup()
  await put()
  const old = ctx.config.secretKey
  const NEXT = 'another-secret-of-thirty-two-characters'
  const renew = (db = ctx.db) => renewRunSecrets({ ...ctx, db, config: { ...ctx.config, secretKey: `${NEXT},${old}` } })
  await renew()
  const sealed = (await rowOf('LICENSE_KEY'))?.sealed ?? ''
  expect(openSecret(NEXT, user.id, 'LICENSE_KEY', sealed)).toBe(VALUE)
  await renew()
  expect((await rowOf('LICENSE_KEY'))?.sealed).toBe(sealed)
  const set = (text: string) => ctx.db.update(secrets).set({ sealed: text }).where(eq(secrets.userId, user.id))
  await set(sealSecret(old, user.id, 'LICENSE_KEY', 'old'))
  const meanwhile = sealSecret(NEXT, user.id, 'LICENSE_KEY', 'new')
  const racing = Object.assign(Object.create(ctx.db), {
    update: (table: typeof secrets) => ({
      set: (values: object) => ({
        where: async (condition: never) => {
          await set(meanwhile)
          return ctx.db.update(table).set(values).where(condition)
        },
      }),
    }),
  })
  await renew(racing)
  expect((await rowOf('LICENSE_KEY'))?.sealed).toBe(meanwhile)
  await set('nothing.we.can.open')
  await renew()
  expect(takeLines()).toContainEqual(expect.objectContaining({ event: 'secret_lost', name: 'LICENSE_KEY' }))
})
