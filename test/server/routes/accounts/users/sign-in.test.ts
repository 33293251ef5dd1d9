import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { signIns } from '../../../../../db/schema/accounts.ts'
import { plans } from '../../../../../db/schema/billing.ts'
import { newAddress, openAccount, PASSWORD, signedInUser, signUpFields } from '../../../../../testing/people/sign-up.ts'

const DAY_MS = 24 * 3_600_000

test('sign up, confirm by mail, sign in, ask who I am, sign out', async () => {
  const { account, browser, ctx, sent, settle } = openAccount()
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
  const [trial] = await ctx.db.select().from(plans).where(eq(plans.userId, user.id))
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

test('a sign-in expires after 24 hours without use, not counting polling, and after 14 days', async () => {
  const { account, browser, clock, settle } = openAccount()
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

test("an open page's own calls are not use, but what a person does is", async () => {
  const { account, browser, clock, ctx, settle } = openAccount()
  const { id } = await signedInUser(browser, account)
  const seenAfter = async (act: () => Promise<unknown>) => {
    clock.ms += 10 * 60_000
    await act()
    await settle()
    const [row] = await ctx.db.select().from(signIns).where(eq(signIns.userId, id))
    return row?.lastSeenAt
  }
  const signedInAt = clock.ms
  const body = { ip_address: '127.0.0.1' }
  for (const poll of [
    () => browser.request('/api/v1/servers/get_servers'),
    () => browser.request('/api/v1/billings/summary'),
    () => browser.request('/cable'),
    () => browser.json('POST', '/api/v1/aws/check_server_ip_status', body),
  ])
    expect(await seenAfter(poll)).toBe(signedInAt)
  expect(await seenAfter(() => browser.json('POST', '/api/servers/request_more'))).toBe(clock.ms)
  expect(await seenAfter(() => browser.open('/dashboard'))).toBe(clock.ms)
})
