import { eq } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { signIns, users } from '../../../db/schema/accounts.ts'
import { checkouts, invoices, plans } from '../../../db/schema/billing.ts'
import { runs } from '../../../db/schema/fleet.ts'
import { outbox } from '../../../db/schema/mail.ts'
import type { Invoice } from '../../../dev/stripe/objects.ts'
import type { User } from '../../../src/domain/wire/accounts.ts'
import { closeAccount } from '../../../src/server/accounts/close-account.ts'
import { hashPassword } from '../../../src/server/accounts/credentials/password.ts'
import { cancelPlan } from '../../../src/server/billing/plans/cancel-plan.ts'
import { createCheckout, settleCheckout } from '../../../src/server/billing/plans/checkout.ts'
import { reconcilePlans } from '../../../src/server/billing/plans/reconcile.ts'
import { runCron } from '../../../src/server/cron.ts'
import { newId } from '../../../src/server/crypto/id.ts'
import type { Context } from '../../../src/server/runtime/context.ts'
import { openBillingStack } from '../../../testing/stack/billing-stack.ts'
import { beforeBatch } from '../../../testing/stack/database.ts'
import { quickHasher } from '../../../testing/stack/quick-hasher.ts'
import { inBrief } from '../../../testing/stack/recorded-log.ts'
import { silent } from '../../../testing/stack/test-context.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const PASSWORD = 'correct horse 9'
const CLOSES = 'UPDATE users SET closed_at'

const stack = await openBillingStack(Date.UTC(2028, 4, 10))
const ctx: Context = { ...stack.ctx, mailer: { send: async () => {} }, hasher: quickHasher }

let user: User
beforeEach(async () => {
  await stack.forgetEverybody()
  user = await stack.newUser()
  const passwordHash = await hashPassword(ctx, PASSWORD)
  await stack.db.update(users).set({ passwordHash }).where(eq(users.id, user.id))
})

const close = () => closeAccount(ctx, user, { current_password: PASSWORD })
const account = async () => (await stack.db.select().from(users).where(eq(users.id, user.id)))[0]
const listPlans = () => stack.db.select().from(plans).where(eq(plans.userId, user.id))

test('closing expires an open checkout page, which then takes no payment, and the last bill does not wait for it', async () => {
  await stack.insertRun(user.id, { from: stack.clock.now, until: stack.clock.now + HOUR })
  stack.clock.now += 2 * HOUR
  const { url } = await createCheckout(ctx, user, { planType: 'basic' })
  await close()
  await expect(stack.press(url)).rejects.toThrow('400')
  expect(await stack.db.select().from(checkouts).where(eq(checkouts.userId, user.id))).toMatchObject([
    { status: 'expired', checkAt: null },
  ])
  await stack.passTime(stack.clock.now + 5 * MINUTE, MINUTE)
  const records = await stack.billsOf(user.id)
  expect(records).toMatchObject([{ seconds: 3600, amountCents: 175 }])
})

test("closing ends Stripe's tries on an open invoice, and emails the page to pay it on", async () => {
  const from = stack.clock.now
  await stack.press((await createCheckout(ctx, user, { planType: 'basic' })).url, 'declined_later', {
    chargeUsage: 'yes',
  })
  await settleCheckout(ctx, user.id)
  await stack.insertRun(user.id, { from: from + HOUR, until: from + 9 * HOUR })
  await stack.passTime(Date.UTC(2028, 5, 12), 6 * HOUR)
  const invoice = async () => (await stack.db.select().from(invoices).where(eq(invoices.userId, user.id)))[0]
  const atStripe = async () => stack.atStripe<Invoice>(`invoices/${(await invoice())?.stripeInvoiceId}`)
  const { attempt_count } = await atStripe()
  expect(await atStripe()).toMatchObject({ status: 'open', auto_advance: true, attempt_count: expect.any(Number) })
  await close()
  await stack.passTime(Date.UTC(2028, 5, 25), 6 * HOUR)
  expect(await atStripe()).toMatchObject({ status: 'open', auto_advance: false, attempt_count })
  const mails = await stack.db.select().from(outbox).where(eq(outbox.recipient, user.email))
  const [link, ...others] = mails.filter(({ cause }) => cause?.startsWith('ready:'))
  expect([link?.text, others]).toEqual([expect.stringContaining((await invoice())?.hostedUrl ?? ''), []])
})

test('closes nothing while Stripe cannot say what became of the page', async () => {
  const { url } = await createCheckout(ctx, user, { planType: 'basic' })
  stack.stripe.inject('error')
  await expect(close()).rejects.toMatchObject({ code: 'unavailable' })
  expect((await account())?.closedAt).toBeNull()
  await close()
  expect((await account())?.closedAt).not.toBeNull()
  await expect(stack.press(url)).rejects.toThrow('400')
})

