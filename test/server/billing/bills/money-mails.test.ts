import { and, eq, isNotNull } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { invoices } from '../../../../db/schema/billing.ts'
import { webhookDeliveries, webhooks } from '../../../../db/schema/events.ts'
import { runs } from '../../../../db/schema/fleet.ts'
import { outbox } from '../../../../db/schema/mail.ts'
import { requireAllowance } from '../../../../src/server/billing/allowance.ts'
import { setBudget } from '../../../../src/server/billing/bills/budget.ts'
import { mailUsedHours } from '../../../../src/server/billing/bills/hours-mails.ts'
import { syncInvoice } from '../../../../src/server/billing/bills/invoice-sync.ts'
import { getUsage, toSummary } from '../../../../src/server/billing/bills/usage.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { DAY, HOUR, MINUTE, openCustomer, START } from '../../../../testing/stack/billing-customer.ts'

const { stack, me, row: invoice, mails, subjects } = await openCustomer()

describe('the budget', () => {
  /** $1.00 is used up 2047 s after the plan's hours. */
  const USED_UP = START + 2047_000
  const webhook = () =>
    stack.db.insert(webhooks).values({
      id: newId('whk'),
      userId: me.user.id,
      url: 'https://example.com/',
      events: ['budget.reached'],
      secrets: [],
      createdAt: START,
    })
  const events = async () => {
    const rows = await stack.db.select().from(webhookDeliveries).where(eq(webhookDeliveries.userId, me.user.id))
    return rows.map(({ eventId, payload }) => ({ eventId, ...JSON.parse(payload) }))
  }
  const start = async (stops: boolean) => {
    await stack.insertPlan(me.user.id, { hours: 0 })
    await webhook()
    const id = await stack.insertRun(me.user.id, { from: START, until: null })
    await setBudget(stack.ctx, me.user.id, { dollars: 1, stops })
    return id
  }
  const lookAt = async (at: number) => {
    stack.clock.now = at
    await mailUsedHours(stack.ctx)
  }
  const runOf = async (id: string) => (await stack.db.select().from(runs).where(eq(runs.id, id)))[0]

  test('sends an email once a month, to the second, with the number on screen', async () => {
    const id = await start(false)
    await lookAt(START)
    expect((await runOf(id))?.hoursLookAt).toBe(USED_UP)
    await setBudget(stack.ctx, me.user.id, { dollars: 1, stops: false })
    await lookAt(USED_UP - 1)
    expect([await subjects(), await events()]).toEqual([[], []])
    await lookAt(USED_UP)
    await stack.db.update(runs).set({ hoursLookAt: START }).where(eq(runs.id, id))
    await Promise.all([mailUsedHours(stack.ctx), mailUsedHours(stack.ctx)])
    expect(await subjects()).toEqual(['Your budget of $1.00 is used up'])
    expect((await mails())[0]?.text).toContain('Since Jan 1, 2028, server time beyond your plan has cost $1.00.')
    expect((await mails())[0]?.text).toContain('A running server keeps running')
    expect(await events()).toMatchObject([
      {
        type: 'budget.reached',
        data: {
          budget: {
            dollars: 1,
            charged_dollars: 1,
            stops: false,
            period_start: '2028-01-01T00:00:00.000Z',
            period_end: '2028-02-01T00:00:00.000Z',
          },
        },
      },
    ])
    expect(await runOf(id)).toMatchObject({ endsAt: null, budgetCents: null })
    const { amountOwedDollars } = toSummary(await getUsage(stack.ctx, me.user.id)).monthlyUsage
    expect(amountOwedDollars).toBe(1)
    // The next month has its own budget.
    await stack.db.update(runs).set({ hoursLookAt: START }).where(eq(runs.id, id))
    await stack.db
      .update(users)
      .set({ billedUntil: Date.UTC(2028, 1, 1) })
      .where(eq(users.id, me.user.id))
    await lookAt(Date.UTC(2028, 1, 1) + 2047_000)
    expect((await subjects()).length).toBe(2)
    expect(new Set((await events()).map(({ eventId }) => eventId)).size).toBe(2)
  })

  test('ends the run if its owner wants that, and allows no start until it is raised', async () => {
    const id = await start(true)
    await lookAt(USED_UP - 1000)
    expect((await runOf(id))?.endsAt).toBeNull()
    await requireAllowance(stack.ctx, me.user.id)
    await lookAt(USED_UP)
    expect(await runOf(id)).toMatchObject({ endsAt: USED_UP, budgetCents: 100 })
    expect(stack.woken).toContain(me.user.id)
    // A later look bills nothing more.
    await stack.db.update(runs).set({ hoursLookAt: START }).where(eq(runs.id, id))
    await lookAt(USED_UP + 60_000)
    expect((await runOf(id))?.endsAt).toBe(USED_UP)
    expect((await mails())[0]?.text).toContain('we stop your server now')
    await expect(requireAllowance(stack.ctx, me.user.id)).rejects.toMatchObject({
      code: 'budget',
      page: '/settings/billing#budget',
    })
    await setBudget(stack.ctx, me.user.id, { dollars: 2, stops: true })
    await requireAllowance(stack.ctx, me.user.id)
    await setBudget(stack.ctx, me.user.id, { dollars: 1, stops: false })
    await requireAllowance(stack.ctx, me.user.id)
  })

  test('stops nothing if it is raised while we look', async () => {
    const id = await start(true)
    const { db } = stack.ctx
    stack.clock.now = USED_UP
    let raised = false
    const batch = async (queries: Parameters<typeof db.batch>[0]) => {
      const read = await db.batch(queries)
      const [[account]] = read as unknown as [[{ createdAt?: number; budgetCents?: number | null }?]]
      if (account?.budgetCents === 100 && account.createdAt === START) {
        raised = true
        await setBudget(stack.ctx, me.user.id, { dollars: 50, stops: true })
      }
      return read
    }
    const changing = new Proxy(db, { get: (target, name) => (name === 'batch' ? batch : Reflect.get(target, name)) })
    await mailUsedHours({ ...stack.ctx, db: changing })
    expect(raised).toBe(true)
    expect(await runOf(id)).toMatchObject({ endsAt: null })
    expect([await subjects(), await events()]).toEqual([[], []])
  })

  test('affects nobody else, and leaves an earlier end alone', async () => {
    const id = await start(true)
    const eve = await stack.newUser()
    await setBudget(stack.ctx, eve.id, { dollars: 9, stops: false })
    expect((await getUsage(stack.ctx, me.user.id)).budget).toEqual({ cents: 100, stops: true })
    await stack.db
      .update(runs)
      .set({ endsAt: USED_UP - 1000 })
      .where(eq(runs.id, id))
    await lookAt(USED_UP + 60_000)
    expect(await runOf(id)).toMatchObject({ endsAt: USED_UP - 1000, budgetCents: null })
  })
})

