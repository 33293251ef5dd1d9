import { eq, like } from 'drizzle-orm'
import { expect, test, vi } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { plans } from '../../../../db/schema/billing.ts'
import { outbox } from '../../../../db/schema/mail.ts'
import { alerts as told } from '../../../../db/schema/operations.ts'
import { settleCheckout } from '../../../../src/server/billing/plans/checkout.ts'
import { checkPlan, syncPlan } from '../../../../src/server/billing/plans/plan-sync.ts'
import type { Context } from '../../../../src/server/runtime/context.ts'
import { openPlanOwner } from '../../../../testing/people/plan-owner.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'

const HOUR = 3_600_000

const { stack, owner, another, listPlans, open, pay, buy, soldId, cancel, hear, says } = await openPlanOwner(
  Date.UTC(2028, 0, 10, 9) + 700,
)
const alerts = async () =>
  (await stack.db.select().from(outbox).where(eq(outbox.recipient, 'operator@site.test'))).map((m) => m.subject)
const shown = async () => (await listPlans()).map((p) => [p.planType, p.status, p.endedAt === null])

test('a plan whose payments were read at the very moment of its end is checked no more', async () => {
  const { stripeId: id } = await buy('basic')
  stack.clock.now = Math.ceil(stack.clock.now / 1000) * 1000
  await stack.ctx.payments.cancelNow(id)
  await checkPlan(stack.ctx, id)
  expect(await listPlans()).toMatchObject([{ endedAt: stack.clock.now, checkAt: null }])
})

test('two Stripe plans written at the same moment: the second is canceled and the operator alerted', async () => {
  const { stripeId: first } = await buy('basic')
  const { payments } = stack.ctx
  const [row] = await listPlans()
  await stack.db.delete(plans).where(eq(plans.userId, owner().id))
  const second = { ...(await payments.findSubscription(first)), id: 'sub_second' }
  const cancelNow = vi.fn(async () => {})
  // The first one's row is written after the second's sync has looked for rivals.
  const { batch } = stack.db
  const spy = vi.spyOn(stack.db, 'batch').mockImplementationOnce(async (queries) => {
    const rows = await batch.call(stack.db, queries)
    if (row) await stack.db.insert(plans).values(row)
    return rows as never
  })
  const findSubscription = async (id: string) => (id === first ? payments.findSubscription(id) : second)
  await syncPlan({ ...stack.ctx, payments: { ...payments, cancelNow, findSubscription } } as Context, 'sub_second')
  spy.mockRestore()
  expect(cancelNow).toHaveBeenCalledWith('sub_second')
  expect(await shown()).toEqual([['basic', 'active', true]])
  expect(await alerts()).toContain('A second plan was canceled: refund it')
  expect(inBrief(stack.takeLines())).toEqual(['alert second_plan_canceled:sub_second'])
})

test.each(['answer', 'mail'])(
  'a second one, canceled just as the %s is lost: the next check alerts the operator',
  async (cut) => {
    const { stripeId: first } = await buy('basic')
    const { payments } = stack.ctx
    const customerId = (await payments.findSubscription(first))?.customerId ?? ''
    const [successUrl, cancelUrl] = ['http://site.test/a', 'http://site.test/b']
    const page = { customerId, userId: owner().id, planType: 'premium' as const, successUrl, cancelUrl }
    stack.clock.now += HOUR
    await stack.press((await payments.createCheckout(page, `second:${cut}`)).url)
    const second = await soldId()
    const cancelNow = async (id: string) => {
      await payments.cancelNow(id)
      throw new Error('No answer came.')
    }
    const dying = cut === 'answer' ? { payments: { ...payments, cancelNow } } : { config: undefined }
    await syncPlan({ ...stack.ctx, ...dying } as unknown as Context, second).catch(() => {})
    expect((await payments.findSubscription(second))?.status).toBe('canceled')
    await syncPlan(stack.ctx, second)
    expect(await shown()).toEqual([['basic', 'active', true]])
    const matter = `second_plan_canceled:${second}`
    expect((await stack.db.select().from(told)).map((row) => row.matter)).toContain(matter)
    const lost = [`alert ${matter}`, `alert_not_mailed ${matter}`]
    expect(inBrief(stack.takeLines())).toEqual([...(cut === 'mail' ? lost : []), `alert ${matter}`])
  },
)

test('a sync that changes nothing never delays a closing, however often it runs', async () => {
  const dueAt = async () => (await stack.db.select().from(users).where(eq(users.id, owner().id)))[0]?.billingDueAt
  await buy('basic')
  await stack.passTime(stack.clock.now + HOUR, HOUR)
  const due = await dueAt()
  await hear()
  expect(await dueAt()).toBe(due)
  await cancel()
  expect(await dueAt()).toBe(stack.clock.now)
  await cancel()
  expect(await dueAt()).toBe(stack.clock.now)
  await another()
  await stack.insertPlan(owner().id)
  for (let n = 0; n < 3; n++) await cancel()
  expect(await dueAt()).toBe(-1)
})

test('a write the database keeps refusing is a conflict and an alert; we retry hourly until it is recorded', async () => {
  await pay('basic')
  await stack.db.run(`CREATE TRIGGER refuse BEFORE INSERT ON subscriptions WHEN NEW.user_id = '${owner().id}'
    BEGIN SELECT RAISE(ABORT, 'UNIQUE constraint failed: subscriptions.user_id'); END`)
  for (const ask of [() => settleCheckout(stack.ctx, owner().id), () => open('basic')])
    await expect(ask()).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('been notified') })
  expect(await alerts()).toContain("We couldn't record a paid plan")
  const line = `alert plan_not_recorded:${await soldId()}`
  expect(inBrief(stack.takeLines())).toEqual([line, line])
  await stack.db.run('DROP TRIGGER refuse')
  await stack.passTime(stack.clock.now + 2 * HOUR, HOUR)
  expect(await shown()).toEqual([['basic', 'active', true]])
})

test('bought at a price that has since lost its key: the plan we wrote on it', async () => {
  await pay('premium')
  const found = await stack.ctx.payments.findSubscription(await soldId())
  await settleCheckout(says(found, { planType: null }), owner().id)
  expect((await listPlans()).map((p) => [p.planType, p.hours])).toEqual([['premium', 30]])
})

test('an unknown user or plan: writes nothing and alerts the operator', async () => {
  await pay('premium')
  const found = await stack.ctx.payments.findSubscription(await soldId())
  const toldOf = async (id: string, strange: object) => {
    await syncPlan(says(found, { ...strange, id }), id)
    const mails = await stack.db
      .select()
      .from(outbox)
      .where(like(outbox.text, `%${id}%`))
    return mails.map(({ recipient, subject, text }) => [recipient, subject, /\w+ \w+ is not ours/.exec(text)?.[0]])
  }
  const [userId, price] = [{ userId: 'user_nobody' }, { planType: null, boughtAs: null }]
  const told = ['operator@site.test', "A Stripe subscription doesn't match any of our plans"]
  expect(await toldOf('sub_of_nobody', userId)).toEqual([[...told, 'its user is not ours']])
  expect(await toldOf('sub_at_no_price', price)).toEqual([[...told, 'its price is not ours']])
  // What is over costs nobody anything.
  expect(await toldOf('sub_over', { ...userId, endedAt: stack.clock.now })).toEqual([])
  const ignored = ['sub_of_nobody', 'sub_at_no_price'].map((id) => `alert subscription_ignored:${id}`)
  expect(inBrief(stack.takeLines())).toEqual(ignored)
  expect(await listPlans()).toEqual([])
})
