import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { keptKeys, trials, users } from '../../../db/schema/accounts.ts'
import { plans } from '../../../db/schema/billing.ts'
import { outbox } from '../../../db/schema/mail.ts'
import { CONFIRMED, CONFIRMED_NO_TRIAL, SIGNED_UP } from '../../../src/domain/user.ts'
import { freeClosedAddresses } from '../../../src/server/accounts/close-account.ts'
import { hashMailbox, recordMailboxes, renewMailboxKey } from '../../../src/server/accounts/mailboxes.ts'
import { requireAllowance } from '../../../src/server/billing/allowance.ts'
import { closeDueCycles } from '../../../src/server/billing/bills/close-cycles.ts'
import type { Context } from '../../../src/server/runtime/context.ts'
import { accountContext } from '../../../testing/people/account-app.ts'
import { openAccount, PASSWORD, signUpIn } from '../../../testing/people/sign-up.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NO_TRIAL = 'Your account has no free trial'

/** A mailbox of your own, and addresses that deliver to it. */
function newMailbox() {
  const name = randomUUID()
  return (tag = '') => `${name}${tag && `+${tag}`}@example.com`
}

async function confirm(open: ReturnType<typeof openAccount>, email: string) {
  const { browser, account, settle } = open
  const token = await signUpIn(browser, account, email)
  const response = await browser.request(`/users/confirmation?confirmation_token=${token}`)
  await settle()
  return { token, message: ((await response.json()) as { message: string }).message }
}

async function stateOf({ ctx }: { ctx: Context }, email: string) {
  const [user] = await ctx.db.select().from(users).where(eq(users.email, email))
  const id = user?.id ?? ''
  const theirs = await ctx.db.select().from(plans).where(eq(plans.userId, id))
  const mails = await ctx.db.select().from(outbox).where(eq(outbox.recipient, email))
  return { id, mailbox: user?.mailbox, trials: theirs.length, mails: mails.map(({ subject }) => subject) }
}

test('a second address of one mailbox gets an account without a trial, and hears so only once it is confirmed', async () => {
  const open = openAccount()
  const address = newMailbox()
  expect((await confirm(open, address())).message).toBe(CONFIRMED)
  const { browser, account } = open
  const sent = account.sent.length
  const response = await browser.json('POST', '/users', {
    user: {
      name: 'Ada',
      email: address('2'),
      password: PASSWORD,
      password_confirmation: PASSWORD,
      terms_of_service: true,
    },
  })
  expect(await response.json()).toEqual({ message: SIGNED_UP })
  await open.settle()
  expect(account.sent.slice(sent).map(({ subject }) => subject)).toEqual(['Confirm your email address'])
  const { token, message } = await confirm(open, address('2'))
  expect(message).toBe(CONFIRMED_NO_TRIAL)
  const state = await stateOf(open, address('2'))
  expect(state.trials).toBe(0)
  expect(state.mails.filter((subject) => subject === NO_TRIAL)).toHaveLength(1)
  expect(state.mailbox).toBe((await stateOf(open, address())).mailbox)
  // A mail scanner was first: they still hear it.
  const again = await browser.request(`/users/confirmation?confirmation_token=${token}`)
  expect(await again.json()).toEqual({ message: CONFIRMED_NO_TRIAL, trial: false })
  expect((await stateOf(open, address('2'))).mails).toHaveLength(state.mails.length)
})

test('a trial ends the cycle before it, even if a closing looked at the account since the sign-up', async () => {
  const open = openAccount()
  const { browser, account, ctx, settle } = open
  const email = newMailbox()()
  const token = await signUpIn(browser, account, email)
  await closeDueCycles(ctx)
  account.clock.ms += HOUR
  await browser.request(`/users/confirmation?confirmation_token=${token}`)
  await settle()
  account.clock.ms += HOUR
  await closeDueCycles(ctx)
  const [user] = await ctx.db.select().from(users).where(eq(users.email, email))
  const [trial] = await ctx.db
    .select()
    .from(plans)
    .where(eq(plans.userId, user?.id ?? ''))
  expect(user?.billedUntil).toBe(trial?.anchor)
})

test('the account without a trial starts nothing until it has a plan', async () => {
  const open = openAccount()
  const address = newMailbox()
  await confirm(open, address())
  await confirm(open, address('2'))
  const { id } = await stateOf(open, address('2'))
  await expect(requireAllowance(open.ctx, id)).rejects.toMatchObject({
    code: 'no_plan',
    message: 'Your account has no free trial. Choose a plan to start servers.',
    page: '/subscriptions',
  })
  const plan = {
    userId: id,
    planType: 'basic',
    subType: 'paid',
    anchor: open.clock.ms,
    createdAt: open.clock.ms,
  } as const
  // One whose first payment never came was no plan.
  await open.ctx.db.insert(plans).values({ ...plan, id: `sub_0${id}`, status: 'canceled', endedAt: open.clock.ms })
  await expect(requireAllowance(open.ctx, id)).rejects.toMatchObject({ code: 'no_plan' })
  await open.ctx.db.insert(plans).values({ ...plan, id: `sub_1${id}`, status: 'active', hours: 5 })
  expect(await requireAllowance(open.ctx, id)).toMatchObject({ trialSeconds: null })
})

test('of two confirmations at once, one gets the trial', async () => {
  const open = openAccount()
  const address = newMailbox()
  const setup = { ...open.account, settle: open.settle }
  const tokens = [await signUpIn(open.browser, setup, address('')), await signUpIn(open.browser, setup, address('2'))]
  const answers = await Promise.all(
    tokens.map((token) => open.browser.request(`/users/confirmation?confirmation_token=${token}`)),
  )
  const messages = await Promise.all(answers.map(async (one) => ((await one.json()) as { message: string }).message))
  expect(messages.sort()).toEqual([CONFIRMED_NO_TRIAL, CONFIRMED].sort())
  const states = await Promise.all(['', '2'].map((tag) => stateOf(open, address(tag))))
  expect(states.map((state) => state.trials).sort()).toEqual([0, 1])
})

