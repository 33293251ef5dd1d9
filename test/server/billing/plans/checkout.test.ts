import { and, eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { checkouts, invoices } from '../../../../db/schema/billing.ts'
import { AppError } from '../../../../src/domain/error.ts'
import { syncInvoice } from '../../../../src/server/billing/bills/invoice-sync.ts'
import { openPortal } from '../../../../src/server/billing/bills/portal.ts'
import { closeOpenCheckout, createCheckout, settleCheckout } from '../../../../src/server/billing/plans/checkout.ts'
import { syncPlan } from '../../../../src/server/billing/plans/plan-sync.ts'
import { startRun } from '../../../../src/server/fleet/start-run.ts'
import { openPlanOwner } from '../../../../testing/people/plan-owner.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const { stack, owner, another, listPlans, planStates, stripeId, open, pay, buy, visits } = await openPlanOwner(
  Date.UTC(2028, 3, 1),
)
const expectUnavailable = (call: Promise<unknown>) => expect(call).rejects.toMatchObject({ code: 'unavailable' })

/** What the user has at Stripe. */
async function opened() {
  type List<T> = { data: T[] }
  const email = encodeURIComponent(owner().email)
  const customers = await stack.atStripe<List<{ id: string }>>(`customers?email=${email}`)
  const customer = customers.data[0]?.id
  const pages = await stack.atStripe<List<{ status: string }>>(`checkout/sessions?customer=${customer}`)
  return { customers: customers.data.length, pages: pages.data.map((page) => page.status) }
}

test('a customer who was deleted at Stripe can pay again, and see their receipts', async () => {
  await buy('basic')
  const first = await stack.deleteCustomer(owner().email)
  await syncPlan(stack.ctx, await stripeId())
  expect(await openPortal(stack.ctx, owner().id)).toMatch(/^http/)
  const second = await stack.deleteCustomer(owner().email)
  expect(second).not.toBe(first)
  await pay('premium')
  expect((await opened()).customers).toBe(1)
})

test('only plans with a price are for sale', async () => {
  for (const planType of ['demo', 'enterprise', 'free', '', 'constructor'])
    await expect(open(planType)).rejects.toMatchObject({ code: 'invalid' })
  expect(await visits()).toEqual([])
})

test('sells nothing until plans are for sale, through any route', async () => {
  const ctx = { ...stack.ctx, config: { ...stack.ctx.config, plansForSale: false } }
  const calls = stack.stripe.calls().length
  await expect(createCheckout(ctx, owner(), { planType: 'basic' })).rejects.toMatchObject({
    code: 'not_offered',
    message: expect.stringContaining('Plans are not for sale yet.'),
  })
  expect([await visits(), stack.stripe.calls().length - calls]).toEqual([[], 0])
})

test('allows six pages an hour, even at once, with few calls to Stripe', async () => {
  const calls = () => stack.stripe.calls().length
  const counted = async (planType: string) => {
    const before = calls()
    await open(planType)
    return calls() - before
  }
  // First: find and make the customer, price, page. Second: close the page, price, page. Third: only read the page.
  expect([await counted('basic'), await counted('premium'), await counted('premium')]).toEqual([4, 3, 1])
  const before = calls()
  const tries = await Promise.allSettled(Array.from({ length: 17 }, () => open('premium')))
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  expect(calls() - before).toBe(3)
  stack.clock.now += HOUR - 1
  await expect(open('premium')).rejects.toMatchObject({
    code: 'too_many',
    retryAfter: 1,
    message: 'You opened too many checkout pages. Please try again in 1 second.',
  })
  stack.clock.now += 1
  await open('premium')
  // This limits nobody else.
  await another()
  await open('basic')
})

test('an answer that was lost before a deployment refuses nobody the page, whatever the new version asks', async () => {
  stack.stripe.inject('lost_response', 1, 3)
  await expectUnavailable(open('basic'))
  const moved = { ...stack.ctx, config: { ...stack.ctx.config, origins: ['https://new.test'] } }
  const { url } = await createCheckout(moved, owner(), { planType: 'basic' })
  expect(url).toMatch(/^http/)
  expect((await opened()).pages).toEqual(['open'])
})

test('a plan that cannot be sold for now shuts nobody in: they close their account, and buy once it can be', async () => {
  const { payments } = stack.ctx
  await another()
  stack.stripe.inject('lost_response', 1, 3)
  await expectUnavailable(open('basic'))
  const noPrice = { createCheckout: () => Promise.reject(new AppError('provider_failed', 'No such price.')) }
  const unsold = { ...stack.ctx, payments: { ...payments, ...noPrice } }
  await closeOpenCheckout(unsold, owner().id)
  expect([(await opened()).pages, (await visits()).map(({ status }) => status)]).toEqual([['expired'], ['expired']])
  await expect(createCheckout(unsold, owner(), { planType: 'basic' })).rejects.toMatchObject({
    code: 'provider_failed',
  })
  await expect(createCheckout(unsold, owner(), { planType: 'premium' })).rejects.toMatchObject({
    code: 'provider_failed',
  })
  await buy('premium')
  expect(await planStates()).toContainEqual(['premium', 'active'])
})

test('a page that Stripe no longer knows is over', async () => {
  await another()
  await open('basic')
  const [visit] = await visits()
  const where = eq(checkouts.id, visit?.id ?? '')
  await stack.db.update(checkouts).set({ stripeSessionId: 'cs_of_deleted_test_data' }).where(where)
  expect(await open('basic')).toMatchObject({ url: expect.stringMatching(/^http/) })
  expect((await visits()).map(({ status }) => status).sort()).toEqual(['expired', 'open'])
})

