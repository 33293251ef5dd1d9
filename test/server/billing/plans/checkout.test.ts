import { and, eq } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { checkouts, invoices, plans, users } from '../../../../db/schema.ts'
import type { User } from '../../../../src/domain/wire.ts'
import { syncInvoice } from '../../../../src/server/billing/bills/invoice-sync.ts'
import { cancelAtPeriodEnd, cancelPlan } from '../../../../src/server/billing/plans/cancel-plan.ts'
import { createCheckout, settleCheckout } from '../../../../src/server/billing/plans/checkout.ts'
import { reconcilePlans } from '../../../../src/server/billing/plans/reconcile.ts'
import { startRun } from '../../../../src/server/fleet/start-run.ts'
import { openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const stack = await openBillingStack(Date.UTC(2028, 3, 1))
let user: User
beforeEach(async () => {
  await stack.forgetEverybody()
  user = await stack.newUser()
})

const buy = (planType: string) => createCheckout(stack.ctx, user, { planType })
const visits = () => stack.db.select().from(checkouts).where(eq(checkouts.userId, user.id))
const visitStates = async () => (await visits()).map(({ status }) => status).sort()
const listPlans = () => stack.db.select().from(plans).where(eq(plans.userId, user.id))
const planStates = async () => (await listPlans()).map(({ planType, status }) => [planType, status])
const pay = async (planType: string) => stack.press((await buy(planType)).url)
const expectUnavailable = (call: Promise<unknown>) => expect(call).rejects.toMatchObject({ code: 'unavailable' })
async function reconcileAfter(ms: number) {
  stack.clock.now += ms
  await reconcilePlans(stack.ctx)
}
/** Paid and recorded, without a webhook. */
async function subscribe(planType: string) {
  await pay(planType)
  await reconcileAfter(HOUR)
  return (await listPlans())[0]
}

/** What the user has at Stripe. */
async function opened() {
  type List<T> = { data: T[] }
  const email = encodeURIComponent(user.email)
  const customers = await stack.atStripe<List<{ id: string }>>(`customers?email=${email}`)
  const customer = customers.data[0]?.id
  const pages = await stack.atStripe<List<{ status: string }>>(`checkout/sessions?customer=${customer}`)
  return { customers: customers.data.length, pages: pages.data.map((page) => page.status) }
}

test('only plans with a price are for sale', async () => {
  for (const planType of ['demo', 'enterprise', 'free', '', 'constructor'])
    await expect(buy(planType)).rejects.toMatchObject({ code: 'invalid' })
  expect(await visits()).toEqual([])
})

test('sells nothing until plans are for sale, through any route', async () => {
  const ctx = { ...stack.ctx, config: { ...stack.ctx.config, plansForSale: false } }
  const calls = stack.stripe.calls().length
  await expect(createCheckout(ctx, user, { planType: 'basic' })).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('Plans are not for sale yet.'),
  })
  expect([await visits(), stack.stripe.calls().length - calls]).toEqual([[], 0])
})

test('allows six pages an hour, even at once, with few calls to Stripe', async () => {
  const calls = () => stack.stripe.calls().length
  const counted = async (planType: string) => {
    const before = calls()
    await buy(planType)
    return calls() - before
  }
  // First: find and make the customer, price, page. Second: close the page, price, page. Third: only read the page.
  expect([await counted('basic'), await counted('premium'), await counted('premium')]).toEqual([4, 3, 1])
  const before = calls()
  const tries = await Promise.allSettled(Array.from({ length: 17 }, () => buy('premium')))
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  expect(calls() - before).toBe(3)
  stack.clock.now += HOUR - 1
  await expect(buy('premium')).rejects.toMatchObject({
    code: 'too_many',
    retryAfter: 1,
    message: 'You opened too many checkout pages. Please try again in 1 second.',
  })
  stack.clock.now += 1
  await buy('premium')
  // This limits nobody else.
  user = await stack.newUser()
  await buy('basic')
})