test('a reset link that confirms the address gives no second trial either', async () => {
  const open = openAccount()
  const address = newMailbox()
  await confirm(open, address())
  await signUpIn(open.browser, open.account, address('2'))
  await open.browser.json('POST', '/users/password', { user: { email: address('2') } })
  await open.settle()
  const token = /reset_password_token=([\w-]+)/.exec(open.sent.at(-1)?.text ?? '')?.[1]
  await open.browser.json('PUT', '/users/password', {
    user: { reset_password_token: token, password: 'another horse 9', password_confirmation: 'another horse 9' },
  })
  const state = await stateOf(open, address('2'))
  expect(state).toMatchObject({ trials: 0 })
  expect(state.mails).toContain(NO_TRIAL)
})

test('after an account is closed and its address deleted, its mailbox is only a code, and gets no second trial', async () => {
  const open = openAccount()
  const address = newMailbox()
  await confirm(open, address())
  const { id, mailbox } = await stateOf(open, address())
  await open.ctx.db.update(users).set({ closedAt: open.clock.ms }).where(eq(users.id, id))
  open.clock.ms += 30 * DAY + 1
  await freeClosedAddresses(open.ctx)
  expect((await open.ctx.db.select().from(users).where(eq(users.id, id)))[0]).toMatchObject({
    email: `closed:${id}`,
    mailbox: null,
  })
  expect(
    await open.ctx.db
      .select()
      .from(trials)
      .where(eq(trials.mailbox, mailbox ?? '')),
  ).toEqual([{ mailbox, givenAt: expect.any(Number) }])
  expect((await confirm(open, address())).message).toBe(CONFIRMED_NO_TRIAL)
})

test('accounts from before get their code from a trigger, a bounded number at a time, and before they are forgotten', async () => {
  const open = openAccount()
  const { ctx } = open
  await recordMailboxes(ctx)
  const mine = Array.from({ length: 501 }, (_, n) => ({
    id: `user_old_${n}_${randomUUID()}`,
    email: `${randomUUID()}@example.com`,
    name: 'Old',
    passwordHash: 'none',
    confirmedAt: n + 1,
    createdAt: n + 1,
  }))
  await ctx.db.insert(users).values(mine)
  await ctx.db.insert(plans).values(
    mine.slice(0, 500).map(({ id, createdAt }) => ({
      id: `sub_${id}`,
      userId: id,
      planType: 'demo' as const,
      subType: 'demo' as const,
      status: 'ended',
      anchor: createdAt,
      createdAt,
    })),
  )
  const [first, last] = [mine[0], mine[500]] as const
  if (!first || !last) throw new Error('There are 501.')
  await ctx.db.update(users).set({ closedAt: 1 }).where(eq(users.id, first.id))
  await freeClosedAddresses(ctx)
  expect((await stateOf(open, first.email)).id).toBe(first.id)
  await recordMailboxes(ctx)
  const code = await hashMailbox(ctx, first.email)
  expect((await stateOf(open, first.email)).mailbox).toBe(code)
  expect((await stateOf(open, last.email)).mailbox).toBeNull()
  await recordMailboxes(ctx)
  expect((await stateOf(open, last.email)).mailbox).toBe(await hashMailbox(ctx, last.email))
  await freeClosedAddresses(ctx)
  expect((await confirm(open, first.email)).message).toBe(CONFIRMED_NO_TRIAL)
  // Who never had a trial still gets one with another address.
  expect((await confirm(open, last.email.replace('@', '+2@'))).message).toBe(CONFIRMED)
})

test('a rotated SECRET_KEY changes no code, and the old one can go after a night', async () => {
  const { ctx } = accountContext()
  const address = newMailbox()()
  const code = await hashMailbox(ctx, address)
  const old = ctx.config.secretKey
  const next = 'another-secret-of-thirty-two-characters'
  const withKey = (secretKey: string) => ({ ...ctx, config: { ...ctx.config, secretKey } })
  expect(await hashMailbox(withKey(`${next},${old}`), address)).toBe(code)
  await renewMailboxKey(withKey(`${next},${old}`))
  expect(await hashMailbox(withKey(next), address)).toBe(code)
  await renewMailboxKey(withKey(`${old},${next}`))
  expect(await hashMailbox(ctx, address)).toBe(code)
})

test('a SECRET_KEY dropped at once makes new codes for the open accounts, and nobody is locked out', async () => {
  const open = openAccount()
  const address = newMailbox()
  await confirm(open, address())
  const { mailbox } = await stateOf(open, address())
  const [before] = await open.ctx.db.select().from(keptKeys)
  const lost = {
    ...open.ctx,
    config: { ...open.ctx.config, secretKey: 'a-secret-that-nobody-had-before-today' },
  }
  try {
    await renewMailboxKey(lost)
    expect(open.takeLines()).toMatchObject([{ event: 'mailbox_key_lost' }])
    for (let rounds = 0; rounds < 5; rounds++) await recordMailboxes(lost)
    const now = (await stateOf(open, address())).mailbox
    expect(now).not.toBe(mailbox)
    expect(now).toBe(await hashMailbox(lost, address('2')))
    expect(
      await open.ctx.db
        .select()
        .from(trials)
        .where(eq(trials.mailbox, now ?? '')),
    ).toHaveLength(1)
  } finally {
    await open.ctx.db.update(keptKeys).set({ sealed: before?.sealed ?? '' })
  }
})