test('a page that opens after its checkout was closed is closed as well', async () => {
  const { payments } = stack.ctx
  await another()
  const opensLate: typeof payments.createCheckout = async (...args) => {
    await closeOpenCheckout(stack.ctx, owner().id)
    return payments.createCheckout(...args)
  }
  const slow = { ...stack.ctx, payments: { ...payments, createCheckout: opensLate } }
  await expect(createCheckout(slow, owner(), { planType: 'basic' })).rejects.toMatchObject({ code: 'conflict' })
  expect([(await opened()).pages, (await visits()).map(({ status }) => status)]).toEqual([['expired'], ['expired']])
})

test('reopening a page daily without paying delays no bill by more than 25 hours', async () => {
  stack.clock.now = Date.UTC(2030, 0, 15, 12)
  await another()
  const from = stack.clock.now
  const running = await stack.insertRun(owner().id, { from, until: null, confirmedAt: from + 200 * DAY })
  for (let day = 0; day < 105; day++) {
    await open('premium')
    await stack.passTime(stack.clock.now + DAY, 4 * HOUR)
    // Unpaid bills would stop the server.
    const unpaid = and(eq(invoices.userId, owner().id), eq(invoices.status, 'open'))
    for (const bill of await stack.db.select().from(invoices).where(unpaid)) {
      await stack.press(bill.hostedUrl)
      await syncInvoice(stack.ctx, bill.stripeInvoiceId ?? '')
    }
  }
  const { rows } = await stack.db.$client.execute(
    `SELECT period_end, created_at, amount_cents FROM billing_records WHERE user_id = '${owner().id}' ORDER BY period_start`,
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
  await expectUnavailable(open('basic'))
  stack.clock.now += HOUR - 1
  await open('basic')
  expect(await visits()).toHaveLength(1)
  await another()
  stack.stripe.inject('error', 1, 3)
  await expectUnavailable(open('basic'))
  stack.clock.now += HOUR
  await open('basic')
  expect((await visits()).map(({ status }) => status).sort()).toEqual(['expired', 'open'])
})

test('returning from an open page, or pressing Start, repeatedly asks Stripe at most 60 times an hour', async () => {
  await open('basic')
  const before = stack.stripe.calls().length
  const answers: boolean[] = []
  for (let i = 0; i < 70; i++) answers.push(await settleCheckout(stack.ctx, owner().id))
  expect(answers.filter(Boolean)).toHaveLength(60)
  expect(stack.stripe.calls().length - before).toBe(60)
  stack.clock.now += HOUR
  expect(await settleCheckout(stack.ctx, owner().id)).toBe(true)
})

test('asked twice, returns the same page; for another plan, closes the first page', async () => {
  const first = await open('basic')
  expect(await open('basic')).toEqual(first)
  const other = await open('premium')
  expect(other).not.toEqual(first)
  await expect(stack.press(first.url)).rejects.toThrow('400')
  await stack.press(other.url)
  await expect(open('basic')).rejects.toMatchObject({ code: 'invalid' })
  expect((await listPlans()).map((plan) => [plan.planType, plan.hours])).toEqual([['premium', 30]])
})

test('paid, no webhook yet, and the trial used up: a server starts at once, on the plan', async () => {
  await stack.insertPlan(owner().id, { planType: 'demo', subType: 'demo', status: 'trialing', hours: 0.5 })
  await stack.insertRun(owner().id, { from: stack.clock.now, until: stack.clock.now + HOUR / 2 })
  stack.clock.now += HOUR
  const start = () => startRun(stack.ctx, { user: owner() })
  await expect(start()).rejects.toMatchObject({ code: 'no_minutes' })
  const { url } = await open('basic')
  await expect(start()).rejects.toMatchObject({ code: 'no_minutes' })
  await stack.press(url)
  stack.stripe.inject('error')
  await expect(start()).rejects.toMatchObject({ code: 'no_minutes' })
  expect(stack.takeLines()).toMatchObject([{ event: 'payment_not_settled', userId: owner().id }])
  expect((await start()).job).toMatchObject({ kind: 'server_start', status: 'queued' })
  expect(await planStates()).toEqual([
    ['demo', 'ended'],
    ['basic', 'active'],
  ])
})

test.each(['error', 'lost_response', 'timeout'] as const)(
  '%s at each call in turn: the same page again, and never two',
  async (fault) => {
    // The calls: find and make the customer, look up the price, make the page.
    for (let call = 0; call < 4; call++) {
      await another()
      stack.stripe.inject(fault, 1, call)
      await expectUnavailable(open('basic'))
      const { url } = await open('basic')
      expect([call, await opened()]).toEqual([call, { customers: 1, pages: ['open'] }])
      await stack.press(url)
      expect(await visits()).toHaveLength(1)
    }
  },
)

test('closes no cycle while someone is at the checkout; once paid, the time belongs to the plan', async () => {
  stack.clock.now = Date.UTC(2028, 8, 30, 23)
  await another()
  await stack.insertRun(owner().id, { from: stack.clock.now, until: stack.clock.now + 2 * HOUR })
  stack.clock.now += HOUR / 2
  await pay('premium')
  // No webhook, and the cron at the end of the month runs first.
  stack.clock.now = Date.UTC(2028, 9, 1, 0, 10)
  await stack.db
    .update(checkouts)
    .set({ checkAt: stack.clock.now + HOUR })
    .where(eq(checkouts.userId, owner().id))
  await stack.passTime(stack.clock.now + 2 * HOUR, 20 * 60_000)
  const { rows } = await stack.db.$client.execute(
    `SELECT plan_type, seconds FROM billing_records WHERE user_id = '${owner().id}' ORDER BY period_start`,
  )
  expect(rows.map((row) => [row.plan_type, row.seconds])).toEqual([[null, 1800]])
})
