import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../db/schema/accounts.ts'
import { plans } from '../../db/schema/billing.ts'
import { newAddress, openAccount, PASSWORD, signUpFields } from '../../testing/people/sign-up.ts'
import { beforeBatch } from '../../testing/stack/database.ts'

/** A site, an address, and everything someone can do with it. */
function setup() {
  const { browser, ctx, sent, settle, clock } = openAccount()
  const email = newAddress()
  const lastLink = () =>
    /confirmation_token=([\w-]+)/.exec(sent.findLast((mail) => mail.to === email)?.text ?? '')?.[1] ?? ''
  return {
    ctx,
    clock,
    sent,
    async signUp(name: string, password: string) {
      const user = { ...signUpFields(email), name, password, password_confirmation: password }
      expect((await browser.json('POST', '/users', { user })).status).toBe(201)
      await settle()
      return lastLink()
    },
    async resend() {
      await browser.json('POST', '/users/confirmation', { user: { email } })
      await settle()
      return lastLink()
    },
    confirm: async (link: string) => (await browser.request(`/users/confirmation?confirmation_token=${link}`)).status,
    async reset(password: string) {
      await browser.json('POST', '/users/password', { user: { email } })
      await settle()
      const text = sent.findLast((mail) => mail.to === email)?.text ?? ''
      const user = { password, password_confirmation: password }
      const token = /reset_password_token=([\w-]+)/.exec(text)?.[1] ?? ''
      return (await browser.json('PUT', '/users/password', { user: { ...user, reset_password_token: token } })).status
    },
    async signIn(password: string) {
      await browser.open('/sign_in')
      return (await browser.json('POST', '/users/sign_in', { user: { email, password } })).status
    },
    row: async () => (await ctx.db.select().from(users).where(eq(users.email, email)))[0],
  }
}

const EVIL = 'the password of eve'

test('if a thief signs up first with my address, my link confirms my own sign-up, with my name and password', async () => {
  const { signUp, confirm, signIn, row } = setup()
  const theirs = await signUp('Eve', EVIL)
  const mine = await signUp('Ada', PASSWORD)
  expect(await confirm(theirs)).toBe(422)
  expect((await row())?.confirmedAt).toBeNull()
  expect(await confirm(mine)).toBe(200)
  expect((await row())?.name).toBe('Ada')
  expect(await signIn(EVIL)).toBe(401)
  expect(await signIn(PASSWORD)).toBe(200)
  expect(await confirm(theirs)).toBe(422)
})

test('if a thief signs up after me, my link is dead, and the mail warns me', async () => {
  const { signUp, confirm, row, sent } = setup()
  const mine = await signUp('Ada', PASSWORD)
  await signUp('Eve', EVIL)
  expect(await confirm(mine)).toBe(422)
  expect((await row())?.confirmedAt).toBeNull()
  expect(sent.at(-1)?.text).toContain("If you didn't just sign up, don't use this link.")
})

test('a sign-up that arrives while another one’s link is being confirmed', async () => {
  const { ctx, signUp, confirm, signIn, row } = setup()
  const theirs = await signUp('Eve', EVIL)
  let mine = ''
  beforeBatch(ctx.db, '', async () => {
    mine = await signUp('Ada', PASSWORD)
  })
  expect(await confirm(theirs)).toBe(422)
  expect(await row()).toMatchObject({ name: 'Ada', confirmedAt: null })
  expect(await ctx.db.$count(plans, eq(plans.userId, (await row())?.id ?? ''))).toBe(0)
  expect(await confirm(mine)).toBe(200)
  expect(await signIn(EVIL)).toBe(401)
  expect(await signIn(PASSWORD)).toBe(200)
})

test('after the confirmation, another sign-up changes nothing, and the link still works', async () => {
  const { signUp, confirm, row } = setup()
  const link = await signUp('Ada', PASSWORD)
  expect(await Promise.all([confirm(link), confirm(link)])).toEqual([200, 200])
  const confirmed = await row()
  await signUp('Eve', EVIL)
  expect(await confirm(link)).toBe(200)
  expect(await row()).toEqual(confirmed)
})

test('a resent link confirms the latest sign-up, and earlier links to it still work', async () => {
  const { signUp, resend, confirm, signIn } = setup()
  const theirs = await signUp('Eve', EVIL)
  const theirsAgain = await resend()
  const mine = await signUp('Ada', PASSWORD)
  const again = await resend()
  for (const dead of [theirs, theirsAgain]) expect(await confirm(dead)).toBe(422)
  expect(await confirm(again)).toBe(200)
  expect(await confirm(mine)).toBe(200)
  expect(await signIn(PASSWORD)).toBe(200)
})

test('if a thief signs up after me, the link I request to replace mine says whose sign-up it confirms', async () => {
  const { signUp, resend, confirm, sent } = setup()
  const mine = await signUp('Ada', PASSWORD)
  await resend()
  expect(sent.at(-1)?.text).not.toContain("don't use this link")
  await signUp('Eve', EVIL)
  expect(await confirm(mine)).toBe(422)
  await resend()
  expect(sent.at(-1)?.text).toContain("If you didn't just sign up, don't use this link.")
})

test('a reset by mail takes my address back for good from a thief who keeps signing up with it', async () => {
  const { ctx, signUp, reset, signIn, row } = setup()
  await signUp('Eve', EVIL)
  expect(await reset(PASSWORD)).toBe(200)
  const trials = () => ctx.db.select().from(plans)
  expect(await signIn(PASSWORD)).toBe(200)
  const mine = await row()
  expect((await trials()).filter(({ userId }) => userId === mine?.id)).toMatchObject([{ planType: 'demo' }])
  await signUp('Eve', EVIL)
  expect(await row()).toEqual(mine)
  expect(await signIn(EVIL)).toBe(401)
  expect(await reset('a newer one')).toBe(200)
  expect((await trials()).filter(({ userId }) => userId === mine?.id)).toHaveLength(1)
})