test('allows twenty cancellations an hour, even at once, each with two calls to Stripe', async () => {
  await stack.press((await buy('basic')).url)
  await settleCheckout(stack.ctx, user.id)
  const before = stack.stripe.calls().length
  const tries = await Promise.allSettled(Array.from({ length: 50 }, () => cancelPlan(stack.ctx, user)))
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
  expect(stack.stripe.calls().length - before).toBe(40)
  stack.clock.now += HOUR
  await cancelPlan(stack.ctx, user)
})

test('reopening a page daily without paying delays no bill by more than 25 hours', async () => {
  stack.clock.now = Date.UTC(2030, 0, 15, 12)
  user = await stack.newUser()
  const from = stack.clock.now
  const running = await stack.insertRun(user.id, { from, until: null, confirmedAt: from + 200 * DAY })
  for (let day = 0; day < 105; day++) {
    await buy('premium')
    await stack.passTime(stack.clock.now + DAY, 4 * HOUR)
    // Unpaid bills would stop the server.
    const open = and(eq(invoices.userId, user.id), eq(invoices.status, 'open'))
    for (const bill of await stack.db.select().from(invoices).where(open)) {
      await stack.press(bill.hostedUrl)
      await syncInvoice(stack.ctx, bill.stripeInvoiceId ?? '')
    }
  }
  const { rows } = await stack.db.$client.execute(
    `SELECT period_end, created_at, amount_cents FROM billing_records WHERE user_id = '${user.id}' ORDER BY period_start`,
  )
  const seconds = [from, Date.UTC(2030, 1, 1), Date.UTC(2030, 2, 1), Date.UTC(2030, 3, 1)]
  expect(rows.map((row) => row.amount_cents)).toEqual(
    seconds.slice(1).map((end, i) => Math.round(((end - (seconds[i] ?? 0)) / 1000) * 0.04861)),
  )
  for (const row of rows) expect(Number(row.created_at) - Number(row.period_end)).toBeLessThanOrEqual(30 * HOUR)
  await stack.db.run(
    `UPDATE server_sessions SET metered_until = ${stack.clock.now}, ended_at = 1 WHERE id = '${running}'`,
  )
})

test('a row whose page never opened lasts an hour: a page lasts a day, and no cycle waits longer', async () => {
  stack.stripe.inject('error', 1, 3)
  await expectUnavailable(buy('basic'))
  stack.clock.now += HOUR - 1
  await buy('basic')
  expect(await visits()).toHaveLength(1)
  user = await stack.newUser()
  stack.stripe.inject('error', 1, 3)
  await expectUnavailable(buy('basic'))
  stack.clock.now += HOUR
  await buy('basic')
  expect(await visitStates()).toEqual(['expired', 'open'])
  stack.clock.now += 1
})

test('returning from an open page, or pressing Start, repeatedly asks Stripe at most 60 times an hour', async () => {
  await buy('basic')
  const before = stack.stripe.calls().length
  const answers: boolean[] = []
  for (let i = 0; i < 70; i++) answers.push(await settleCheckout(stack.ctx, user.id))
  expect(answers.filter(Boolean)).toHaveLength(60)
  expect(stack.stripe.calls().length - before).toBe(60)
  stack.clock.now += HOUR
  expect(await settleCheckout(stack.ctx, user.id)).toBe(true)
})

test('asked twice, returns the same page; for another plan, closes the first page', async () => {
  const first = await buy('basic')
  expect(await buy('basic')).toEqual(first)
  const other = await buy('premium')
  expect(other).not.toEqual(first)
  await expect(stack.press(first.url)).rejects.toThrow('400')
  await stack.press(other.url)
  await expect(buy('basic')).rejects.toMatchObject({ code: 'invalid' })
  expect((await listPlans()).map((plan) => [plan.planType, plan.hours])).toEqual([['premium', 30]])
})

test('paid without a webhook: found within the hour', async () => {
  await pay('basic')
  expect(await listPlans()).toEqual([])
  await reconcileAfter(HOUR)
  expect(await planStates()).toEqual([['basic', 'active']])
  expect(await visitStates()).toEqual(['complete'])
})

