import { and, eq, isNull } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { plans } from '../../../../db/schema/billing.ts'
import { runs } from '../../../../db/schema/fleet.ts'
import type { User } from '../../../../src/domain/wire/accounts.ts'
import { cancelAtPeriodEnd } from '../../../../src/server/billing/plans/cancel-plan.ts'
import { createCheckout, settleCheckout } from '../../../../src/server/billing/plans/checkout.ts'
import { endGrantedPlan, grantPlan, setAdmin } from '../../../../src/server/billing/plans/grants.ts'
import { reconcilePlans } from '../../../../src/server/billing/plans/reconcile.ts'
import { openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { beforeBatch } from '../../../../testing/stack/database.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const stack = await openBillingStack(Date.UTC(2028, 4, 10))

const current = async (userId: string) =>
  (
    await stack.db
      .select()
      .from(plans)
      .where(and(eq(plans.userId, userId), isNull(plans.endedAt)))
  )[0]

test('a granted plan replaces the trial, is billed like any other, and can be taken away', async () => {
  const user = await stack.newUser()
  await stack.insertPlan(user.id, { planType: 'demo', subType: 'demo', status: 'trialing', hours: 0.5 })
  stack.clock.now += DAY
  await grantPlan(stack.ctx, user.email, { type: 'enterprise', hours: 1 })
  expect(await current(user.id)).toMatchObject({
    planType: 'enterprise',
    subType: 'paid',
    hours: 1,
    anchor: stack.clock.now,
  })
  await expect(createCheckout(stack.ctx, user, { planType: 'basic' })).rejects.toMatchObject({ code: 'invalid' })
  await stack.insertRun(user.id, { from: stack.clock.now + HOUR, until: stack.clock.now + 3 * HOUR })
  stack.clock.now += 5 * DAY
  await endGrantedPlan(stack.ctx, user.email)
  expect(await current(user.id)).toBeUndefined()
  await stack.passTime(stack.clock.now + HOUR, HOUR)
  const records = await stack.billsOf(user.id)
  expect(records.map((r) => [r.planType, r.seconds, r.amountCents])).toEqual([['enterprise', 7200, 175]])
})

test.each<[string, (user: User) => Promise<unknown>]>([
  ['granted', (user) => grantPlan(stack.ctx, user.email, { type: 'basic', hours: 5 })],
  [
    'bought',
    async (user) => {
      await stack.press((await createCheckout(stack.ctx, user, { planType: 'basic' })).url)
      await settleCheckout(stack.ctx, user.id)
    },
  ],
])('a canceled plan that is over grants no more hours, even when another one is %s later', async (_, begin) => {
  await stack.forgetEverybody()
  const user = await stack.newUser()
  await grantPlan(stack.ctx, user.email, { type: 'enterprise', hours: 10 })
  await cancelAtPeriodEnd(stack.ctx, user)
  const over = (await current(user.id))?.cancelAt ?? 0
  await stack.passTime(over + DAY)
  await expect(cancelAtPeriodEnd(stack.ctx, user)).rejects.toMatchObject({ code: 'not_found' })
  await stack.insertRun(user.id, { from: over + 2 * HOUR, until: over + 4 * HOUR })
  await begin(user)
  await stack.passTime(over + 40 * DAY)
  const records = await stack.billsOf(user.id)
  expect(records.map((r) => [r.planType, r.seconds, r.amountCents])).toEqual([
    ['enterprise', 0, 0],
    [null, 7200, 350],
    ['basic', 0, 0],
  ])
})

test('a trial granted while a server runs ends the run after 30 minutes', async () => {
  const user = await stack.newUser()
  const run = await stack.insertRun(user.id, { from: stack.clock.now, until: null })
  stack.clock.now += HOUR + 1
  await grantPlan(stack.ctx, user.email, { type: 'demo', hours: 0.5 })
  const [row] = await stack.db.select().from(runs).where(eq(runs.id, run))
  expect(row?.mustStopAt).toBe(Math.ceil(stack.clock.now / 1000) * 1000 + HOUR / 2)
  // Another grant is another trial, but the current run keeps its end.
  stack.clock.now += HOUR / 4
  await grantPlan(stack.ctx, user.email, { type: 'demo', hours: 0.5 })
  const [again] = await stack.db.select().from(runs).where(eq(runs.id, run))
  expect(again?.mustStopAt).toBe(row?.mustStopAt)
})

test('leaves a plan paid through Stripe alone, and names an unknown address', async () => {
  const user = await stack.newUser()
  await stack.press((await createCheckout(stack.ctx, user, { planType: 'basic' })).url)
  stack.clock.now += HOUR
  await reconcilePlans(stack.ctx)
  await expect(grantPlan(stack.ctx, user.email, { type: 'premium', hours: 30 })).rejects.toMatchObject({
    code: 'conflict',
  })
  await expect(endGrantedPlan(stack.ctx, user.email)).rejects.toMatchObject({ code: 'conflict' })
  await expect(setAdmin(stack.ctx, 'nobody@example.com', true)).rejects.toThrow('nobody@example.com')
})

test('a plan that Stripe reports while we grant one stands, and the operator reads why', async () => {
  const user = await stack.newUser()
  beforeBatch(stack.db, '', () => stack.insertPlan(user.id, { stripeSubscriptionId: 'sub_bought' }))
  await expect(grantPlan(stack.ctx, user.email, { type: 'premium', hours: 30 })).rejects.toMatchObject({
    code: 'conflict',
    message: 'This account pays for a plan through Stripe. End it there first.',
  })
  expect(await current(user.id)).toMatchObject({ stripeSubscriptionId: 'sub_bought' })
})

test('switches the admin flag on and off', async () => {
  const user = await stack.newUser()
  const flag = async () => (await stack.db.select().from(users).where(eq(users.id, user.id)))[0]?.admin
  await setAdmin(stack.ctx, user.email, true)
  expect(await flag()).toBe(true)
  await setAdmin(stack.ctx, user.email, false)
  expect(await flag()).toBe(false)
})
