import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { emailTokens, signIns, subscriptions, users } from '../../../db/schema.ts'
import { newAddress, PASSWORD, signedInUser, signUpFields, signUpIn } from '../../support/account.ts'
import { accountApp, accountContext } from '../../support/account-app.ts'
import { openBrowser } from '../../support/browser.ts'

const DAY_MS = 24 * 3_600_000

function setup() {
  const account = accountContext()
  const app = accountApp(account.ctx)
  return { ...account, account, app, browser: openBrowser(app) }
}

test('sign up, confirm through the mail, sign in, ask who I am, sign out', async () => {
  const { account, browser, ctx, sent, settle } = setup()
  const email = newAddress()
  const created = await browser.json('POST', '/users', {
    user: { ...signUpFields(` ${email.toUpperCase()}`), admin: true },
  })
  expect(created.status).toBe(201)
  expect(await created.json()).toEqual({ message: 'Account created but you need to confirm you email!' })
  await settle()
  const link = /http:\/\/localhost:8787\/confirm_email\?confirmation_token=([\w-]{43})/.exec(sent[0]?.text ?? '')
  expect(sent).toHaveLength(1)
  expect(sent[0]).toMatchObject({ to: email, subject: 'Confirm your email address' })

  await browser.open('/sign_in')
  const early = await browser.json('POST', '/users/sign_in', { user: { email, password: PASSWORD } })
  expect(early.status).toBe(403)
  expect(await early.json()).toMatchObject({ error: 'You have to confirm your email address before continuing.' })

  const confirmed = await browser.request(`/users/confirmation?confirmation_token=${link?.[1]}`)
  expect(confirmed.status).toBe(200)

  const signedIn = await browser.json('POST', '/users/sign_in', { user: { email, password: PASSWORD } })
  expect(signedIn.status).toBe(200)
  const { user } = (await signedIn.json()) as { user: { id: string } }
  expect(user).toEqual({ id: user.id, name: 'Ada Pilot', email, admin: false })
  expect(signedIn.headers.getSetCookie().find((line) => line.startsWith('sign_in='))).toMatch(
    /^sign_in=[\w.-]+; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Lax$/,
  )
  expect(await (await browser.request('/api/v1/users/get_session')).json()).toEqual({ Body: user })
  const [trial] = await ctx.db.select().from(subscriptions).where(eq(subscriptions.userId, user.id))
  expect(trial).toMatchObject({ planType: 'demo', subType: 'demo', status: 'trialing', hours: 0.5, anchor: ctx.now() })

  const copy = browser.cookies.get('sign_in') as string
  const [row] = await ctx.db.select().from(signIns).where(eq(signIns.userId, user.id))
  expect((await browser.json('DELETE', '/users/sign_out')).status).toBe(200)
  expect(browser.cookies.has('sign_in')).toBe(false)
  expect(account.disconnected).toEqual([row?.id])
  const gone = await browser.request('/api/v1/users/get_session', { headers: { Cookie: `sign_in=${copy}` } })
  expect(gone.status).toBe(401)
  expect(await gone.json()).toMatchObject({
    Body: null,
    error: 'Please sign in first.',
    errors: ['Please sign in first.'],
  })
  browser.cookies.set('sign_in', copy)
  expect((await browser.request('/api/v1/users/get_session')).status).toBe(401)
})

test('an address that has an account: the same answer, no second account, and a mail to its owner', async () => {
  const { browser, ctx, sent, settle } = setup()
  const email = newAddress()
  const first = await browser.json('POST', '/users', { user: signUpFields(email) })
  const second = await browser.json('POST', '/users', {
    user: { ...signUpFields(email), name: 'Eve', password: 'xxxxxxx', password_confirmation: 'xxxxxxx' },
  })
  await settle()
  expect([second.status, await second.json()]).toEqual([first.status, await first.json()])
  const rows = await ctx.db.select().from(users).where(eq(users.email, email))
  expect(rows.map((row) => row.name)).toEqual(['Ada Pilot'])
  expect(sent.map((mail) => mail.subject)).toEqual(['Confirm your email address', 'You already have an account'])
  expect(sent[1]?.text).not.toContain('confirmation_token')
  expect(sent[1]?.text).not.toContain('Eve')
})

test('two sign-ups of one address at once make one account and two mails', async () => {
  const { browser, ctx, sent, settle } = setup()
  const email = newAddress()
  const answers = await Promise.all([1, 2].map(() => browser.json('POST', '/users', { user: signUpFields(email) })))
  await settle()
  expect(answers.map((answer) => answer.status)).toEqual([201, 201])
  expect(await ctx.db.$count(users, eq(users.email, email))).toBe(1)
  expect(sent.map((mail) => mail.subject).sort()).toEqual(['Confirm your email address', 'You already have an account'])
})