describe('the plan’s hours', () => {
  const running = async (id: string, now = stack.clock.now) => {
    await stack.db.update(runs).set({ confirmedAt: now, hoursLookAt: START }).where(eq(runs.id, id))
  }
  const lookAfter = async (ms: number) => {
    stack.clock.now += ms
    await mailUsedHours(stack.ctx)
  }
  const nextLook = async (id: string) =>
    (await stack.db.select().from(runs).where(eq(runs.id, id)))[0]?.hoursLookAt ?? null

  test('send an email at 80% and 100%, once each, to the second, with the numbers on screen', async () => {
    await stack.insertPlan(me.user.id, { hours: 0.5 })
    const run = await stack.insertRun(me.user.id, { from: START, until: null })
    await running(run)
    await lookAfter(24 * MINUTE - 1000)
    expect([await subjects(), await nextLook(run)]).toEqual([[], START + 24 * MINUTE])
    await lookAfter(1000)
    await Promise.all([mailUsedHours(stack.ctx), mailUsedHours(stack.ctx)])
    expect([await subjects(), await nextLook(run)]).toEqual([
      ['80% of your included hours are used'],
      START + 30 * MINUTE,
    ])
    expect((await mails())[0]?.text).toContain(
      "You've used 0.40 of the 0.5 hours that Basic includes until Feb 1, 2028.",
    )
    await running(run)
    await lookAfter(6 * MINUTE)
    await running(run)
    await lookAfter(MINUTE)
    expect((await subjects()).slice(1)).toEqual(['Your included hours are used up'])
  })

  test('when found late, send one email; a run that has ended gets one more look', async () => {
    await stack.insertPlan(me.user.id, { hours: 0.5 })
    const run = await stack.insertRun(me.user.id, { from: START, until: START + HOUR })
    await running(run)
    await lookAfter(2 * HOUR)
    expect([await subjects(), await nextLook(run)]).toEqual([['Your included hours are used up'], null])
  })

  test('are looked at for more servers than fit in one batch, even if the first ones fail', async () => {
    const eve = await stack.newUser()
    await setBudget(stack.ctx, eve.id, { dollars: 777, stops: false })
    for (const userId of [eve.id, me.user.id])
      for (let n = 0; n < 100; n++) {
        const id = await stack.insertRun(userId, { from: START, until: START + 1 })
        const hoursLookAt = userId === eve.id ? START + 1 : START + 2
        await stack.db.update(runs).set({ hoursLookAt }).where(eq(runs.id, id))
      }
    stack.clock.now = START + HOUR
    const { db } = stack.ctx
    const batch = async (queries: Parameters<typeof db.batch>[0]) => {
      const read = await db.batch(queries)
      const [[account]] = read as unknown as [[{ budgetCents?: number | null }?]]
      if (account?.budgetCents === 77_700) throw new Error('This account is broken.')
      return read
    }
    const failing = new Proxy(db, { get: (target, name) => (name === 'batch' ? batch : Reflect.get(target, name)) })
    const failed: unknown[] = []
    const log = (event: string) => void failed.push(event)
    await mailUsedHours({ ...stack.ctx, db: failing, log })
    const dueOf = (userId: string) => stack.db.$count(runs, and(eq(runs.userId, userId), isNotNull(runs.hoursLookAt)))
    expect([failed.length, await dueOf(eve.id), await dueOf(me.user.id)]).toEqual([100, 100, 0])
  })

  test('send no email in a trial, without a plan, or to a closed account; with more hours, the count starts over', async () => {
    const run = await stack.insertRun(me.user.id, { from: START, until: null })
    await running(run)
    await lookAfter(HOUR)
    await stack.insertPlan(me.user.id, {
      planType: 'demo',
      subType: 'demo',
      status: 'trialing',
      hours: 0.5,
      anchor: START,
    })
    await running(run)
    await lookAfter(0)
    expect(await subjects()).toEqual([])
    await stack.db.delete(outbox)

    me.user = await stack.newUser(START)
    await stack.insertPlan(me.user.id, { hours: 0.5, anchor: START })
    const closed = await stack.insertRun(me.user.id, { from: START, until: null })
    await stack.db.update(users).set({ closedAt: stack.clock.now }).where(eq(users.id, me.user.id))
    await running(closed)
    await lookAfter(0)
    expect(await subjects()).toEqual([])

    await stack.db.update(users).set({ closedAt: null }).where(eq(users.id, me.user.id))
    await running(closed)
    await lookAfter(0)
    await stack.db.$client.execute(`UPDATE subscriptions SET hours = 1.1 WHERE user_id = '${me.user.id}'`)
    await running(closed)
    await lookAfter(0)
    expect(await subjects()).toEqual(['Your included hours are used up', '80% of your included hours are used'])
    // A downgrade that took effect with this period, and that we heard of late.
    await stack.db.$client.execute(`UPDATE subscriptions SET hours = 0.4 WHERE user_id = '${me.user.id}'`)
    await running(closed)
    await lookAfter(0)
    expect(await subjects()).toHaveLength(2)
  })
})

