import { and, eq, isNotNull } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { passkeys, signIns, users } from '../../../db/schema/accounts.ts'
import { auditLog } from '../../../db/schema/operations.ts'
import { LINK_NEEDED, LINK_SENT } from '../../../src/domain/factor.ts'
import { removeFactors } from '../../../src/server/operations/remove-factors.ts'
import { accountApp, accountContext } from '../../../testing/people/account-app.ts'
import { openAppBrowser } from '../../../testing/people/app-browser.ts'
import { totpAt } from '../../../testing/people/authenticator.ts'
import { newPasskeyDevice } from '../../../testing/people/passkey.ts'
import { PASSWORD, signedInUser } from '../../../testing/people/sign-up.ts'

const NEEDS = 'Add a second factor first: the console opens only with one.'
const PROOF = { current_password: PASSWORD }

async function setup({ adminFactor = true } = {}) {
  const account = accountContext()
  Object.assign(account.ctx.config, { adminFactor })
  const app = accountApp(account.ctx)
  const browser = openAppBrowser(app)
  const user = await signedInUser(browser, account)
  const { ctx, clock, sent, settle } = account
  await ctx.db.update(users).set({ admin: true }).where(eq(users.id, user.id))
  await browser.open('/account_security')
  const start = async (link = '', more: object = {}) => {
    const response = await browser.json('POST', '/account_security/totp', { ...PROOF, link, ...more })
    return { status: response.status, body: await response.json() }
  }
  const mailedLink = async () => {
    expect(await (await browser.json('POST', '/account_security/link')).json()).toEqual({ message: LINK_SENT })
    await settle()
    return /account_security\?link=([\w-]+)/.exec(sent.findLast(({ to }) => to === user.email)?.text ?? '')?.[1] ?? ''
  }
  const confirm = (secret: string) =>
    browser.json('POST', '/account_security/totp/confirm', { code: totpAt(secret, clock.ms) })
  return { ...account, app, browser, user, start, mailedLink, confirm }
}

test('shows an admin without a second factor only the page that adds one', async () => {
  const { browser, start } = await setup()
  for (const path of ['/console', '/admin/people', '/admin/audit', '/admin/confirm']) {
    const page = await browser.open(path)
    expect([page.status, page.location], path).toEqual([303, '/account_security'])
  }
  expect((await browser.open('/account_security')).flash?.message).toBe(NEEDS)
  for (const [method, path] of [
    ['GET', '/api/v1/instances'],
    ['POST', '/admin/people/x/sign_out'],
    ['POST', '/admin/confirm'],
  ] as const) {
    const refused = await browser.json(method, path, method === 'GET' ? undefined : {})
    expect([refused.status, await refused.json()], path).toMatchObject([
      403,
      { error: NEEDS, page: '/account_security' },
    ])
  }
  const form = await browser.form('/admin/people/x/sign_out', { reason: 'none' })
  expect([form.status, form.headers.get('Location')]).toEqual([303, '/account_security'])
  // The password alone adds none.
  for (const link of ['', 'guessed'])
    expect((await start(link)).body).toMatchObject({ code: 'forbidden', error: LINK_NEEDED })
})

test('adds the first one with the password and a mailed link, once, within ten minutes', async () => {
  const { browser, start, mailedLink, confirm, clock } = await setup()
  const late = await mailedLink()
  clock.ms += 10 * 60_000
  expect((await start(late)).status).toBe(403)
  const link = await mailedLink()
  clock.ms += 10 * 60_000 - 1
  expect((await start(link, { current_password: 'wrong' })).status).toBe(422)
  const { status, body } = await start(link)
  expect(status).toBe(200)
  expect((await start(link)).status).toBe(403)
  expect((await confirm(body.secret)).status).toBe(200)
  expect((await browser.request('/console')).status).toBe(200)
})

