import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../../../db/schema/accounts.ts'
import { newAddress, openAccount, signedInUser, signUpFields } from '../../../../../testing/people/sign-up.ts'

test('a confirmed address: the same answer, no change, and a mail to its owner', async () => {
  const { account, browser, ctx, sent, settle } = openAccount()
  const { email } = await signedInUser(browser, account)
  const before = await ctx.db.select().from(users).where(eq(users.email, email))
  sent.length = 0
  const first = await browser.json('POST', '/users', { user: signUpFields(newAddress()) })
  const second = await browser.json('POST', '/users', {
    user: { ...signUpFields(email), name: 'Eve', password: 'xxxxxxx', password_confirmation: 'xxxxxxx' },
  })
  await settle()
  expect([second.status, await second.json()]).toEqual([first.status, await first.json()])
  expect(await ctx.db.select().from(users).where(eq(users.email, email))).toEqual(before)
  expect(sent.map((mail) => mail.subject)).toEqual(['Confirm your email address', 'You already have an account'])
  expect(sent[1]?.text).not.toContain('confirmation_token')
  expect(sent[1]?.text).not.toContain('Eve')
})

test('two sign-ups for one address at once make one account and two mails, and only one link works', async () => {
  const { browser, ctx, sent, settle } = openAccount()
  const email = newAddress()
  const passwords = ['password of one', 'password of two']
  const answers = await Promise.all(
    passwords.map((password) =>
      browser.json('POST', '/users', { user: { ...signUpFields(email), password, password_confirmation: password } }),
    ),
  )
  await settle()
  expect(answers.map((answer) => answer.status)).toEqual([201, 201])
  expect(await ctx.db.$count(users, eq(users.email, email))).toBe(1)
  expect(sent.map((mail) => mail.subject)).toEqual(['Confirm your email address', 'Confirm your email address'])
  const links = sent.map((mail) => /confirmation_token=([\w-]+)/.exec(mail.text)?.[1])
  const opened = []
  for (const link of links)
    opened.push((await browser.request(`/users/confirmation?confirmation_token=${link}`)).status)
  expect(opened.sort()).toEqual([200, 422])
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
  [
    { ...signUpFields('a@b.io'), password: 'é'.repeat(129), password_confirmation: 'é'.repeat(129) },
    'Password cannot exceed 128 characters.',
  ],
  [
    { ...signUpFields('a@b.io'), password: 'Password1', password_confirmation: 'Password1' },
    'This password is too common. Please choose another one.',
  ],
])('sign-up refuses %j', async (user, sentence) => {
  const { browser } = openAccount()
  const refused = await browser.json('POST', '/users', { user })
  expect(refused.status).toBe(422)
  expect(await refused.json()).toEqual({ code: 'invalid', error: sentence, message: sentence, errors: [sentence] })
})

test('a body of the wrong shape, or that is not JSON, is 400', async () => {
  const { browser } = openAccount()
  for (const body of [{}, { user: 'x' }, { user: { email: 7 } }, [], null])
    expect((await browser.json('POST', '/users', body)).status).toBe(400)
  const headers = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' }
  const broken = await browser.request('/users', { method: 'POST', headers, body: '{"user":' })
  expect(broken.status).toBe(400)
  expect(await broken.json()).toMatchObject({ error: 'The request body is not valid JSON.' })
})

test('128 characters of any script make a password', async () => {
  const { account, browser } = openAccount()
  const [email, password] = [newAddress(), '🛰'.repeat(128)]
  const user = { ...signUpFields(email), password, password_confirmation: password }
  expect((await browser.json('POST', '/users', { user })).status).toBe(201)
  await account.settle()
  const link = /confirmation_token=([\w-]+)/.exec(account.sent[0]?.text ?? '')?.[1]
  await browser.request(`/users/confirmation?confirmation_token=${link}`)
  await browser.open('/sign_in')
  expect((await browser.json('POST', '/users/sign_in', { user: { email, password } })).status).toBe(200)
})

test('the answer does not wait for the mail', async () => {
  const { browser, ctx, settle } = openAccount()
  let taken = () => {}
  let asked = () => {}
  const wasAsked = new Promise<void>((resolve) => {
    asked = resolve
  })
  ctx.mailer.send = () => {
    asked()
    return new Promise<void>((resolve) => {
      taken = resolve
    })
  }
  expect((await browser.json('POST', '/users', { user: signUpFields(newAddress()) })).status).toBe(201)
  await wasAsked
  taken()
  await settle()
})