test('an invoice: ready, due in 3 days, and overdue, once each whatever is repeated, with the numbers of the bill', async () => {
  await stack.insertRun(me.user.id, { from: START, until: START + 3 * HOUR })
  await stack.passTime(Date.UTC(2028, 1, 1, 1), HOUR * 12)
  const sync = async () => syncInvoice(stack.ctx, (await invoice())?.stripeInvoiceId ?? '')
  await sync()
  await Promise.all([sync(), sync()])
  const found = await invoice()
  const dueAt = found?.dueAt ?? 0
  expect(await subjects()).toEqual([expect.stringMatching(/^Your invoice: \$5\.25, due Feb 16, 2028$/)])
  const [ready] = await mails()
  expect(ready?.text).toContain('$5.25 for 10,800 s of server time. Please pay it by Feb 16, 2028.')
  expect(ready?.text).toContain(`Pay $5.25:\n${found?.hostedUrl}`)
  expect(ready?.text).toContain(`http://site.test/billing_history/${found?.billId}`)
  // To the minute, although we check it daily.
  await stack.passTime(dueAt - 3 * DAY - MINUTE, 6 * HOUR)
  expect(await subjects()).toHaveLength(1)
  await stack.passTime(dueAt - 3 * DAY + MINUTE, MINUTE)
  await sync()
  expect((await subjects()).slice(1)).toEqual(['$5.25 is due on Feb 16, 2028'])
  await stack.passTime(dueAt + DAY, 6 * HOUR)
  expect((await subjects()).slice(2)).toEqual(['Account suspended: $5.25 is overdue'])
  await stack.press(found?.hostedUrl)
  await sync()
  await sync()
  expect((await subjects()).slice(3)).toEqual(['We received $5.25'])
  // As if an earlier version, which kept no numbers, had stored it.
  const { number, billId = '' } = (await invoice()) ?? {}
  expect(number).toMatch(/^PG-/)
  const due = { number: null, nextAt: stack.clock.now }
  await stack.db.update(invoices).set(due).where(eq(invoices.billId, billId))
  await stack.passTime(stack.clock.now + DAY)
  expect(await invoice()).toMatchObject({ number, nextAt: null })
  expect(await subjects()).toHaveLength(4)
})

test('we thank nobody who never got an invoice, and a closed account gets nothing', async () => {
  await stack.insertRun(me.user.id, { from: START, until: START + 3 * HOUR })
  await stack.db
    .update(users)
    .set({ closedAt: START + 4 * HOUR })
    .where(eq(users.id, me.user.id))
  await stack.passTime(START + DAY, HOUR)
  expect(await subjects()).toEqual([])
  await stack.db.update(users).set({ closedAt: null }).where(eq(users.id, me.user.id))
  await stack.press((await invoice())?.hostedUrl)
  await syncInvoice(stack.ctx, (await invoice())?.stripeInvoiceId ?? '')
  expect([(await invoice())?.status, await subjects()]).toEqual(['paid', []])
})