test('a plan already paid there ends with the account, at the next trigger', async () => {
  await stack.press((await createCheckout(ctx, user, { planType: 'basic' })).url)
  stack.clock.now += MINUTE
  await close()
  await reconcilePlans(ctx)
  expect(await listPlans()).toMatchObject([{ planType: 'basic', status: 'canceled' }])
})

test('a tab that meets the closing a moment later gets a plain refusal', async () => {
  await close()
  await expect(close()).rejects.toMatchObject({ code: 'invalid', field: 'current_password' })
})

test('also closes an account that has used up its cancellations for the hour', async () => {
  await stack.press((await createCheckout(ctx, user, { planType: 'basic' })).url)
  await settleCheckout(ctx, user.id)
  for (let n = 0; n < 20; n++) await cancelPlan(ctx, user)
  await expect(cancelPlan(ctx, user)).rejects.toMatchObject({ code: 'too_many' })
  await close()
  expect((await account())?.closedAt).not.toBeNull()
})

test('a plan we learn about only after the closing also ends at the next trigger', async () => {
  await stack.press((await createCheckout(ctx, user, { planType: 'basic' })).url)
  stack.clock.now += MINUTE
  await stack.db.update(users).set({ closedAt: stack.clock.now }).where(eq(users.id, user.id))
  stack.clock.now += MINUTE
  await settleCheckout(ctx, user.id)
  await reconcilePlans(ctx)
  const found = await listPlans()
  expect(found).toMatchObject([{ planType: 'basic', status: 'canceled' }])
  expect(inBrief(stack.takeLines())).toEqual([`alert paid_after_closing:${found[0]?.stripeSubscriptionId}`])
})

test('every sign-in ends with the account', async () => {
  const at = { createdAt: stack.clock.now, lastSeenAt: stack.clock.now, expiresAt: stack.clock.now + HOUR }
  await stack.db.insert(signIns).values([1, 2].map(() => ({ id: newId('in'), userId: user.id, ...at })))
  await close()
  const rows = await stack.db.select().from(signIns).where(eq(signIns.userId, user.id))
  expect(rows.map((row) => row.revokedAt)).toEqual([stack.clock.now, stack.clock.now])
})

test('a process that dies right after closing has already stopped the server', async () => {
  const id = await stack.insertRun(user.id, { from: stack.clock.now, until: null })
  const client = ctx.db.$client
  const { batch } = client
  client.batch = (async (...args: Parameters<typeof batch>) => {
    const answer = await batch.apply(client, args)
    if (!JSON.stringify(args[0]).includes(CLOSES)) return answer
    client.batch = batch
    throw new Error('killed')
  }) as typeof batch
  await expect(close()).rejects.toThrow('killed')
  expect((await account())?.closedAt).toBe(stack.clock.now)
  const [run] = await stack.db.select().from(runs).where(eq(runs.id, id))
  expect(run?.stopRequestedAt).toBe(stack.clock.now)
})

test('closed twice at once, an account is closed at the earlier moment', async () => {
  const first = stack.clock.now
  stack.clock.now += 1_000
  beforeBatch(ctx.db, CLOSES, () => closeAccount({ ...ctx, now: () => first }, user, { current_password: PASSWORD }))
  await close()
  expect((await account())?.closedAt).toBe(first)
  expect(await stack.db.$count(outbox, eq(outbox.recipient, user.email))).toBe(1)
})

test('also stops a server that started while the account was closing', async () => {
  let started = ''
  beforeBatch(ctx.db, CLOSES, async () => {
    started = await stack.insertRun(user.id, { from: stack.clock.now, until: null })
  })
  await close()
  const [run] = await stack.db.select().from(runs).where(eq(runs.id, started))
  expect(run?.stopRequestedAt).toBe(stack.clock.now)
})

test('the next trigger stops a server that survived because the process died while closing', async () => {
  const until = stack.clock.now
  const alive = await stack.insertRun((await stack.newUser()).id, { from: until, until: null })
  const left = await stack.insertRun(user.id, { from: until, until: null })
  await stack.db.update(users).set({ closedAt: until }).where(eq(users.id, user.id))
  stack.clock.now += MINUTE
  const stops = async (id: string) => (await stack.db.select().from(runs).where(eq(runs.id, id)))[0]?.stopRequestedAt
  const armed: unknown[] = []
  const channel: Context['channel'] = (id) => ({
    ...ctx.channel(id),
    arm: async () => void armed.push(await stops(left)),
  })
  await runCron({ ...ctx, channel, fleetWatcher: { ...silent, revive: async () => {} } }, '* * * * *')
  expect([await stops(left), await stops(alive)]).toEqual([stack.clock.now, null])
  // Set before the stop is written down: its job begins even if nobody hears of that.
  expect(armed).toEqual([null])
  expect(stack.woken).toContain(user.id)
})
