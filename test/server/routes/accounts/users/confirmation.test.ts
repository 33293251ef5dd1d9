import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { emailTokens, users } from '../../../../../db/schema/accounts.ts'
import { plans } from '../../../../../db/schema/billing.ts'
import { newAddress, openAccount, signedInUser, signUpIn } from '../../../../../testing/people/sign-up.ts'

const DAY_MS = 24 * 3_600_000

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

test('only a good link fills in the address on the sign-in page', async () => {
  const { account, browser } = openAccount()
  const email = newAddress()
  const token = await signUpIn(browser, account, email)
  const open = (t: string) =>
    browser.request(`/users/confirmation?confirmation_token=${t}`, { headers: { 'X-Flash': '1' } })
  await open('x'.repeat(43))
  expect((await browser.open('/sign_in')).flash).toBeNull()
  await open(token)
  expect((await browser.open('/sign_in')).flash?.values).toEqual({ 'user[email]': email })
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
