import { asc, eq } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { checkouts, plans, stripeEvents } from '../../../db/schema/billing.ts'
import { signature } from '../../../dev/stripe/webhooks.ts'
import type { User } from '../../../src/domain/wire/accounts.ts'
import { cancelAtPeriodEnd } from '../../../src/server/billing/plans/cancel-plan.ts'
import { syncPlan } from '../../../src/server/billing/plans/plan-sync.ts'
import { stripePayments } from '../../../src/server/billing/stripe.ts'
import { receiveStripeEvent } from '../../../src/server/billing/stripe-events.ts'
import { openBillingStack } from '../../../testing/stack/billing-stack.ts'
import { type PlanEvent, planEvents } from '../../../testing/world/plan-events.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const stack = await openBillingStack(Date.UTC(2028, 0, 31, 9))
const { demoUser, live, eventsOf, deliver } = planEvents(stack)

describe('webhooks of a subscription', () => {
  /** What the database holds, without ids and write times. */
  async function stateOf(user: User) {
    const planRows = await stack.db.select().from(plans).where(eq(plans.userId, user.id)).orderBy(asc(plans.anchor))
    const visits = await stack.db.select().from(checkouts).where(eq(checkouts.userId, user.id))
    const [first] = planRows
    const since = (at: number | null) => (at === null ? null : at - (first?.anchor ?? 0))
    return {
      plans: planRows.map((p) => [p.planType, p.status, since(p.anchor), since(p.cancelAt), since(p.endedAt), p.hours]),
      visits: visits.map((v) => v.status),
    }
  }

  test('the plan starts, the trial ends there, and a running server keeps running', async () => {
    const user = await demoUser()
    const running = await stack.insertRun(user.id, { from: stack.clock.now, until: null })
    await stack.db.run(`UPDATE server_sessions SET must_stop_at = ${stack.clock.now + HOUR} WHERE id = '${running}'`)
    await live(user)
    for (const event of await eventsOf(user)) await deliver(event)
    expect(await stateOf(user)).toEqual({
      plans: [
        ['demo', 'ended', 0, null, DAY, 0.5],
        ['basic', 'active', DAY, null, null, 5],
      ],
      visits: ['complete'],
    })
    const { rows } = await stack.db.$client.execute(`SELECT must_stop_at FROM server_sessions WHERE id = '${running}'`)
    expect(rows[0]?.must_stop_at).toBeNull()
  })

  test('any order, each event twice and late: the same result', async () => {
    const permutations = <T>(list: T[]): T[][] =>
      list.length < 2
        ? [list]
        : list.flatMap((item, i) => permutations([...list.slice(0, i), ...list.slice(i + 1)]).map((p) => [item, ...p]))
    const states: unknown[] = []
    for (const order of permutations([0, 1, 2, 3])) {
      stack.clock.now = Math.ceil(stack.clock.now / DAY) * DAY
      const user = await demoUser()
      await live(user)
      const [plan] = (await eventsOf(user)).filter((e) => e.type === 'customer.subscription.created')
      stack.clock.now += DAY
      await stack.ctx.payments.cancelAtPeriodEnd(plan?.data.object.id ?? '', user.id)
      stack.clock.now += 27 * DAY
      await stack.stripe.settle()
      stack.clock.now += 5 * DAY
      await stack.stripe.settle()
      const events = await eventsOf(user)
      expect(events.map((e) => e.type)).toEqual([
        'customer.subscription.created',
        'checkout.session.completed',
        'customer.subscription.updated',
        'customer.subscription.deleted',
      ])
      for (const i of [...order, ...order]) await deliver(events[i] as PlanEvent)
      const { plans: planRows, visits } = await stateOf(user)
      states.push({ plans: planRows.map(([type, status]) => [type, status]), visits })
      const [demo, paid] = planRows
      expect(demo?.[4]).toBe(DAY)
      expect(paid?.[4]).toBe(paid?.[3])
      expect(paid?.[4]).toBeGreaterThanOrEqual(29 * DAY)
    }
    const [ended] = states
    expect(ended).toEqual({
      plans: [
        ['demo', 'ended'],
        ['basic', 'canceled'],
      ],
      visits: ['complete'],
    })
    expect(states).toEqual(states.map(() => ended))
  })

  test('an event is recorded with its effect, and a failed one comes again', async () => {
    const user = await demoUser()
    await live(user)
    const [event] = await eventsOf(user)
    if (!event) throw new Error('no event')
    stack.stripe.inject('error')
    await expect(deliver(event)).rejects.toMatchObject({ code: 'unavailable' })
    const noted = () => stack.db.select().from(stripeEvents).where(eq(stripeEvents.id, event.id))
    expect(await noted()).toEqual([])
    await deliver(event)
    expect(await noted()).toHaveLength(1)
    const calls = stack.stripe.calls().length
    await deliver(event)
    expect(stack.stripe.calls()).toHaveLength(calls)
  })

  test('a plan that Stripe ends late ended when it was due to end', async () => {
    const user = await demoUser()
    await live(user)
    const events = await eventsOf(user)
    for (const event of events) await deliver(event)
    await cancelAtPeriodEnd(stack.ctx, user)
    const planOf = async () => {
      const planRows = await stack.db.select().from(plans).where(eq(plans.userId, user.id))
      return planRows.find((plan) => plan.subType === 'paid')
    }
    const { cancelAt, stripeSubscriptionId } = (await planOf()) ?? {}
    const end = cancelAt ?? 0
    stack.clock.now = end + HOUR
    const { payments } = stack.ctx
    const late = async (id: string) => {
      const found = await payments.findSubscription(id)
      return found && { ...found, status: 'canceled', endedAt: end + HOUR / 2 }
    }
    await syncPlan({ ...stack.ctx, payments: { ...payments, findSubscription: late } }, stripeSubscriptionId ?? '')
    expect(await planOf()).toMatchObject({ status: 'canceled', cancelAt: end })
    await stack.insertRun(user.id, { from: end + 60_000, until: end + 60_000 + HOUR / 4 })
    await stack.passTime(end + 35 * DAY)
    const records = await stack.billsOf(user.id)
    expect(records.map((r) => [r.planType, r.seconds, r.amountCents])).toEqual([
      ['demo', 60, 0],
      ['basic', 0, 0],
      [null, 900, 44],
    ])
  })

  test('a plan that ends before a late renewal ended with its last period, and nobody gets hours for the time since', async () => {
    const user = await demoUser()
    await live(user)
    for (const event of await eventsOf(user)) await deliver(event)
    const planRows = await stack.db.select().from(plans).where(eq(plans.userId, user.id))
    const id = planRows.find((plan) => plan.subType === 'paid')?.stripeSubscriptionId ?? ''
    const end = (await stack.ctx.payments.findSubscription(id))?.periodEnd ?? 0
    stack.stripe.renewLateBy(3600)
    stack.clock.now = end + HOUR / 2
    await stack.ctx.payments.cancelNow(id)
    stack.stripe.renewLateBy(0)
    expect(await stack.atStripe(`subscriptions/${id}`)).toMatchObject({ ended_at: (end + HOUR / 2) / 1000 })
    await syncPlan(stack.ctx, id)
    expect(await stack.ctx.payments.findSubscription(id)).toMatchObject({ endedAt: end })
    await stack.insertRun(user.id, { from: end + 60_000, until: end + 60_000 + HOUR / 4 })
    await stack.passTime(end + 35 * DAY)
    const records = await stack.billsOf(user.id)
    expect(records.map((r) => [r.planType, r.seconds, r.amountCents])).toEqual([
      ['demo', 60, 0],
      ['basic', 0, 0],
      [null, 900, 44],
    ])
  })

  test('a plan whose price we no longer know stays what it was, and ends when Stripe ends it', async () => {
    const user = await demoUser()
    await live(user)
    const [event] = await eventsOf(user)
    if (!event) throw new Error('no event')
    await deliver(event)
    const { payments } = stack.ctx
    const unknown = async (id: string) => {
      const found = await payments.findSubscription(id)
      return found && { ...found, planType: null }
    }
    const ctx = { ...stack.ctx, payments: { ...payments, findSubscription: unknown } }
    await cancelAtPeriodEnd(ctx, user)
    const [plan] = (await stateOf(user)).plans.slice(-1)
    expect(plan).toEqual(['basic', 'active', DAY, expect.any(Number), null, 5])
  })

  test('an event about an invoice we do not have yet is recorded', async () => {
    const payload = JSON.stringify({
      id: 'evt_upcoming',
      object: 'event',
      type: 'invoice.upcoming',
      data: { object: { object: 'invoice' } },
    })
    const signed = signature(payload, 'whsec_local', Math.floor(stack.clock.now / 1000))
    await receiveStripeEvent(stack.ctx, { payload, signature: signed })
    const noted = await stack.db.select().from(stripeEvents).where(eq(stripeEvents.id, 'evt_upcoming'))
    expect(noted).toHaveLength(1)
  })

  test('an older answer never overwrites a newer one', async () => {
    const user = await demoUser()
    await live(user)
    const [event] = await eventsOf(user)
    if (!event) throw new Error('no event')
    await deliver(event)
    const [before] = await stack.db.select().from(plans).where(eq(plans.stripeSubscriptionId, event.data.object.id))
    const { payments } = stack.ctx
    const stale = await payments.findSubscription(event.data.object.id)
    const slow = {
      ...stack.ctx,
      payments: { ...payments, findSubscription: async () => stale },
      now: () => stack.clock.now - 1000,
    }
    stack.clock.now += 5000
    await cancelAtPeriodEnd(stack.ctx, user)
    const payload = JSON.stringify({ ...event, id: `${event.id}_again` })
    const signed = signature(payload, 'whsec_local', Math.floor(stack.clock.now / 1000))
    await receiveStripeEvent(slow, { payload, signature: signed })
    const [after] = await stack.db
      .select()
      .from(plans)
      .where(eq(plans.id, before?.id ?? ''))
    expect(after?.cancelAtPeriodEnd).toBe(true)
  })
})