test('paid, no webhook yet, and the trial used up: a server starts at once, on the plan', async () => {
  await stack.insertPlan(user.id, { planType: 'demo', subType: 'demo', status: 'trialing', hours: 0.5 })
  await stack.insertRun(user.id, { from: stack.clock.now, until: stack.clock.now + HOUR / 2 })
  stack.clock.now += HOUR
  const start = () => startRun(stack.ctx, { user, suspended: false })
  await expect(start()).rejects.toMatchObject({ code: 'payment_required' })
  const { url } = await buy('basic')
  await expect(start()).rejects.toMatchObject({ code: 'payment_required' })
  await stack.press(url)
  stack.stripe.inject('error')
  await expect(start()).rejects.toMatchObject({ code: 'payment_required' })
  expect(stack.takeLines()).toMatchObject([{ event: 'payment_not_settled', userId: user.id }])
  expect((await start()).job).toMatchObject({ kind: 'server_start', status: 'queued' })
  expect(await planStates()).toEqual([
    ['demo', 'ended'],
    ['basic', 'active'],
  ])
})

test('an abandoned page expires, and another can be opened', async () => {
  await buy('basic')
  await reconcileAfter(DAY + HOUR)
  expect(await visitStates()).toEqual(['expired'])
  await pay('basic')
})

test.each(['error', 'lost_response', 'timeout'] as const)(
  '%s at each call in turn: the same page again, and never two',
  async (fault) => {
    // The calls: find and make the customer, look up the price, make the page.
    for (let call = 0; call < 4; call++) {
      user = await stack.newUser()
      stack.stripe.inject(fault, 1, call)
      await expectUnavailable(buy('basic'))
      const { url } = await buy('basic')
      expect([call, await opened()]).toEqual([call, { customers: 1, pages: ['open'] }])
      await stack.press(url)
      expect(await visits()).toHaveLength(1)
    }
  },
)

test.each(['error', 'lost_response', 'timeout'] as const)(
  '%s while checking a visit or canceling a plan: asking again succeeds',
  async (fault) => {
    await pay('basic')
    for (let call = 0; call < 2; call++) {
      stack.stripe.inject(fault, 1, call)
      await reconcileAfter(HOUR)
      expect([call, await listPlans()]).toEqual([call, []])
      const [visit] = await visits()
      expect(stack.takeLines()).toMatchObject([{ event: 'reconcile_failed', checkoutId: visit?.id, userId: user.id }])
    }
    await reconcileAfter(HOUR)
    expect(await listPlans()).toMatchObject([{ status: 'active', cancelAtPeriodEnd: false }])
    for (let call = 0; call < 2; call++) {
      stack.stripe.inject(fault, 1, call)
      await expectUnavailable(cancelAtPeriodEnd(stack.ctx, user))
    }
    await cancelAtPeriodEnd(stack.ctx, user)
    expect(await listPlans()).toMatchObject([{ status: 'active', cancelAtPeriodEnd: true }])
  },
)

test('closes a page whose answer was lost and that nobody requests again', async () => {
  // Otherwise the closing of cycles would wait for it.
  stack.stripe.inject('lost_response', 1, 3)
  await expectUnavailable(buy('basic'))
  await reconcileAfter(HOUR)
  expect(await visitStates()).toEqual(['expired'])
})

test('closes no cycle while someone is at the checkout; once paid, the time belongs to the plan', async () => {
  stack.clock.now = Date.UTC(2028, 8, 30, 23)
  user = await stack.newUser()
  await stack.insertRun(user.id, { from: stack.clock.now, until: stack.clock.now + 2 * HOUR })
  stack.clock.now += HOUR / 2
  await pay('premium')
  // No webhook, and the cron at the end of the month runs first.
  stack.clock.now = Date.UTC(2028, 9, 1, 0, 10)
  await stack.db
    .update(checkouts)
    .set({ checkAt: stack.clock.now + HOUR })
    .where(eq(checkouts.userId, user.id))
  await stack.passTime(stack.clock.now + 2 * HOUR, 20 * 60_000)
  const { rows } = await stack.db.$client.execute(
    `SELECT plan_type, seconds FROM billing_records WHERE user_id = '${user.id}' ORDER BY period_start`,
  )
  expect(rows.map((row) => [row.plan_type, row.seconds])).toEqual([[null, 1800]])
})

