import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { emailTokens, signIns, users } from '../../../../../db/schema/accounts.ts'
import { plans } from '../../../../../db/schema/billing.ts'
import { openAppBrowser } from '../../../../../testing/people/app-browser.ts'
import {
  newAddress,
  openAccount,
  PASSWORD,
  signedInUser,
  signUpFields,
  signUpIn,
} from '../../../../../testing/people/sign-up.ts'
import { beforeBatch } from '../../../../../testing/stack/database.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

test('a confirmation link: using it twice is like once, dead after 24 hours, and no other token works', async () => {
  const { account, browser, ctx, clock } = openAccount()
  const email = newAddress()
  const token = await signUpIn(browser, account, email)
  expect(token).toMatch(/^[\w-]{43}$/)
  const open = (t: string) => browser.request(`/users/confirmation?confirmation_token=${t}`)
  expect(await ctx.db.$count(emailTokens, eq(emailTokens.hash, token))).toBe(0)
  expect((await open(token)).status).toBe(200)
  const [user] = await ctx.db.select().from(users).where(eq(users.email, email))
  clock.ms += DAY_MS - 1
  expect((await open(token)).status).toBe(200)
  expect(await ctx.db.$count(plans, eq(plans.userId, user?.id ?? ''))).toBe(1)
  expect((await ctx.db.select().from(users).where(eq(users.email, email)))[0]?.confirmedAt).toBe(user?.confirmedAt)
  clock.ms += 1
  for (const dead of [token, '', 'x'.repeat(43)]) {
    const refused = await open(dead)
    expect(refused.status).toBe(422)
    expect(await refused.json()).toMatchObject({ error: 'Invalid or expired confirmation link.' })
  }
})