test.each([
  [{}, 'All fields are required.'],
  [{ ...signUpFields('a@b.io'), name: ' ' }, 'All fields are required.'],
  [{ ...signUpFields('a@b.io'), password_confirmation: 'other' }, 'Passwords do not match.'],
  [{ ...signUpFields('a@b.io'), terms_of_service: false }, 'You must accept the Terms of Service.'],
  [
    { ...signUpFields('a@b.io'), password: '12345', password_confirmation: '12345' },
    'Password must be at least 6 characters.',
  ],
])('sign-up refuses %j', async (user, sentence) => {
  const { browser } = setup()
  const refused = await browser.json('POST', '/users', { user })
  expect(refused.status).toBe(422)
  expect(await refused.json()).toEqual({ error: sentence, message: sentence, errors: [sentence] })
})

test('a body of another shape, or that is not JSON, is 400', async () => {
  const { browser } = setup()
  for (const body of [{}, { user: 'x' }, { user: { email: 7 } }, [], null])
    expect((await browser.json('POST', '/users', body)).status).toBe(400)
  const headers = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' }
  const broken = await browser.request('/users', { method: 'POST', headers, body: '{"user":' })
  expect(broken.status).toBe(400)
  expect(await broken.json()).toMatchObject({ error: 'The request body is not valid JSON.' })
})

test('a confirmation link: twice is once, dead after 24 hours, and no other token works', async () => {
  const { account, browser, ctx, clock } = setup()
  const email = newAddress()
  const token = await signUpIn(browser, account, email)
  const open = (t: string) => browser.request(`/users/confirmation?confirmation_token=${t}`)
  expect(await ctx.db.$count(emailTokens, eq(emailTokens.hash, token))).toBe(0)
  expect((await open(token)).status).toBe(200)
  const [user] = await ctx.db.select().from(users).where(eq(users.email, email))
  clock.ms += DAY_MS - 1
  expect((await open(token)).status).toBe(200)
  expect(await ctx.db.$count(subscriptions, eq(subscriptions.userId, user?.id ?? ''))).toBe(1)
  expect((await ctx.db.select().from(users).where(eq(users.email, email)))[0]?.confirmedAt).toBe(user?.confirmedAt)
  clock.ms += 1
  for (const dead of [token, '', 'x'.repeat(43)]) {
    const refused = await open(dead)
    expect(refused.status).toBe(422)
    expect(await refused.json()).toMatchObject({ error: 'Invalid or expired confirmation link.' })
  }
})

test('a new confirmation link: the same answer for everyone, a mail only where one is waited for', async () => {
  const { account, browser, sent, settle } = setup()
  const waiting = newAddress()
  await signUpIn(browser, account, waiting)
  const { email: confirmed } = await signedInUser(browser, account)
  sent.length = 0
  const answers = []
  for (const email of [waiting, confirmed, newAddress()]) {
    const response = await browser.json('POST', '/users/confirmation', { user: { email } })
    answers.push([response.status, await response.json()])
  }
  await settle()
  expect(new Set(answers.map((a) => JSON.stringify(a))).size).toBe(1)
  expect(answers[0]).toEqual([200, { message: 'Confirmation email sent. Please check your inbox.' }])
  expect(sent.map((mail) => mail.to)).toEqual([waiting])
})

test('the profile: a new name alone; a new password ends every other sign-in and tells the owner', async () => {
  const { account, app, browser, ctx, disconnected, sent, settle } = setup()
  const { email, id } = await signedInUser(browser, account)
  const renamed = await browser.json('PUT', '/users', { user: { name: ' Zoë ', email: 'x@y.z', admin: true } })
  expect(await renamed.json()).toEqual({
    status: 'ok',
    user: { id, name: 'Zoë', email, admin: false },
    message: 'Profile updated successfully!',
  })

  const other = openBrowser(app)
  await other.open('/sign_in')
  await other.json('POST', '/users/sign_in', { user: { email, password: PASSWORD } })
  const change = { name: 'Zoë', current_password: PASSWORD, password: 'a new one', password_confirmation: 'a new one' }
  const wrong = await browser.json('PUT', '/users', { user: { ...change, current_password: 'nope' } })
  expect(wrong.status).toBe(422)
  expect(await wrong.json()).toMatchObject({ status: 'error', error: 'Your current password is not correct.' })
  expect((await browser.json('PUT', '/users', { user: change })).status).toBe(200)
  await settle()
  expect((await browser.request('/api/v1/users/get_session')).status).toBe(200)
  expect((await other.request('/api/v1/users/get_session')).status).toBe(401)
  const revoked = (await ctx.db.select().from(signIns).where(eq(signIns.userId, id))).filter((row) => row.revokedAt)
  expect(disconnected).toEqual(revoked.map((row) => row.id))
  expect(revoked).toHaveLength(1)
  expect(sent.at(-1)).toMatchObject({ to: email, subject: 'Your password was changed' })
})