test('adds a passkey first only with that link, which works once, and the console takes it instead of the password', async () => {
  const { browser, mailedLink, clock, user, ctx } = await setup()
  const send = async (path: string, body: object = {}) => {
    const response = await browser.json('POST', path, body)
    return { status: response.status, body: await response.json() }
  }
  const startKey = (link: string) => send('/account_security/passkeys/options', { ...PROOF, link })
  const add = (response: object) => send('/account_security/passkeys', { name: 'Key', response })
  for (const link of ['', 'guessed'])
    expect((await startKey(link)).body).toMatchObject({ code: 'forbidden', error: LINK_NEEDED })
  const eve = await setup()
  expect((await startKey(await eve.mailedLink())).status).toBe(403)
  const ended = await mailedLink()
  clock.ms += 10 * 60_000 - 1
  const begun = (await startKey(ended)).body.options
  clock.ms += 1
  expect((await add(newPasskeyDevice().create(begun))).body.code).toBe('conflict')
  const link = await mailedLink()
  const { options } = (await startKey(link)).body
  const late = newPasskeyDevice().create((await startKey(link)).body.options)
  const device = newPasskeyDevice()
  expect((await add(device.create(options))).status).toBe(201)
  expect((await add(late)).body.code).toBe('conflict')
  expect((await browser.request('/console')).status).toBe(200)
  const ask = async () => device.get((await send('/account_security/passkeys/confirm')).body.options)
  const next = { ...PROOF, passkey: await ask() }
  // With one, the next needs no link.
  expect((await send('/account_security/totp', next)).status).toBe(200)

  clock.ms += 15 * 60_000
  const act = () => browser.json('POST', '/admin/people/x/sign_out', {})
  expect((await act()).status).toBe(403)
  const touched = device.get((await send('/account_security/passkeys/confirm')).body.options, { verifies: false })
  expect((await send('/admin/confirm', { to: '', user: { passkey: touched } })).body.code).toBe('invalid_code')
  expect((await act()).status).toBe(403)
  const passkey = await ask()
  expect((await send('/admin/confirm', { to: '', user: { passkey } })).status).toBe(200)
  expect((await act()).status).not.toBe(403)
  expect((await send('/admin/confirm', { to: '', user: { passkey } })).body.code).toBe('invalid_code')

  await removeFactors({ db: ctx.db, now: ctx.now, by: { id: 'script', reason: 'lost the key' } }, user.email)
  expect(await ctx.db.$count(passkeys, eq(passkeys.userId, user.id))).toBe(0)
  expect((await browser.open('/console')).location).toBe('/account_security')
  expect((await startKey(link)).status).toBe(403)
})

test('ends the sign-ins that the password alone opened before it, with their sockets, and no other', async () => {
  const { app, ctx, browser, user, start, mailedLink, confirm, disconnected, ...account } = await setup()
  const [thief, stranger] = [openAppBrowser(app), openAppBrowser(app)]
  await thief.open('/sign_in')
  await thief.json('POST', '/users/sign_in', { user: { email: user.email, password: PASSWORD } })
  await signedInUser(stranger, { ...account, ctx, disconnected })
  const session = async (one: typeof thief) => (await one.request('/api/v1/users/get_session')).status
  const { secret } = (await start(await mailedLink())).body
  expect((await browser.json('POST', '/account_security/totp/confirm', { code: 'wrong' })).status).toBe(401)
  expect([await session(thief), disconnected]).toEqual([200, []])
  expect((await confirm(secret)).status).toBe(200)
  expect([await session(thief), await session(stranger), await session(browser)]).toEqual([401, 200, 200])
  const ended = and(eq(signIns.userId, user.id), isNotNull(signIns.revokedAt))
  const rows = await ctx.db.select({ id: signIns.id }).from(signIns).where(ended)
  expect([rows.length, disconnected]).toEqual([1, rows.map(({ id }) => id)])
})

test("another admin's link, or a reset link, adds none", async () => {
  const [ada, eve] = [await setup(), await setup()]
  expect((await ada.start(await eve.mailedLink())).status).toBe(403)
  await ada.browser.json('POST', '/users/password', { user: { email: ada.user.email } })
  await ada.settle()
  const mail = ada.sent.findLast(({ to }) => to === ada.user.email)?.text ?? ''
  const reset = /reset_password_token=([\w-]+)/.exec(mail)?.[1] ?? ''
  expect(reset).not.toBe('')
  expect((await ada.start(reset)).status).toBe(403)
})

test('a new password, changed or reset, ends a link that was mailed before it', async () => {
  const { browser, user, start, mailedLink, sent, settle } = await setup()
  let link = await mailedLink()
  expect(link).toMatch(/^[\w-]{43}$/)
  const [changed, reset] = ['a new one 10', 'a newer one 10']
  const change = { current_password: PASSWORD, password: changed, password_confirmation: changed }
  expect((await browser.json('PUT', '/users', { user: change })).status).toBe(200)
  expect((await start(link, { current_password: changed })).body).toMatchObject({
    code: 'forbidden',
    error: LINK_NEEDED,
  })
  link = await mailedLink()
  await browser.json('POST', '/users/password', { user: { email: user.email } })
  await settle()
  const mail = sent.findLast(({ to }) => to === user.email)?.text ?? ''
  const token = /reset_password_token=([\w-]+)/.exec(mail)?.[1]
  const fields = { reset_password_token: token, password: reset, password_confirmation: reset }
  expect((await browser.json('PUT', '/users/password', { user: fields })).status).toBe(200)
  await browser.open('/sign_in')
  expect((await browser.json('POST', '/users/sign_in', { user: { email: user.email, password: reset } })).status).toBe(
    200,
  )
  expect((await start(link, { current_password: reset })).body).toMatchObject({ code: 'forbidden', error: LINK_NEEDED })
  expect((await start(await mailedLink(), { current_password: reset })).status).toBe(200)
})