test('a new confirmation link: the same answer for everyone, a mail only to unconfirmed addresses', async () => {
  const { account, browser, sent, settle } = openAccount()
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

type Browser = ReturnType<typeof openAppBrowser>

/** A browser that just signed up, with the cookie that says so, and the link that came by mail. */
async function justSignedUp(email = newAddress()) {
  const site = openAccount()
  const { account, app, ctx } = site
  const signUp = async (browser: Browser, address: string) => {
    const response = await browser.json('POST', '/users', { user: signUpFields(address) })
    expect(response.status).toBe(201)
    await account.settle()
    const text = account.sent.findLast((mail) => mail.to === address)?.text ?? ''
    return { link: /confirmation_token=([\w-]+)/.exec(text)?.[1] ?? '', response }
  }
  const browser = openAppBrowser(app)
  const { link, response } = await signUp(browser, email)
  const confirm = async (by = browser, token = link) => {
    const answered = await by.request(`/users/confirmation?confirmation_token=${token}`)
    return { status: answered.status, body: await answered.json(), cookies: answered.headers.getSetCookie() }
  }
  const whoIs = async (by = browser) =>
    (await (await by.request('/api/v1/users/get_session')).json()).Body?.email ?? null
  const signInsOf = async (address = email) => {
    const [user] = await ctx.db.select({ id: users.id }).from(users).where(eq(users.email, address))
    return ctx.db
      .select()
      .from(signIns)
      .where(eq(signIns.userId, user?.id ?? ''))
  }
  return { ...site, email, browser, link, response, signUp, confirm, whoIs, signInsOf }
}

const CONFIRMED = { message: 'Your email address is confirmed. You can sign in now.', trial: true, signed_in: false }

test('the browser that signed up is signed in by its own link', async () => {
  const { browser, response, confirm, whoIs, email, signInsOf, sent, settle } = await justSignedUp()
  expect(response.headers.getSetCookie().find((line) => line.startsWith('sign_up='))).toMatch(
    /^sign_up=[\w-]+\.[\w-]+; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax$/,
  )
  sent.length = 0
  const { status, body } = await confirm()
  expect([status, body]).toEqual([
    200,
    { message: "Your email address is confirmed, and you're signed in.", trial: true, signed_in: true },
  ])
  expect(await whoIs()).toBe(email)
  expect(await browser.open('/sign_in')).toMatchObject({ status: 302, location: '/dashboard' })
  expect(browser.cookies.has('sign_up')).toBe(false)
  // A reload of the page says the same, and changes nothing.
  expect(await confirm()).toMatchObject({ body: { signed_in: true }, cookies: [] })
  expect(await signInsOf()).toHaveLength(1)
  await settle()
  expect(sent.map(({ subject }) => subject).filter((subject) => /signed in|sign-in/i.test(subject))).toEqual([])
})

test('a mail scanner or another device confirms without a sign-in, and the browser that signed up still gets one', async () => {
  const { app, browser, link, confirm, whoIs, email } = await justSignedUp()
  const phone = openAppBrowser(app)
  await phone.request(`/users/confirmation?confirmation_token=${link}`, { method: 'HEAD' })
  expect(await confirm(phone)).toMatchObject({ status: 200, body: CONFIRMED, cookies: [] })
  expect(await whoIs(phone)).toBeNull()
  await browser.request(`/users/confirmation?confirmation_token=${link}`, { method: 'HEAD' })
  expect(await whoIs()).toBeNull()
  expect((await confirm()).body.signed_in).toBe(true)
  expect(await whoIs()).toBe(email)
})

test('a link that was mailed again counts as well', async () => {
  const { browser, sent, settle, confirm, whoIs, email } = await justSignedUp()
  await browser.json('POST', '/users/confirmation', { user: { email } })
  await settle()
  await confirm(browser, /confirmation_token=([\w-]+)/.exec(sent.at(-1)?.text ?? '')?.[1])
  expect(await whoIs()).toBe(email)
})

test('the link signs in for an hour after the sign-up', async () => {
  const [late, inTime] = [await justSignedUp(), await justSignedUp()]
  inTime.clock.ms += HOUR_MS - 1
  expect((await inTime.confirm()).body.signed_in).toBe(true)
  late.clock.ms += HOUR_MS
  expect(await late.confirm()).toMatchObject({ status: 200, body: CONFIRMED, cookies: [] })
})

test('the link signs in once, also if both cookies were copied, and of two calls at once only one', async () => {
  const { browser, confirm, whoIs, signInsOf } = await justSignedUp()
  const copy = browser.cookies.get('sign_up') ?? ''
  const both = await Promise.all([confirm(), confirm()])
  expect(both.map(({ cookies }) => cookies.some((line) => line.startsWith('sign_in='))).sort()).toEqual([false, true])
  await browser.open('/dashboard')
  await browser.json('DELETE', '/users/sign_out')
  browser.cookies.set('sign_up', copy)
  expect((await confirm()).body).toEqual(CONFIRMED)
  expect(await whoIs()).toBeNull()
  expect(await signInsOf()).toHaveLength(1)
})

test('the link signs in no browser after another one has signed in with the password', async () => {
  const { app, confirm, whoIs, email } = await justSignedUp()
  const phone = openAppBrowser(app)
  await confirm(phone)
  await phone.open('/sign_in')
  await phone.json('POST', '/users/sign_in', { user: { email, password: PASSWORD } })
  expect(await whoIs(phone)).toBe(email)
  expect((await confirm()).body).toEqual(CONFIRMED)
  expect(await whoIs()).toBeNull()
})

test('the link signs in nobody with another password, or with a cookie that we did not sign', async () => {
  const { app, browser, link, signUp, confirm, whoIs, email, clock } = await justSignedUp()
  // Someone else signs up with the same address: their link opens nothing here, nor the first one there.
  const thief = openAppBrowser(app)
  clock.ms += 1_000
  const { link: later } = await signUp(thief, email)
  expect((await confirm(thief, link)).status).toBe(422)
  expect((await confirm(browser, later)).body).toEqual(CONFIRMED)
  expect(await whoIs()).toBeNull()
  // And now that it has a confirmed account.
  const third = openAppBrowser(app)
  await signUp(third, email)
  expect((await confirm(third, later)).body).toEqual(CONFIRMED)
  expect(await whoIs(third)).toBeNull()
  // The cookie of someone else's sign-up, and a changed one.
  const fourth = openAppBrowser(app)
  const [payload, signature] = (thief.cookies.get('sign_up') ?? '').split('.')
  const { tag } = JSON.parse(Buffer.from(payload ?? '', 'base64url').toString())
  const forged = Buffer.from(JSON.stringify({ tag, expires: clock.ms + DAY_MS })).toString('base64url')
  for (const cookie of [browser.cookies.get('sign_up') ?? '', `${forged}.${signature}`, payload ?? '', 'x.y']) {
    fourth.cookies.set('sign_up', cookie)
    expect((await confirm(fourth, later)).body).toEqual(CONFIRMED)
    expect(await whoIs(fourth)).toBeNull()
  }
  expect((await confirm(thief, later)).body.signed_in).toBe(true)
})

test.each(['before', 'while'])('the link signs in nobody if the password is reset %s it is opened', async (when) => {
  const { app, ctx, sent, settle, confirm, whoIs, email } = await justSignedUp()
  const phone = openAppBrowser(app)
  await confirm(phone)
  const reset = async () => {
    await phone.open('/forgot_password')
    await phone.json('POST', '/users/password', { user: { email } })
    await settle()
    const token = /reset_password_token=([\w-]+)/.exec(sent.at(-1)?.text ?? '')?.[1]
    const user = { reset_password_token: token, password: 'a newer one', password_confirmation: 'a newer one' }
    expect((await phone.json('PUT', '/users/password', { user })).status).toBe(200)
  }
  if (when === 'before') await reset()
  else beforeBatch(ctx.db, 'INSERT INTO sign_ins', reset)
  expect((await confirm()).body).toEqual(CONFIRMED)
  expect(await whoIs()).toBeNull()
})

test('of two sign-ups in one browser, the later one’s link signs in, and only while nobody is signed in', async () => {
  const { browser, link, signUp, confirm, whoIs } = await justSignedUp()
  const second = newAddress()
  const { link: its } = await signUp(browser, second)
  expect((await confirm(browser, link)).body).toEqual(CONFIRMED)
  expect(await whoIs()).toBeNull()
  expect((await confirm(browser, its)).body.signed_in).toBe(true)
  const third = newAddress()
  const { link: later } = await signUp(browser, third)
  expect((await confirm(browser, later)).body).toEqual(CONFIRMED)
  expect(await whoIs()).toBe(second)
})

test('whoever came from a page that needs a sign-in signs in by hand, which leads back there', async () => {
  const { browser, confirm, whoIs, email } = await justSignedUp()
  await browser.open('/dashboard')
  const { browser: other, confirm: confirmOther, email: its } = await justSignedUp()
  await other.open('/billing_history')
  expect((await confirmOther()).body).toEqual(CONFIRMED)
  await other.open('/sign_in')
  const signedIn = await other.json('POST', '/users/sign_in', { user: { email: its, password: PASSWORD } })
  expect(await signedIn.json()).toMatchObject({ page: '/billing_history' })
  // The dashboard is where they go anyway.
  await confirm()
  expect(await whoIs()).toBe(email)
})

test('without a script, the link leads on to the dashboard, which says so', async () => {
  const { browser, link } = await justSignedUp()
  const path = `/users/confirmation?confirmation_token=${link}`
  const response = await browser.request(path, { headers: { Accept: 'text/html' } })
  expect([response.status, response.headers.get('Location')]).toEqual([303, '/sign_in'])
  expect((await browser.open('/sign_in')).location).toBe('/dashboard')
  const dashboard = await (await browser.request('/dashboard')).text()
  expect(dashboard).toContain('Your email address is confirmed, and you&#x27;re signed in.')
})
