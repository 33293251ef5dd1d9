import { asc, eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { invoices, outbox, runs, users } from '../../../../db/schema.ts'
import type { User } from '../../../../src/domain/wire.ts'
import { mailUsedHours } from '../../../../src/server/billing/bills/hours-mails.ts'
import { syncInvoice } from '../../../../src/server/billing/bills/invoice-sync.ts'
import { type BillingStack, openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const START = Date.UTC(2028, 0, 1)

describe('emails about money', () => {
  let stack: BillingStack
  let user: User
  beforeAll(async () => {
    stack = await openBillingStack(START)
  })
  beforeEach(async () => {
    await stack.forgetEverybody()
    stack.clock.now = START
    user = await stack.newUser()
  })
  afterAll(() => stack.close())
  afterEach(() => expect(inBrief(stack.takeLines())).toEqual([]))

  const mails = async () =>
    stack.db.select().from(outbox).where(eq(outbox.recipient, user.email)).orderBy(asc(outbox.createdAt))
  const subjects = async () => (await mails()).map(({ subject }) => subject)
  const invoice = async () => (await stack.db.select().from(invoices).where(eq(invoices.userId, user.id)))[0]

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
      await stack.insertPlan(user.id, { hours: 0.5 })
      const run = await stack.insertRun(user.id, { from: START, until: null })
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
      await stack.insertPlan(user.id, { hours: 0.5 })
      const run = await stack.insertRun(user.id, { from: START, until: START + HOUR })
      await running(run)
      await lookAfter(2 * HOUR)
      expect([await subjects(), await nextLook(run)]).toEqual([['Your included hours are used up'], null])
    })

    test('send no email in a trial, without a plan, or to a closed account; with more hours, the count starts over', async () => {
      const run = await stack.insertRun(user.id, { from: START, until: null })
      await running(run)
      await lookAfter(HOUR)
      await stack.insertPlan(user.id, {
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

      user = await stack.newUser(START)
      await stack.insertPlan(user.id, { hours: 0.5, anchor: START })
      const closed = await stack.insertRun(user.id, { from: START, until: null })
      await stack.db.update(users).set({ closedAt: stack.clock.now }).where(eq(users.id, user.id))
      await running(closed)
      await lookAfter(0)
      expect(await subjects()).toEqual([])

      await stack.db.update(users).set({ closedAt: null }).where(eq(users.id, user.id))
      await running(closed)
      await lookAfter(0)
      await stack.db.$client.execute(`UPDATE subscriptions SET hours = 1.1 WHERE user_id = '${user.id}'`)
      await running(closed)
      await lookAfter(0)
      expect(await subjects()).toEqual(['Your included hours are used up', '80% of your included hours are used'])
    })
  })

  test('an invoice: ready, due in 3 days, and overdue, once each whatever is repeated, with the numbers of the bill', async () => {
    await stack.insertRun(user.id, { from: START, until: START + 3 * HOUR })
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
  })

  test('we thank nobody who never got an invoice, and a closed account gets nothing', async () => {
    await stack.insertRun(user.id, { from: START, until: START + 3 * HOUR })
    await stack.db
      .update(users)
      .set({ closedAt: START + 4 * HOUR })
      .where(eq(users.id, user.id))
    await stack.passTime(START + DAY, HOUR)
    expect(await subjects()).toEqual([])
    await stack.db.update(users).set({ closedAt: null }).where(eq(users.id, user.id))
    await stack.press((await invoice())?.hostedUrl)
    await syncInvoice(stack.ctx, (await invoice())?.stripeInvoiceId ?? '')
    expect([(await invoice())?.status, await subjects()]).toEqual(['paid', []])
  })
})