describe("a webhook's signature", () => {
  const payload = JSON.stringify({ id: 'evt_x', object: 'event', type: 'x', data: { object: {} } })
  const at = () => Math.floor(stack.clock.now / 1000)
  const read = (signed: string) => stack.ctx.payments.readEvent(payload, signed, stack.clock.now)

  test.each(['', 't=1', 'v1=', 't=,v1=', 't=NaN,v1=00', 'v0=00'])('rejects %o', async (signed) => {
    await expect(read(signed)).rejects.toMatchObject({ code: 'malformed' })
    await expect(receiveStripeEvent(stack.ctx, { payload, signature: signed })).rejects.toMatchObject({
      code: 'malformed',
    })
  })

  test('counts with either secret while the secret is rotated', async () => {
    const rotated = stripePayments({ STRIPE_SECRET_KEY: 'sk_test', STRIPE_WEBHOOK_SECRET: 'whsec_new, whsec_local' })
    const readWith = (secret: string) => rotated.readEvent(payload, signature(payload, secret, at()), stack.clock.now)
    for (const secret of ['whsec_new', 'whsec_local'])
      expect(await readWith(secret)).toMatchObject({ id: 'evt_x', about: 'other' })
    await expect(readWith('whsec_older')).rejects.toMatchObject({ code: 'malformed' })
  })

  test('is valid for five minutes, and only with our secret', async () => {
    expect(await read(signature(payload, 'whsec_local', at() - 300))).toMatchObject({ id: 'evt_x', about: 'other' })
    for (const signed of [
      signature(payload, 'whsec_local', at() - 301),
      signature(payload, 'whsec_local', at() - 3600),
      signature(payload, 'whsec_other', at()),
      signature(`${payload} `, 'whsec_local', at()),
    ])
      await expect(read(signed)).rejects.toMatchObject({ code: 'malformed' })
  })
})