test('works with plain forms: the link comes back after a wrong password', async () => {
  const { browser, mailedLink, clock } = await setup()
  expect(await (await browser.request('/account_security')).text()).toContain('Email me the link')
  const link = await mailedLink()
  const at = `/account_security?link=${link}`
  await browser.open(at)
  const refused = await browser.form('/account_security/totp', { link, current_password: 'wrong' })
  expect([refused.status, refused.headers.get('Location')]).toEqual([303, at])
  await browser.open(at)
  const started = await browser.form('/account_security/totp', { link, ...PROOF })
  const page = await started.text()
  expect([started.status, page.includes('QR code')]).toEqual([200, true])
  const secret = /<code class="secret">([A-Z2-7]{32})</.exec(page)?.[1] ?? ''
  const added = await browser.form('/account_security/totp/confirm', { code: totpAt(secret, clock.ms) })
  const codes = await added.text()
  expect(codes).toContain('Save these recovery codes now')
  // No link anymore: they have one.
  expect(codes).not.toContain('Email me the link')
})

test('the console takes a code instead of the password', async () => {
  const { browser, start, mailedLink, confirm, clock } = await setup()
  const { secret } = (await start(await mailedLink())).body
  await confirm(secret)
  clock.ms += 15 * 60_000
  const act = () => browser.json('POST', '/admin/people/x/sign_out', {})
  expect((await act()).status).toBe(403)
  const confirmWith = (user: object) => browser.json('POST', '/admin/confirm', { to: '', user })
  expect((await (await confirmWith(PROOF)).json()).code).toBe('second_factor_required')
  expect((await (await confirmWith({ totp: '000000' })).json()).code).toBe('invalid_code')
  expect(await (await browser.request('/admin/confirm')).text()).not.toContain('current_password')
  expect((await confirmWith({ totp: totpAt(secret, clock.ms) })).status).toBe(200)
  expect((await act()).status).not.toBe(403)
})

test('after 12 hours the console asks for a factor again, by plain forms as well, and leads back', async () => {
  const { browser, start, mailedLink, confirm, clock } = await setup()
  const { secret } = (await start(await mailedLink())).body
  await confirm(secret)
  const proved = clock.ms
  const at = '/admin/audit?act=lift'
  const asks = `/admin/confirm?${new URLSearchParams({ to: at })}`
  clock.ms = proved + 12 * 60 * 60_000 - 1
  expect((await browser.open(at)).status).toBe(200)
  clock.ms += 1
  expect((await browser.open(at)).location).toBe(asks)
  expect((await browser.open(asks)).flash?.message).toContain('the console asks again after 12 hours')
  const send = (fields: object) => browser.form('/admin/confirm', { to: at, ...fields })
  expect((await send({ 'user[current_password]': PASSWORD })).headers.get('Location')).toBe('/admin/confirm')
  expect((await browser.open(at)).location).toBe(asks)
  await browser.open(asks)
  const done = await send({ 'user[totp]': totpAt(secret, clock.ms) })
  expect([done.status, done.headers.get('Location')]).toEqual([303, at])
  expect((await browser.open(at)).flash?.message).toBe('You can make changes for 15 minutes.')
  clock.ms += 12 * 60 * 60_000 - 1
  expect((await browser.open(at)).status).toBe(200)
})

test('asks nobody where it is off, and no customer', async () => {
  const free = await setup({ adminFactor: false })
  expect((await free.browser.request('/console')).status).toBe(200)
  expect((await free.start()).status).toBe(200)
  const { start, ctx, user } = await setup()
  await ctx.db.update(users).set({ admin: false }).where(eq(users.id, user.id))
  expect((await start()).status).toBe(200)
})

test("an operator's command opens the way back, in the audit log and with a mail", async () => {
  const { ctx, user, start, mailedLink, confirm, browser, settle, sent } = await setup()
  const hand = { db: ctx.db, now: ctx.now, by: { id: 'script', reason: 'lost the phone' } }
  const remove = () => removeFactors(hand, user.email)
  await expect(remove()).rejects.toMatchObject({ code: 'conflict' })
  await expect(removeFactors(hand, 'no@example.com')).rejects.toMatchObject({ code: 'not_found' })
  await confirm((await start(await mailedLink())).body.secret)
  await remove()
  const [line] = await ctx.db.select().from(auditLog).where(eq(auditLog.userId, user.id))
  expect(line).toMatchObject({ act: 'remove_factors', actor: 'script', reason: 'lost the phone', subject: user.id })
  expect((await browser.open('/console')).location).toBe('/account_security')
  await mailedLink()
  await settle()
  expect(sent.filter(({ to }) => to === user.email).map(({ subject }) => subject)).toContain(
    'Your second factor was removed',
  )
})
