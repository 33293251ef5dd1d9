import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { invoices, plans } from '../../../../db/schema/billing.ts'
import { webhookDeliveries, webhooks } from '../../../../db/schema/events.ts'
import { runs } from '../../../../db/schema/fleet.ts'
import { findStatement } from '../../../../src/server/billing/bills/billing-history.ts'
import { closeDueCycles, dueQuery } from '../../../../src/server/billing/bills/close-cycles.ts'
import { openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { noLog } from '../../../../testing/stack/no-log.ts'

const utc = (text: string) => Date.parse(`${text}Z`)
const HOUR = 3_600_000
const MINUTE = 60_000

const stack = await openBillingStack(utc('2028-01-31T08:30:00'))
const { billsOf } = stack

const at = (text: string) => {
  stack.clock.now = utc(text)
}

test('splits a run at a boundary, each part in its own record, even after an outage of months', async () => {
  at('2028-01-31T08:30:00')
  const user = await stack.newUser()
  await stack.insertPlan(user.id)
  await stack.insertRun(user.id, { from: utc('2028-02-28T20:00:00'), until: utc('2028-03-01T20:00:00') })
  at('2028-06-01T00:00:00')
  await closeDueCycles(stack.ctx)
  const records = await billsOf(user.id)
  expect(records.map((r) => [new Date(r.periodEnd).toISOString().slice(0, 16), r.seconds, r.amountCents])).toEqual([
    ['2028-02-29T08:30', 12.5 * 3600, Math.round(7.5 * 3600 * 0.04861)],
    ['2028-03-31T08:30', 35.5 * 3600, Math.round(30.5 * 3600 * 0.04861)],
    ['2028-04-30T08:30', 0, 0],
    ['2028-05-31T08:30', 0, 0],
  ])
  const billRows = await stack.db.select().from(invoices).where(eq(invoices.userId, user.id))
  expect(billRows.map((bill) => bill.billId).sort()).toEqual(
    records
      .filter((r) => r.amountCents > 0)
      .map((r) => r.id)
      .sort(),
  )
})

test("follows what changes a month's cost after a run has ended, and has each run's part of its bills", async () => {
  at('2028-01-31T08:30:00')
  const user = await stack.newUser()
  await stack.insertPlan(user.id)
  const first = await stack.insertRun(user.id, {
    from: utc('2028-02-10T00:00:00.500'),
    until: utc('2028-02-10T06:00:00.200'),
  })
  const second = await stack.insertRun(user.id, { from: utc('2028-02-11T00:00:00'), until: utc('2028-02-11T06:00:00') })
  const costs = async () => {
    const rows = await stack.db.select().from(runs).where(eq(runs.userId, user.id)).orderBy(runs.billedFrom)
    return rows.map(({ costUnits }) => (costUnits ?? 0) / 4861)
  }
  const look = async (hours: number) => {
    await stack.db.update(plans).set({ hours }).where(eq(plans.userId, user.id))
    await dueQuery(stack.db, user.id, stack.clock.now)
    await closeDueCycles(stack.ctx)
  }
  at('2028-02-20T00:00:00')
  await look(5)
  expect(await costs()).toEqual([3_599, 21_600])
  // An upgrade covers all of its month.
  await look(17.5)
  expect(await costs()).toEqual([0, 0])
  await look(8)
  expect(await costs()).toEqual([0, 14_399])
  const over = await stack.insertRun(user.id, { from: utc('2028-02-29T08:00:00'), until: utc('2028-02-29T16:30:00') })
  at('2028-03-05T00:00:00')
  await look(8)
  // Its first month is billed, and it costs what it did.
  await stack.db.update(runs).set({ costUnits: 1 }).where(eq(runs.id, over))
  await look(8)
  expect(await costs()).toEqual([0, 14_399, 1_800])
  at('2028-03-31T08:40:00')
  await look(8)
  const bills = await billsOf(user.id)
  const parts: Record<string, number> = {}
  for (const { id } of bills)
    for (const line of (await findStatement(stack.ctx, user.id, id))?.lines ?? [])
      parts[line.session_id] = (parts[line.session_id] ?? 0) + Math.round((line.dollars * 1e7) / 4861)
  // Half an hour of it is in the first month, whose hours were used up, and eight are in the second.
  expect(parts).toEqual({ [first]: 0, [second]: 14_399, [over]: 1_800 })
  expect(await costs()).toEqual([0, 14_399, 1_800])
})

test("a run's cost that changes while we count it stays", async () => {
  at('2028-01-31T08:30:00')
  const user = await stack.newUser()
  await stack.insertPlan(user.id)
  await stack.insertRun(user.id, { from: utc('2028-02-10T00:00:00'), until: utc('2028-02-10T08:00:00') })
  at('2028-02-20T00:00:00')
  await dueQuery(stack.db, user.id, stack.clock.now)
  const client = stack.db.$client
  const { batch } = client
  let isWriting = false
  client.batch = (async (...asked: Parameters<typeof batch>) => {
    if (!isWriting && JSON.stringify(asked).includes('SET cost_units')) {
      isWriting = true
      // As a credit for a part of it does.
      await stack.db.update(runs).set({ costUnits: 7 }).where(eq(runs.userId, user.id))
    }
    return batch(...asked)
  }) as typeof batch
  await closeDueCycles(stack.ctx)
  client.batch = batch
  expect(isWriting).toBe(true)
  expect(await stack.db.select({ units: runs.costUnits }).from(runs).where(eq(runs.userId, user.id))).toEqual([
    { units: 7 },
  ])
})

test('asks the database for no old run, also beside someone who is years behind', async () => {
  at('2028-01-31T08:30:00')
  const [user, behind] = [await stack.newUser(), await stack.newUser()]
  await stack.insertRun(user.id, { from: utc('2028-02-10T00:00:00'), until: utc('2028-02-10T06:00:00') })
  at('2028-06-01T00:00:00')
  await closeDueCycles(stack.ctx)
  await stack.db
    .update(users)
    .set({ billedUntil: utc('2028-02-01T00:00:00') })
    .where(eq(users.id, behind.id))
  // Whoever asks for its cost puts this right.
  await stack.db.update(runs).set({ costUnits: 1 }).where(eq(runs.userId, user.id))
  for (const { id } of [user, behind]) await dueQuery(stack.db, id, stack.clock.now)
  await closeDueCycles(stack.ctx)
  expect(await stack.db.select({ units: runs.costUnits }).from(runs).where(eq(runs.userId, user.id))).toEqual([
    { units: 1 },
  ])
})

test('tells the webhooks of each bill once, as the API lists it', async () => {
  at('2028-01-31T08:30:00')
  const user = await stack.newUser()
  const hook = { userId: user.id, url: 'https://example.com/', secrets: [], createdAt: 0 }
  await stack.db.insert(webhooks).values({ ...hook, id: `whk_${user.id}`, events: ['bill.closed'] })
  await stack.insertPlan(user.id)
  await stack.insertRun(user.id, { from: utc('2028-02-10T00:00:00'), until: utc('2028-02-10T10:00:00') })
  at('2028-03-01T00:00:00')
  await Promise.all([closeDueCycles(stack.ctx), closeDueCycles(stack.ctx)])
  const [record] = await billsOf(user.id)
  const told = await stack.db.select().from(webhookDeliveries).where(eq(webhookDeliveries.userId, user.id))
  expect(told.map(({ payload }) => JSON.parse(payload))).toEqual([
    {
      type: 'bill.closed',
      timestamp: '2028-03-01T00:00:00.000Z',
      data: {
        billing: expect.objectContaining({
          id: record?.id,
          kind: 'usage',
          start_date: '2028-01-31',
          seconds_used: 36_000,
          amount_owed: (record?.amountCents ?? 0) / 100,
          paid: false,
        }),
      },
    },
  ])
})

test('waits until every run in the period is settled, however long that takes', async () => {
  at('2028-07-01T00:00:00')
  const user = await stack.newUser()
  const id = await stack.insertRun(user.id, { from: utc('2028-07-31T22:00:00'), until: null })
  at('2028-08-01T00:10:00')
  await closeDueCycles(stack.ctx)
  expect(await billsOf(user.id)).toEqual([])
  // It vanished: only what we saw of it counts.
  await stack.db.run(
    `UPDATE server_sessions SET metered_until = ${utc('2028-07-31T23:00:00')}, ended_at = ${stack.clock.now} WHERE id = '${id}'`,
  )
  at('2028-08-01T00:12:00')
  await closeDueCycles(stack.ctx)
  expect(await billsOf(user.id)).toEqual([])
  at('2028-08-01T00:16:00')
  await closeDueCycles(stack.ctx)
  expect((await billsOf(user.id)).map((r) => r.seconds)).toEqual([3600])
})

test('a run seen running after the boundary does not delay the period before it', async () => {
  at('2028-09-10T00:00:00')
  const user = await stack.newUser()
  const confirmedAt = utc('2028-10-01T00:00:20')
  await stack.insertRun(user.id, { from: utc('2028-09-30T23:00:00'), until: null, confirmedAt })
  at('2028-10-01T00:03:00')
  await closeDueCycles(stack.ctx)
  expect((await billsOf(user.id)).map((r) => [r.seconds, r.planType])).toEqual([[3600, null]])
})

test('waits for the word of a machine whose run ends with its program: EC2 sees no exit', async () => {
  at('2028-09-10T00:00:00')
  const user = await stack.newUser()
  const confirmedAt = utc('2028-10-01T00:10:00')
  const id = await stack.insertRun(user.id, { from: utc('2028-09-30T23:00:00'), until: null, confirmedAt })
  await stack.db.update(runs).set({ untilExit: true }).where(eq(runs.id, id))
  const ctx = (proven: () => Promise<number | null>) => ({
    ...stack.ctx,
    runLog: () => ({ ...noLog, provenUntil: proven }),
  })
  at('2028-10-01T00:03:00')
  // It can't be reached, or the machine has said nothing since the boundary.
  const away = () => Promise.reject<null>(new Error('away'))
  for (const proven of [away, async () => null, async () => utc('2028-09-30T23:59:59')]) {
    await closeDueCycles(ctx(proven))
    expect(await billsOf(user.id)).toEqual([])
    stack.takeLines()
    stack.clock.now += 6 * MINUTE
  }
  await closeDueCycles(ctx(async () => utc('2028-10-01T00:00:00')))
  expect((await billsOf(user.id)).map(({ seconds }) => seconds)).toEqual([3600])
  await stack.db.update(runs).set({ endedAt: stack.clock.now }).where(eq(runs.id, id))
})

test('waits a little after the end: a request from just before may still be in progress', async () => {
  at('2028-11-30T00:00:00')
  const user = await stack.newUser()
  await stack.insertRun(user.id, { from: utc('2028-11-30T10:00:00'), until: utc('2028-11-30T11:00:00') })
  at('2028-12-01T00:01:00')
  await closeDueCycles(stack.ctx)
  expect(await billsOf(user.id)).toEqual([])
  at('2028-12-01T00:02:00')
  await closeDueCycles(stack.ctx)
  expect(await billsOf(user.id)).toHaveLength(1)
})

test('a trial is one record for its whole length and costs nothing; an unused one leaves none', async () => {
  at('2029-08-20T10:00:00')
  const [user, idle] = [await stack.newUser(), await stack.newUser()]
  for (const { id } of [user, idle])
    await stack.insertPlan(id, { planType: 'demo', subType: 'demo', status: 'trialing', hours: 0.5 })
  await stack.insertRun(user.id, { from: stack.clock.now + HOUR, until: stack.clock.now + 1.25 * HOUR })
  at('2029-11-05T00:00:00')
  await closeDueCycles(stack.ctx)
  expect(await billsOf(user.id)).toEqual([])
  const end = utc('2029-11-05T10:00:00')
  for (const { id } of [user, idle]) {
    await stack.db.run(`UPDATE subscriptions SET ended_at = ${end} WHERE user_id = '${id}'`)
    await stack.db.update(users).set({ billingDueAt: 0 }).where(eq(users.id, id))
  }
  at('2029-11-05T10:05:00')
  await closeDueCycles(stack.ctx)
  expect(await billsOf(idle.id)).toEqual([])
  const [record] = await billsOf(user.id)
  expect(record).toMatchObject({ seconds: 900, amountCents: 0, trial: true, periodEnd: end })
})

test("a closed account's last cycle ends there and is invoiced at once; nothing is left to close later", async () => {
  at('2029-01-10T12:00:00')
  await stack.forgetEverybody()
  const user = await stack.newUser()
  await stack.insertRun(user.id, { from: stack.clock.now, until: stack.clock.now + HOUR })
  stack.clock.now += 5 * HOUR
  const closedAt = stack.clock.now
  await stack.db.update(users).set({ closedAt, billingDueAt: closedAt }).where(eq(users.id, user.id))
  await stack.passTime(closedAt + 5 * MINUTE, MINUTE)
  expect(await billsOf(user.id)).toMatchObject([{ periodEnd: closedAt, seconds: 3600, amountCents: 175 }])
  const listBills = () => stack.db.select().from(invoices).where(eq(invoices.userId, user.id))
  expect(await listBills()).toMatchObject([{ step: 'sent', status: 'open' }])
  await stack.db
    .update(users)
    .set({ email: `closed:${user.id}` })
    .where(eq(users.id, user.id))
  await stack.passTime(closedAt + 70 * 24 * HOUR, 24 * HOUR)
  expect(await billsOf(user.id)).toHaveLength(1)
  expect(await listBills()).toMatchObject([{ step: 'sent', lastError: null }])
})
