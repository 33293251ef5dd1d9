import { asc, eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { bills, checkouts, places, plans, runs, users } from '../../../../db/schema.ts'
import { addMonths } from '../../../../src/domain/money/billing.ts'
import type { User } from '../../../../src/domain/wire.ts'
import { getAllowance } from '../../../../src/server/billing/allowance.ts'
import { closeDueCycles } from '../../../../src/server/billing/bills/close-cycles.ts'
import { getUsage, toSummary } from '../../../../src/server/billing/bills/usage.ts'
import { cancelAtPeriodEnd } from '../../../../src/server/billing/plans/cancel-plan.ts'
import { createCheckout, settleCheckout } from '../../../../src/server/billing/plans/checkout.ts'
import { findPlanPayPage } from '../../../../src/server/billing/plans/pay-plan.ts'
import { syncPlan } from '../../../../src/server/billing/plans/plan-sync.ts'
import type { Context } from '../../../../src/server/context.ts'
import { BILLING_CRON, runCron } from '../../../../src/server/cron.ts'
import { findAvailability } from '../../../../src/server/fleet/availability.ts'
import { startRun } from '../../../../src/server/fleet/start-run.ts'
import type { PaidSubscription } from '../../../../src/server/ports/payments.ts'
import { type BillingStack, openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

describe('a plan that nobody pays', () => {
  let stack: BillingStack
  let ctx: Context
  let user: User
  beforeAll(async () => {
    stack = await openBillingStack(Date.UTC(2028, 0, 10, 9))
    ctx = stack.ctx
    await stack.db
      .insert(places)
      .values({ id: 'srv_4', instanceType: 'g6.12xlarge', availabilityZone: 'us-east-1a', gpus: 4, position: 1 })
  })
  afterEach(() => expect(inBrief(stack.takeLines())).toEqual([]))
  beforeEach(async () => {
    await stack.forgetEverybody()
    user = await stack.newUser()
  })
  afterAll(() => stack.close())

  const listPlans = () => stack.db.select().from(plans).where(eq(plans.userId, user.id)).orderBy(asc(plans.createdAt))
  const plan = async () => (await listPlans()).at(-1)
  const planStates = async () => (await listPlans()).map(({ planType, status }) => [planType, status])
  async function listBills() {
    const own = stack.db.select().from(bills).where(eq(bills.userId, user.id))
    const written = await own.orderBy(asc(bills.periodStart))
    return written.map(({ planType, includedHours, amountCents }) => [planType, includedHours, amountCents])
  }
  const summary = async () => toSummary(await getUsage(ctx, user.id))
  const sizes = async () =>
    (await findAvailability(ctx, user.id, await getAllowance(ctx, user.id))).candidates
      .map(({ server_id }) => server_id)
      .sort()

  async function buy(planType: string, card?: 'declined_later') {
    await stack.press((await createCheckout(ctx, user, { planType })).url, card)
    await settleCheckout(ctx, user.id)
    const { anchor = 0, stripeSubscriptionId } = (await plan()) ?? {}
    return { anchor, stripeId: stripeSubscriptionId ?? '' }
  }
  /** Answers as if Stripe said this about that subscription. */
  function says(found: PaidSubscription | null, change: Partial<PaidSubscription>): Context {
    const findSubscription = async () => found && { ...found, ...change }
    return { ...stack.ctx, payments: { ...stack.ctx.payments, findSubscription } }
  }
  async function start(): Promise<string> {
    const tried = await startRun(ctx, { user, suspended: false }).then(
      () => 'started',
      (error) => `${error.code}: ${error.message} ${error.page}`,
    )
    await stack.db.update(runs).set({ endedAt: stack.clock.now }).where(eq(runs.userId, user.id))
    await stack.db.update(places).set({ reservedBy: null })
    return tried
  }
  const REFUSED =
    'payment_required: Your plan is unpaid. Pay the open invoice to start servers again. /subscriptions/pay'

  test('its renewal is declined: no hours, no starts, and everything back once its invoice is paid', async () => {
    stack.setWebhooks('handled')
    const { anchor } = await buy('premium', 'declined_later')
    expect([await start(), await sizes()]).toEqual(['started', ['srv_1', 'srv_4']])
    await stack.insertRun(user.id, { from: anchor + DAY, until: anchor + DAY + 10 * HOUR })
    stack.clock.now = anchor + 31 * DAY + 60_000
    await stack.stripe.settle()
    const renewed = Date.UTC(2028, 1, 10, 9)
    expect(await plan()).toMatchObject({ status: 'past_due', paidUntil: renewed })
    await stack.insertRun(user.id, { from: renewed + HOUR, until: renewed + 3 * HOUR })
    stack.clock.now = renewed + DAY
    expect(await summary()).toMatchObject({
      subscription: { status: 'past_due', hours: 0 },
      monthlyUsage: { hoursUsed: 2, amountOwedDollars: 3.5 },
    })
    expect([await start(), await sizes()]).toEqual([REFUSED, ['srv_1']])
    const before = stack.stripe.calls().length
    for (let i = 0; i < 70; i++) expect(await start()).toBe(REFUSED)
    expect(stack.stripe.calls().length - before).toBeLessThanOrEqual(60)
    // The previous period was paid, so its cycle has its hours.
    await stack.passTime(renewed + 2 * DAY, DAY)
    expect(await listBills()).toEqual([['premium', 30, 0]])

    stack.clock.now = renewed + 15 * DAY
    await stack.stripe.settle()
    expect(await plan()).toMatchObject({ status: 'unpaid', paidUntil: renewed })
    // The page asks Stripe each time it opens.
    const asked = stack.stripe.calls().length
    const opened = await Promise.allSettled(Array.from({ length: 50 }, () => findPlanPayPage(ctx, user.id)))
    expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
    // They run at once, so any twenty may succeed.
    const refused = opened.filter(({ status }) => status === 'rejected')
    expect(refused).toEqual(
      refused.map(() => expect.objectContaining({ reason: expect.objectContaining({ code: 'too_many' }) })),
    )
    expect(stack.stripe.calls().length - asked).toBeLessThanOrEqual(40)
    stack.clock.now += HOUR
    await stack.press((await findPlanPayPage(ctx, user.id)).page)
    await stack.stripe.settle()
    expect(await plan()).toMatchObject({ status: 'active', paidUntil: null })
    expect((await findPlanPayPage(ctx, user.id)).page).toBeNull()
    expect(await summary()).toMatchObject({ subscription: { hours: 30 }, monthlyUsage: { amountOwedDollars: 0 } })
    expect([await start(), await sizes()]).toEqual(['started', ['srv_1', 'srv_4']])
    stack.setWebhooks('kept')
  })

  test('never paid again: every later cycle has none of its hours, even when it ends', async () => {
    const { anchor, stripeId } = await buy('basic', 'declined_later')
    for (const day of [1, 40, 70, 100]) {
      const from = anchor + day * DAY
      await stack.insertRun(user.id, { from, until: from + 4 * HOUR })
    }
    await stack.passTime(anchor + 95 * DAY, DAY)
    const paidUntil = addMonths(anchor, 1)
    expect(await plan()).toMatchObject({ status: 'unpaid', paidUntil })
    await ctx.payments.cancelNow(stripeId)
    await stack.passTime(anchor + 125 * DAY, DAY)
    expect(await plan()).toMatchObject({ status: 'canceled', paidUntil })
    expect((await listBills()).slice(0, 4)).toEqual([
      ['basic', 5, 0],
      ['basic', 0, 700],
      ['basic', 0, 700],
      ['basic', 0, 0],
    ])
  })

  test('it ends before Stripe charges for its new period: that period has no hours', async () => {
    const { anchor, stripeId } = await buy('premium', 'declined_later')
    // Stripe leaves a renewal's invoice as a draft for about an hour, and the plan active.
    const findSubscription = async (id: string) => {
      const found = await ctx.payments.findSubscription(id)
      return found && { ...found, status: found.status === 'past_due' ? 'active' : found.status }
    }
    const early = { ...ctx, payments: { ...ctx.payments, findSubscription } }
    const renewed = addMonths(anchor, 1)
    await stack.insertRun(user.id, { from: renewed - HOUR, until: renewed + HOUR / 2 })
    stack.clock.now = renewed + HOUR / 2
    await syncPlan(early, stripeId)
    expect(await plan()).toMatchObject({ status: 'active', paidUntil: null })
    // They close their account.
    const now = stack.clock.now
    await stack.db.update(users).set({ closedAt: now, billingDueAt: now }).where(eq(users.id, user.id))
    await stack.db.update(plans).set({ checkAt: now }).where(eq(plans.userId, user.id))
    stack.clock.now += 3 * 60_000
    await runCron(early, BILLING_CRON)
    expect(await plan()).toMatchObject({ status: 'canceled', paidUntil: renewed })
    expect(await listBills()).toEqual([
      ['premium', 30, 0],
      ['premium', 0, 87],
    ])
  })

  test('it ends in a period that was paid: that period has its hours', async () => {
    const { anchor, stripeId } = await buy('premium')
    const renewed = addMonths(anchor, 1)
    stack.clock.now = renewed + 20 * HOUR
    await stack.insertRun(user.id, { from: renewed + HOUR, until: renewed + 20 * HOUR })
    await syncPlan(ctx, stripeId)
    await ctx.payments.cancelNow(stripeId)
    await syncPlan(ctx, stripeId)
    expect(await plan()).toMatchObject({ status: 'canceled', paidUntil: null })
    await stack.passTime(renewed + 2 * DAY, DAY)
    expect(await listBills()).toEqual([
      ['premium', 30, 0],
      ['premium', 30, 0],
    ])
  })

  test('paid while the webhook is late: a start asks Stripe, and then starts', async () => {
    const { stripeId } = await buy('basic', 'declined_later')
    stack.clock.now += 32 * DAY
    await syncPlan(ctx, stripeId)
    expect(await start()).toBe(REFUSED)
    await stack.press((await findPlanPayPage(ctx, user.id)).page)
    stack.stripe.inject('error')
    expect(await start()).toBe(REFUSED)
    expect(stack.takeLines()).toMatchObject([{ event: 'payment_not_settled', userId: user.id }])
    expect(await start()).toBe('started')
  })

  test('it can be canceled, and another one bought in its place', async () => {
    const { stripeId } = await buy('premium', 'declined_later')
    stack.clock.now += 32 * DAY
    await syncPlan(ctx, stripeId)
    await cancelAtPeriodEnd(ctx, user)
    expect(await plan()).toMatchObject({ status: 'past_due', cancelAtPeriodEnd: true, endedAt: null })
    await buy('basic')
    expect(await planStates()).toEqual([
      ['premium', 'canceled'],
      ['basic', 'active'],
    ])
    expect((await ctx.payments.findSubscription(stripeId))?.status).toBe('canceled')
    expect([await start(), (await summary()).subscription?.hours]).toEqual(['started', 5])
    expect(await stack.db.$count(checkouts, eq(checkouts.status, 'open'))).toBe(0)
  })

  test('ended at Stripe before we learned about it: there is nothing to cancel, and we record its end', async () => {
    const { stripeId } = await buy('basic', 'declined_later')
    await ctx.payments.cancelNow(stripeId)
    await expect(cancelAtPeriodEnd(ctx, user)).rejects.toMatchObject({ code: 'not_found' })
    expect(await plan()).toMatchObject({ status: 'canceled' })
  })

  test('a checkout held open past the end of a period gives it no hours for paying the next one', async () => {
    const { stripeId, anchor } = await buy('premium', 'declined_later')
    const [unpaid, next] = [addMonths(anchor, 1), addMonths(anchor, 2)]
    await stack.insertRun(user.id, { from: unpaid + DAY, until: unpaid + 11 * DAY })
    // Stripe still retries the card when the next period begins.
    const found = await ctx.payments.findSubscription(stripeId)
    const say = (change: Partial<PaidSubscription>) =>
      syncPlan(says(found, { status: 'past_due', ...change }), stripeId)
    stack.clock.now = unpaid + HOUR
    await say({ periodStart: unpaid })
    await closeDueCycles(ctx)
    stack.clock.now = next - HOUR
    await createCheckout(ctx, user, { planType: 'basic' })
    await stack.db.update(checkouts).set({ checkAt: null }).where(eq(checkouts.userId, user.id))
    stack.clock.now = next + HOUR
    await say({ periodStart: next })
    await closeDueCycles(ctx)
    expect(await listBills()).toEqual([['premium', 30, 0]])
    await say({ periodStart: next, status: 'active' })
    expect(await plan()).toMatchObject({ status: 'active', paidUntil: unpaid })
    expect((await plan())?.checkAt).toBe(next + 2 * HOUR)
    stack.clock.now = next + 25 * HOUR
    await closeDueCycles(ctx)
    expect(await listBills()).toEqual([
      ['premium', 30, 0],
      ['premium', 0, 41999],
    ])
    // The period that was paid for has them.
    await say({ periodStart: next, status: 'active' })
    expect(await plan()).toMatchObject({ status: 'active', paidUntil: null })
  })

  test('paid for its next period, and ended before the unpaid one is billed: that one has no hours', async () => {
    const { stripeId, anchor } = await buy('premium', 'declined_later')
    const [unpaid, next] = [addMonths(anchor, 1), addMonths(anchor, 2)]
    await stack.insertRun(user.id, { from: unpaid + DAY, until: unpaid + 11 * DAY })
    const found = await ctx.payments.findSubscription(stripeId)
    const wasPaidWithin = async (_: string, { end }: { end: number }) => end > next
    const say = (change: Partial<PaidSubscription>) => {
      const said = says(found, change)
      return syncPlan({ ...said, payments: { ...said.payments, wasPaidWithin } }, stripeId)
    }
    stack.clock.now = unpaid + HOUR
    await say({ status: 'past_due', periodStart: unpaid })
    stack.clock.now = next + HOUR
    await say({ status: 'active', periodStart: next })
    await say({ status: 'canceled', periodStart: next, endedAt: next + HOUR / 2 })
    expect(await plan()).toMatchObject({ status: 'canceled', paidUntil: unpaid })
    await closeDueCycles(ctx)
    expect((await listBills()).slice(0, 2)).toEqual([
      ['premium', 30, 0],
      ['premium', 0, 41999],
    ])
  })

  test('ended unpaid, and paid after that: that period still has no hours', async () => {
    const { stripeId, anchor } = await buy('premium', 'declined_later')
    const unpaid = addMonths(anchor, 1)
    await stack.insertRun(user.id, { from: unpaid + DAY, until: unpaid + DAY + 10 * HOUR })
    stack.clock.now = unpaid + 2 * DAY
    await syncPlan(ctx, stripeId)
    const { page } = await findPlanPayPage(ctx, user.id)
    await ctx.payments.cancelNow(stripeId)
    await syncPlan(ctx, stripeId)
    expect(await plan()).toMatchObject({ status: 'canceled', paidUntil: unpaid })
    stack.clock.now += HOUR
    await stack.press(page)
    await syncPlan(ctx, stripeId)
    expect(await plan()).toMatchObject({ status: 'canceled', paidUntil: unpaid })
    await closeDueCycles(ctx)
    expect((await listBills()).slice(0, 2)).toEqual([
      ['premium', 30, 0],
      ['premium', 0, 1750],
    ])
  })

  test('paid again in its last period, which we learn after its end: that period has its hours', async () => {
    const { stripeId, anchor } = await buy('premium', 'declined_later')
    const [unpaid, last, end] = [addMonths(anchor, 1), addMonths(anchor, 2), addMonths(anchor, 3)]
    for (const from of [unpaid + DAY, last + DAY]) await stack.insertRun(user.id, { from, until: from + 10 * HOUR })
    for (const at of [unpaid + HOUR, unpaid + 15 * DAY, last + HOUR]) {
      stack.clock.now = at
      await syncPlan(ctx, stripeId)
      await closeDueCycles(ctx)
    }
    expect(await plan()).toMatchObject({ status: 'unpaid', paidUntil: unpaid })
    stack.clock.now = last + 2 * DAY
    await stack.press((await findPlanPayPage(ctx, user.id)).page)
    await ctx.payments.cancelAtPeriodEnd(stripeId, 'portal')
    stack.clock.now = end + HOUR
    await syncPlan(ctx, stripeId)
    expect(await plan()).toMatchObject({ status: 'canceled', paidUntil: null })
    await closeDueCycles(ctx)
    expect(await listBills()).toEqual([
      ['premium', 30, 0],
      ['premium', 0, 1750],
      ['premium', 30, 0],
    ])
  })

  test.each(['renewed', 'canceled'])(
    'paid in its last second, which we learn when it is %s: it has its hours',
    async (then) => {
      const { stripeId, anchor } = await buy('premium', 'declined_later')
      const [unpaid, next] = [addMonths(anchor, 1), addMonths(anchor, 2)]
      await stack.insertRun(user.id, { from: unpaid + DAY, until: unpaid + DAY + 30 * HOUR })
      stack.clock.now = unpaid + HOUR
      await syncPlan(ctx, stripeId)
      if (then === 'canceled') await cancelAtPeriodEnd(ctx, user)
      expect(await plan()).toMatchObject({ status: 'past_due', paidUntil: unpaid })
      await closeDueCycles(ctx)
      stack.clock.now = next - 1000
      await stack.press((await findPlanPayPage(ctx, user.id)).page)
      stack.clock.now = next + 30_000
      await syncPlan(ctx, stripeId)
      expect(await plan()).toMatchObject(
        then === 'renewed' ? { status: 'past_due', paidUntil: next } : { status: 'canceled', paidUntil: null },
      )
      stack.clock.now = next + HOUR
      await closeDueCycles(ctx)
      expect(await listBills()).toEqual([
        ['premium', 30, 0],
        ['premium', 30, 0],
      ])
    },
  )

  test("paid again while another plan's page is open: paying there as well grants no hours twice", async () => {
    const { stripeId, anchor } = await buy('premium', 'declined_later')
    const [renewed, over] = [addMonths(anchor, 1), addMonths(anchor, 2)]
    stack.clock.now = renewed + HOUR
    await syncPlan(ctx, stripeId)
    const { url } = await createCheckout(ctx, user, { planType: 'basic' })
    await stack.press((await findPlanPayPage(ctx, user.id)).page)
    await syncPlan(ctx, stripeId)
    await stack.insertRun(user.id, { from: renewed + 2 * HOUR, until: renewed + 20 * HOUR })
    stack.clock.now = renewed + 20 * HOUR
    stack.setWebhooks('handled')
    await stack.press(url)
    stack.clock.now += 5_000
    await stack.stripe.settle()
    // Stripe reports our own cancellation.
    stack.clock.now += 5_000
    await stack.stripe.settle()
    stack.setWebhooks('kept')
    await stack.insertRun(user.id, { from: renewed + 2 * DAY, until: renewed + 2 * DAY + 30 * HOUR })
    expect(await planStates()).toEqual([['premium', 'active']])
    // One alert per check, because Stripe's events about it arrive one by one.
    expect([...new Set(inBrief(stack.takeLines()))]).toEqual([
      expect.stringMatching(/^alert second_plan_canceled:sub_/),
    ])
    await stack.passTime(over + 2 * DAY, DAY)
    expect(await listBills()).toEqual([
      ['premium', 30, 0],
      ['premium', 30, 3150],
    ])
  })

  test('repeated syncs, periods later, delay no bill', async () => {
    const { stripeId, anchor } = await buy('basic', 'declined_later')
    const found = await ctx.payments.findSubscription(stripeId)
    const say = (periodStart: number) => {
      stack.clock.now += 1000
      return syncPlan(says(found, { status: 'past_due', periodStart }), stripeId)
    }
    const dueAt = async () =>
      (await stack.db.select().from(users).where(eq(users.id, user.id))).map(({ billingDueAt }) => billingDueAt)
    await say(addMonths(anchor, 1))
    await say(addMonths(anchor, 2))
    const before = await dueAt()
    await say(addMonths(anchor, 2))
    expect(await dueAt()).toEqual(before)
  })

  describe('every state Stripe has', () => {
    /**
     * Stripe's status and whether the plan is over; then the status and hours shown, the outcome of a start, and the
     * largest server.
     */
    const STATES: [string, boolean, unknown[]][] = [
      ['active', false, ['active', 30, 'started', 'srv_4']],
      ['trialing', false, ['trialing', 30, 'started', 'srv_4']],
      ['past_due', false, ['past_due', 0, 'payment_required', 'srv_1']],
      ['unpaid', false, ['unpaid', 0, 'payment_required', 'srv_1']],
      ['incomplete', false, ['incomplete', 0, 'payment_required', 'srv_1']],
      ['paused', false, ['paused', 0, 'payment_required', 'srv_1']],
      ['canceled', true, [null, null, 'started', 'srv_1']],
      // Never paid, so it was no plan, and they had no other.
      ['incomplete_expired', false, [null, null, 'payment_required', 'srv_1']],
    ]

    /** As if Stripe reported this about the plan the user bought. */
    async function hear(status: string, found: PaidSubscription, ended = false) {
      stack.clock.now += 1000
      const heard = says(found, { status, endedAt: ended ? stack.clock.now : null })
      await syncPlan(heard, found.id)
      return heard
    }
    async function bought() {
      const { url } = await createCheckout(ctx, user, { planType: 'premium' })
      await stack.press(url)
      const [visit] = await stack.db.select().from(checkouts).where(eq(checkouts.userId, user.id))
      const { subscriptionId } = await ctx.payments.getCheckout(visit?.stripeSessionId ?? '')
      return (await ctx.payments.findSubscription(subscriptionId ?? '')) as PaidSubscription
    }
    async function result(heard: Context) {
      const own = ctx
      ctx = heard
      const { subscription } = await summary()
      const all = [subscription?.status ?? null, subscription?.hours ?? null, (await start()).split(':')[0]]
      const largest = (await sizes()).at(-1)
      ctx = own
      return [...all, largest]
    }

    test.each(STATES)('%s: for a plan we know', async (status, ended, expected) => {
      const found = await bought()
      await hear('active', found)
      expect(await result(await hear(status, found, ended))).toEqual(expected)
    })

    test.each(STATES)('%s: as the first thing we hear', async (status, ended, expected) => {
      expect(await result(await hear(status, await bought(), ended))).toEqual(expected)
    })

    test.each(['incomplete', 'incomplete_expired'])('%s replaces no plan', async (status) => {
      await stack.insertPlan(user.id, { planType: 'demo', subType: 'demo', status: 'trialing', hours: 0.5 })
      expect(await result(await hear(status, await bought()))).toEqual(['trialing', 0.5, 'started', 'srv_1'])
      expect(await listPlans()).toHaveLength(1)
    })

    test('a first payment that never came: canceled at once, and never a plan', async () => {
      const found = await bought()
      const heard = await hear('incomplete', found)
      const cancelNow = vi.fn(async () => {})
      await cancelAtPeriodEnd({ ...heard, payments: { ...heard.payments, cancelNow } }, user)
      expect(cancelNow).toHaveBeenCalledWith(found.id)
      await hear('incomplete_expired', found)
      expect(await plan()).toMatchObject({ status: 'incomplete_expired', endedAt: found.anchor })
    })

    test('a first payment that has just come, before its webhook: canceling keeps the paid month', async () => {
      const found = await bought()
      await hear('incomplete', found)
      expect(await plan()).toMatchObject({ status: 'incomplete' })
      await cancelAtPeriodEnd(ctx, user)
      expect(await plan()).toMatchObject({ status: 'active', cancelAtPeriodEnd: true, endedAt: null })
    })
  })
})