test('can be canceled at the end of the period, resumed, and canceled again', async () => {
  await expect(cancelAtPeriodEnd(stack.ctx, user)).rejects.toMatchObject({ code: 'not_found' })
  const bought = await subscribe('basic')
  await cancelAtPeriodEnd(stack.ctx, user)
  await cancelAtPeriodEnd(stack.ctx, user)
  const [plan] = await listPlans()
  expect(plan).toMatchObject({ cancelAtPeriodEnd: true, endedAt: null })
  await stack.atStripe(`subscriptions/${bought?.stripeSubscriptionId}`, 'cancel_at_period_end=false')
  await reconcileAfter(DAY)
  expect((await listPlans())[0]).toMatchObject({ cancelAtPeriodEnd: false, cancelAt: null })
  await cancelAtPeriodEnd(stack.ctx, user)
  expect((await listPlans())[0]).toMatchObject({ cancelAtPeriodEnd: true })
  stack.clock.now = (await listPlans())[0]?.cancelAt ?? 0
  await stack.passTime(stack.clock.now + 2 * HOUR, HOUR)
  expect((await listPlans())[0]?.endedAt).toBe(plan?.cancelAt ?? (await listPlans())[0]?.cancelAt)
  await pay('premium')
})

test("bought after the previous plan's end but before Stripe ended it: starts once it has ended", async () => {
  await subscribe('basic')
  await cancelAtPeriodEnd(stack.ctx, user)
  const [basic] = await listPlans()
  const { payments } = stack.ctx
  const live = await payments.findSubscription(basic?.stripeSubscriptionId ?? '')
  const late = async (id: string) => (id === live?.id ? live : payments.findSubscription(id))
  const ctx = { ...stack.ctx, payments: { ...payments, findSubscription: late } }
  stack.clock.now = (basic?.cancelAt ?? 0) + 60_000
  await stack.press((await createCheckout(ctx, user, { planType: 'premium' })).url)
  const [visit] = (await visits()).filter(({ status }) => status === 'open')
  await expectUnavailable(settleCheckout(ctx, user.id))
  const { subscriptionId } = await payments.getCheckout(visit?.stripeSessionId ?? '')
  expect((await payments.findSubscription(subscriptionId ?? ''))?.status).toBe('active')
  await reconcileAfter(HOUR)
  expect(await planStates()).toEqual([
    ['basic', 'canceled'],
    ['premium', 'active'],
  ])
})

test('a closed account pays for nothing more', async () => {
  await subscribe('basic')
  await stack.db.update(users).set({ closedAt: stack.clock.now }).where(eq(users.id, user.id))
  await reconcileAfter(DAY)
  expect((await listPlans())[0]?.status).toBe('canceled')
})

test('a plan paid just as the account closes: ends it and tells the operator to refund it', async () => {
  await stack.db
    .update(users)
    .set({ closedAt: stack.clock.now - 1 })
    .where(eq(users.id, user.id))
  await subscribe('basic')
  const stripeId = (await listPlans())[0]?.stripeSubscriptionId
  await reconcileAfter(DAY)
  expect((await listPlans())[0]?.status).toBe('canceled')
  expect(inBrief(stack.takeLines())).toEqual([`alert paid_after_closing:${stripeId}`])
})

test('paid in two windows at once: keeps one plan and ends the other at Stripe', async () => {
  await subscribe('basic')
  const [customer] = await stack.db.select().from(users).where(eq(users.id, user.id))
  const second = await stack.ctx.payments.createCheckout(
    {
      customerId: customer?.stripeCustomerId ?? '',
      userId: user.id,
      planType: 'premium',
      successUrl: 'http://site.test/',
      cancelUrl: 'http://site.test/',
    },
    'second',
  )
  await stack.press(second.url)
  const { subscriptionId } = await stack.ctx.payments.getCheckout(second.id)
  const { syncPlan } = await import('../../../../src/server/billing/plans/plan-sync.ts')
  await syncPlan(stack.ctx, subscriptionId ?? '')
  expect(await planStates()).toEqual([['basic', 'active']])
  expect((await stack.ctx.payments.findSubscription(subscriptionId ?? ''))?.status).toBe('canceled')
  expect(inBrief(stack.takeLines())).toEqual([`alert second_plan_canceled:${subscriptionId}`])
})