test.each([
  [{ name: '' }, 'Please enter your name.'],
  [{ password: 'a' }, 'Please enter your current password.'],
  [{ current_password: 'a' }, 'Please fill in both new password fields.'],
  [
    { current_password: 'a', password: 'abcdef', password_confirmation: 'abcdeg' },
    'New password and confirmation do not match.',
  ],
  [
    { current_password: 'a', password: 'abcde', password_confirmation: 'abcde' },
    'New password must be at least 6 characters.',
  ],
])('the profile refuses %j', async (fields, sentence) => {
  const { account, browser } = setup()
  await signedInUser(browser, account)
  const refused = await browser.json('PUT', '/users', { user: { name: 'Ada', ...fields } })
  expect([refused.status, await refused.json()]).toEqual([
    422,
    { status: 'error', error: sentence, message: sentence, errors: [sentence] },
  ])
})

test('a sign-in is over after 24 hours without use, which polling does not count as, and after 14 days', async () => {
  const { account, browser, clock, settle } = setup()
  await signedInUser(browser, account)
  const poll = async () => {
    const { status } = await browser.request('/api/v1/users/get_session')
    await settle()
    return status
  }
  const cookie = browser.cookies.get('sign_in') as string
  clock.ms += DAY_MS - 60_000
  expect(await poll()).toBe(200)
  clock.ms += 120_000
  expect(await poll()).toBe(401)

  browser.cookies.clear()
  await signedInUser(browser, account)
  for (let hours = 0; hours < 14 * 24 - 20; hours += 20) {
    clock.ms += 20 * 3_600_000
    expect((await browser.open('/dashboard')).status, `after ${hours} hours`).toBe(hours + 20 < 14 * 24 ? 200 : 302)
    await settle()
  }
  clock.ms += 16 * 3_600_000
  expect(await poll()).toBe(401)
  expect(cookie).not.toBe(browser.cookies.get('sign_in'))
})

test('plain HTML forms: every step answers 303, with its sentence on the next page', async () => {
  const { account, browser } = setup()
  const email = newAddress()
  await browser.open('/sign_up')
  const fields = {
    'user[name]': 'Ada',
    'user[email]': email,
    'user[password]': PASSWORD,
    'user[password_confirmation]': PASSWORD,
  }
  const refused = await browser.form('/users', fields)
  expect([refused.status, refused.headers.get('Location')]).toEqual([303, '/sign_up'])
  expect((await browser.open('/sign_up')).flash).toEqual({
    kind: 'danger',
    message: 'You must accept the Terms of Service.',
    field: 'terms_of_service',
    values: { 'user[name]': 'Ada', 'user[email]': email },
  })
  expect((await browser.open('/sign_up')).flash).toBeNull()

  const created = await browser.form('/users', { ...fields, 'user[terms_of_service]': '1' })
  expect([created.status, created.headers.get('Location')]).toEqual([303, '/sign_in'])
  expect((await browser.open('/sign_in')).flash).toEqual({
    kind: 'success',
    message: 'Account created but you need to confirm you email!',
    values: { 'user[email]': email },
  })
  await account.settle()
  const link = /confirmation_token=([\w-]+)/.exec(account.sent[0]?.text ?? '')?.[1]
  const confirmed = await browser.request(`/users/confirmation?confirmation_token=${link}`, {
    headers: { Accept: 'text/html,*/*' },
  })
  expect([confirmed.status, confirmed.headers.get('Location')]).toEqual([303, '/sign_in'])

  await browser.open('/sign_in')
  const wrong = await browser.form('/users/sign_in', { 'user[email]': email, 'user[password]': 'wrong' })
  expect(wrong.headers.get('Location')).toBe('/sign_in')
  expect((await browser.open('/sign_in')).flash).toMatchObject({
    message: 'Invalid email or password.',
    values: { 'user[email]': email },
  })
  const signedIn = await browser.form('/users/sign_in', { 'user[email]': email, 'user[password]': PASSWORD })
  expect([signedIn.status, signedIn.headers.get('Location')]).toEqual([303, '/dashboard'])

  await browser.open('/account_overview')
  const renamed = await browser.form('/users', { _method: 'put', 'user[name]': 'Grace' })
  expect([renamed.status, renamed.headers.get('Location')]).toEqual([303, '/account_overview'])
  expect((await browser.open('/account_overview')).flash).toMatchObject({
    kind: 'success',
    message: 'Profile updated successfully!',
  })
  const out = await browser.form('/users/sign_out', { _method: 'delete' })
  expect([out.status, out.headers.get('Location')]).toEqual([303, '/sign_in'])
  expect(await browser.open('/dashboard')).toMatchObject({ status: 302, location: '/sign_in' })
})

test('_method counts in form bodies alone, for put, patch and delete alone', async () => {
  const { account, browser } = setup()
  await signedInUser(browser, account)
  const before = browser.cookies.get('sign_in')
  await browser.json('POST', '/users/sign_out?_method=delete', { _method: 'delete' })
  expect(browser.cookies.get('sign_in')).toBe(before)
  expect((await browser.request('/api/v1/users/get_session')).status).toBe(200)
  await browser.open('/dashboard')
  for (const method of ['get', 'post', 'options', '']) {
    const refused = await browser.form('/users/sign_out', { _method: method })
    expect([refused.status, refused.headers.get('Location')]).toEqual([303, '/dashboard'])
  }
  expect((await browser.request('/api/v1/users/get_session')).status).toBe(200)
})
