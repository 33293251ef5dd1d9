import { asc, eq, inArray } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { writeBatch } from '../../../../db/client.ts'
import { bills, invoices, outbox, users, webhookDeliveries, webhooks } from '../../../../db/schema.ts'
import type { User } from '../../../../src/domain/wire.ts'
import { closeDueCycles, dueQuery } from '../../../../src/server/billing/bills/close-cycles.ts'
import { cancelAtPeriodEnd } from '../../../../src/server/billing/plans/cancel-plan.ts'
import { endGrantedPlan, grantPlan } from '../../../../src/server/billing/plans/grants.ts'
import type { Context } from '../../../../src/server/context.ts'
import { openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { throughCalls } from '../../../../testing/stack/database.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'

const utc = (text: string) => Date.parse(`${text}Z`)
const HOUR = 3_600_000
const MINUTE = 60_000

const stack = await openBillingStack(utc('2028-01-31T08:30:00'))

const recordsOf = (userId: string) =>
  stack.db.select().from(bills).where(eq(bills.userId, userId)).orderBy(asc(bills.periodStart))
const newUsers = async (count: number) => {
  const people = []
  while (people.length < count) people.push(await stack.newUser())
  return people
}
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
  const records = await recordsOf(user.id)
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

test('tells the webhooks of each bill once, as the API lists it', async () => {
  at('2028-01-31T08:30:00')
  const user = await stack.newUser()
  const hook = { userId: user.id, url: 'https://example.com/', secrets: [], createdAt: 0 }
  await stack.db.insert(webhooks).values({ ...hook, id: `whk_${user.id}`, events: ['bill.closed'] })
  await stack.insertPlan(user.id)
  await stack.insertRun(user.id, { from: utc('2028-02-10T00:00:00'), until: utc('2028-02-10T10:00:00') })
  at('2028-03-01T00:00:00')
  await Promise.all([closeDueCycles(stack.ctx), closeDueCycles(stack.ctx)])
  const [record] = await recordsOf(user.id)
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
  expect(await recordsOf(user.id)).toEqual([])
  // It vanished: only what we saw of it counts.
  await stack.db.run(
    `UPDATE server_sessions SET metered_until = ${utc('2028-07-31T23:00:00')}, ended_at = ${stack.clock.now} WHERE id = '${id}'`,
  )
  at('2028-08-01T00:12:00')
  await closeDueCycles(stack.ctx)
  expect(await recordsOf(user.id)).toEqual([])
  at('2028-08-01T00:16:00')
  await closeDueCycles(stack.ctx)
  expect((await recordsOf(user.id)).map((r) => r.seconds)).toEqual([3600])
})

test('a run seen running after the boundary does not delay the period before it', async () => {
  at('2028-09-10T00:00:00')
  const user = await stack.newUser()
  const confirmedAt = utc('2028-10-01T00:00:20')
  await stack.insertRun(user.id, { from: utc('2028-09-30T23:00:00'), until: null, confirmedAt })
  at('2028-10-01T00:03:00')
  await closeDueCycles(stack.ctx)
  expect((await recordsOf(user.id)).map((r) => [r.seconds, r.planType])).toEqual([[3600, null]])
})

test('waits a little after the end: a request from just before may still be in progress', async () => {
  at('2028-11-30T00:00:00')
  const user = await stack.newUser()
  await stack.insertRun(user.id, { from: utc('2028-11-30T10:00:00'), until: utc('2028-11-30T11:00:00') })
  at('2028-12-01T00:01:00')
  await closeDueCycles(stack.ctx)
  expect(await recordsOf(user.id)).toEqual([])
  at('2028-12-01T00:02:00')
  await closeDueCycles(stack.ctx)
  expect(await recordsOf(user.id)).toHaveLength(1)
})

test('run several times at once, writes every record and invoice once', async () => {
  at('2029-01-01T00:00:00')
  const people = await newUsers(30)
  for (const user of people) {
    await stack.insertPlan(user.id, { hours: 0 })
    await stack.insertRun(user.id, { from: stack.clock.now + HOUR, until: stack.clock.now + 2 * HOUR })
  }
  at('2029-03-02T00:00:00')
  await Promise.all([closeDueCycles(stack.ctx), closeDueCycles(stack.ctx), closeDueCycles(stack.ctx)])
  await closeDueCycles(stack.ctx)
  for (const user of people) {
    expect((await recordsOf(user.id)).map((r) => r.amountCents)).toEqual([175, 0])
    expect(await stack.db.select().from(invoices).where(eq(invoices.userId, user.id))).toHaveLength(1)
  }
})

/** A closing that has read its accounts, and writes only after `meanwhile`. */
async function closingBeside(meanwhile: () => Promise<unknown>): Promise<void> {
  const { batch } = stack.db.$client
  const client = {
    ...stack.db.$client,
    batch: (async (...asked: Parameters<typeof batch>) => {
      if (asked[1] === 'write') await meanwhile()
      return batch.apply(stack.db.$client, asked)
    }) as typeof batch,
  }
  const db = Object.create(stack.db, { $client: { value: client } })
  await closeDueCycles({ ...stack.ctx, db } as Context)
}

test('two at once: the slower one neither rewrites nor undoes what the faster one closed', async () => {
  at('2029-03-10T00:00:00')
  await stack.forgetEverybody()
  const user = await stack.newUser()
  await stack.insertPlan(user.id, { hours: 0 })
  await stack.insertRun(user.id, { from: stack.clock.now + HOUR, until: stack.clock.now + 2 * HOUR })
  at('2029-04-10T01:00:00')
  let faster = 0
  await closingBeside(async () => {
    if (faster++ > 0) return
    at('2029-06-15T00:00:00')
    await closeDueCycles(stack.ctx)
  })
  const [row] = await stack.db.select().from(users).where(eq(users.id, user.id))
  expect([row?.billedUntil, row?.billingDueAt]).toEqual([utc('2029-06-10T00:00:00'), utc('2029-07-10T00:02:00')])
  expect((await recordsOf(user.id)).map((r) => r.amountCents)).toEqual([175, 0, 0])
  expect(await stack.db.select().from(invoices).where(eq(invoices.userId, user.id))).toHaveLength(1)
})

test('two at once on an account years behind: the slower one closes nothing again', async () => {
  at('2029-03-10T00:00:00')
  await stack.forgetEverybody()
  const user = await stack.newUser()
  await stack.insertPlan(user.id)
  at('2034-01-01T00:00:00')
  // What is left is due at once, so both find it due at the same time, before and after the faster one.
  await closeDueCycles(stack.ctx)
  let faster = 0
  await closingBeside(async () => {
    if (faster++ === 0) await closeDueCycles(stack.ctx)
  })
  expect(await recordsOf(user.id)).toHaveLength(48)
  const [row] = await stack.db.select().from(users).where(eq(users.id, user.id))
  expect(row).toMatchObject({ billedUntil: utc('2033-03-10T00:00:00'), billingDueAt: stack.clock.now })
})

test.each<[string, (user: User) => Promise<unknown>]>([
  ['canceled', (user) => cancelAtPeriodEnd(stack.ctx, user)],
  ['ended', (user) => endGrantedPlan(stack.ctx, user.email)],
  ['replaced', (user) => grantPlan(stack.ctx, user.email, { type: 'premium', hours: 30 })],
  [
    'followed by the end of the account',
    (user) => writeBatch(stack.db, [dueQuery(stack.db, user.id, stack.clock.now)]),
  ],
])('a plan %s during a closing is checked right away, not when that closing had planned', async (_, change) => {
  at('2029-03-10T00:00:00')
  await stack.forgetEverybody()
  const user = await stack.newUser()
  await stack.insertPlan(user.id)
  at('2029-03-20T00:00:00')
  // It is due already, and what makes it due again must still be seen.
  let changed = 0
  await closingBeside(async () => {
    if (changed++ === 0) await change(user)
  })
  expect(changed).toBeGreaterThan(0)
  const [row] = await stack.db.select().from(users).where(eq(users.id, user.id))
  expect(row?.billingDueAt).toBeLessThanOrEqual(stack.clock.now)
})

test('stops after its batches, and continues there next time', async () => {
  at('2029-04-01T00:00:00')
  const people = await newUsers(150)
  for (const user of people) await stack.insertPlan(user.id)
  at('2029-05-02T00:00:00')
  const first = await closeDueCycles(stack.ctx, 1)
  const rest = await closeDueCycles(stack.ctx)
  expect(first).toBe(100)
  expect(rest).toBeGreaterThanOrEqual(50)
  const ids = people.map((user) => user.id)
  const records = await stack.db.select().from(bills).where(inArray(bills.userId, ids))
  expect(records.map((record) => record.userId).sort()).toEqual(ids.sort())
  expect(await closeDueCycles(stack.ctx)).toBe(0)
})

test('reads no more than the open cycle of each account, even next to a new person', async () => {
  at('2029-05-10T00:00:00')
  const user = await stack.newUser()
  for (let n = 0; n < 30; n++)
    await stack.insertRun(user.id, { from: stack.clock.now + n * HOUR, until: stack.clock.now + n * HOUR + MINUTE })
  at('2029-06-01T00:10:00')
  await closeDueCycles(stack.ctx)
  expect(await recordsOf(user.id)).toMatchObject([{ seconds: 1800 }])
  await stack.forgetEverybody()
  await stack.newUser()
  await stack.db.update(users).set({ billingDueAt: 0 }).where(eq(users.id, user.id))
  const client = stack.db.$client
  const { batch } = client
  let rows = 0
  client.batch = (async (...asked: Parameters<typeof batch>) => {
    const answers = await batch(...asked)
    for (const answer of answers) rows += answer.rows.length
    return answers
  }) as typeof batch
  expect(await closeDueCycles(stack.ctx)).toBe(2)
  client.batch = batch
  expect(rows).toBe(0)
})

test('an account that cannot be written does not delay the others', async () => {
  at('2029-06-01T00:00:00')
  const [broken, fine] = [await stack.newUser(), await stack.newUser()]
  for (const user of [broken, fine]) await stack.insertPlan(user.id)
  // The database refuses every bill of this account.
  await stack.db.run(`CREATE TRIGGER refuse BEFORE INSERT ON billing_records WHEN NEW.user_id = '${broken.id}'
    BEGIN SELECT RAISE(ABORT, 'refused'); END`)
  at('2029-07-01T12:00:00')
  expect(await closeDueCycles(stack.ctx)).toBeGreaterThanOrEqual(2)
  expect(await recordsOf(fine.id)).toHaveLength(1)
  expect(await recordsOf(broken.id)).toHaveLength(0)
  const alerts = await stack.db.select().from(outbox).where(eq(outbox.subject, "We couldn't write a bill"))
  expect(alerts).toHaveLength(1)
  // Set aside even when alone, so it never heads a batch.
  stack.clock.now += 30 * MINUTE
  expect(await closeDueCycles(stack.ctx)).toBe(0)
  stack.clock.now += 31 * MINUTE
  expect(await closeDueCycles(stack.ctx)).toBe(1)
  expect(await recordsOf(broken.id)).toHaveLength(0)
  const line = { event: 'alert', matter: 'closing_failed', userId: broken.id }
  const said = expect.objectContaining({ message: expect.stringContaining('refused') })
  expect(stack.takeLines()).toMatchObject(
    [line, line].map((told) => ({ ...told, error: expect.arrayContaining([said]) })),
  )
  await stack.db.run('DROP TRIGGER refuse')
  stack.clock.now += HOUR + MINUTE
  await closeDueCycles(stack.ctx)
  expect(await recordsOf(broken.id)).toHaveLength(1)
})

test('an account that cannot be read does not delay the others', async () => {
  at('2029-07-01T12:00:00')
  await stack.forgetEverybody()
  const [broken, fine] = [await stack.newUser(), await stack.newUser()]
  for (const user of [broken, fine]) await stack.insertPlan(user.id)
  // Like the client, which throws for a row with a number that JavaScript can't hold.
  const { $client } = stack.db
  const batch = async (...[statements, mode]: Parameters<typeof $client.batch>) => {
    const reads = statements.filter((one) => typeof one === 'object' && 'sql' in one && /^select/i.test(one.sql))
    if (JSON.stringify(reads).includes(broken.id)) throw new RangeError('integer too large')
    return $client.batch(statements, mode)
  }
  const ctx = { ...stack.ctx, db: throughCalls(stack.db, { batch }) }
  at('2029-08-01T12:05:00')
  expect(await closeDueCycles(ctx)).toBe(2)
  expect([await recordsOf(fine.id), await recordsOf(broken.id)].map(({ length }) => length)).toEqual([1, 0])
  expect(stack.takeLines()).toMatchObject([{ event: 'alert', matter: 'closing_failed', userId: broken.id }])
  // Set aside, so it never heads a batch.
  stack.clock.now += 30 * MINUTE
  expect(await closeDueCycles(ctx)).toBe(0)
  stack.clock.now += 31 * MINUTE
  expect(await closeDueCycles(stack.ctx)).toBe(1)
  expect(await recordsOf(broken.id)).toHaveLength(1)
})

test('an account that changes while it cannot be read is not set aside', async () => {
  at('2029-08-05T12:00:00')
  await stack.forgetEverybody()
  const user = await stack.newUser()
  await stack.insertPlan(user.id)
  const { $client } = stack.db
  const batch = async (...[statements, mode]: Parameters<typeof $client.batch>) => {
    if (mode === 'write') return $client.batch(statements, mode)
    await writeBatch(stack.db, [dueQuery(stack.db, user.id, stack.clock.now)])
    throw new RangeError('integer too large')
  }
  at('2029-09-05T12:05:00')
  await closeDueCycles({ ...stack.ctx, db: throughCalls(stack.db, { batch }) })
  expect(inBrief(stack.takeLines())).toEqual(['alert closing_failed'])
  await closeDueCycles(stack.ctx)
  expect(await recordsOf(user.id)).toHaveLength(1)
})

test('an account whose bill cannot be computed does not delay the others', async () => {
  at('2029-08-15T12:00:00')
  await stack.forgetEverybody()
  const [broken, fine] = [await stack.newUser(), await stack.newUser()]
  for (const user of [broken, fine]) await stack.insertPlan(user.id)
  // Like a damaged row: no date is that late, so its period has no end.
  await stack.db.update(users).set({ billedUntil: 9e15 }).where(eq(users.id, broken.id))
  at('2029-09-15T12:05:00')
  expect(await closeDueCycles(stack.ctx)).toBe(2)
  expect([await recordsOf(fine.id), await recordsOf(broken.id)].map(({ length }) => length)).toEqual([1, 0])
  expect(inBrief(stack.takeLines())).toEqual(['alert closing_failed'])
  // Set aside, even when alone, so it never heads a batch.
  expect(await closeDueCycles(stack.ctx)).toBe(0)
  stack.clock.now += HOUR
  expect(await closeDueCycles(stack.ctx)).toBe(1)
  expect(inBrief(stack.takeLines())).toEqual(['alert closing_failed'])
  await stack.db.update(users).set({ billedUntil: 0 }).where(eq(users.id, broken.id))
  stack.clock.now += HOUR
  expect(await closeDueCycles(stack.ctx)).toBe(1)
  expect(await recordsOf(broken.id)).toHaveLength(1)
})

test('a trial is one record for its whole length and costs nothing; an unused one leaves none', async () => {
  at('2029-08-20T10:00:00')
  const [user, idle] = [await stack.newUser(), await stack.newUser()]
  for (const { id } of [user, idle])
    await stack.insertPlan(id, { planType: 'demo', subType: 'demo', status: 'trialing', hours: 0.5 })
  await stack.insertRun(user.id, { from: stack.clock.now + HOUR, until: stack.clock.now + 1.25 * HOUR })
  at('2029-11-05T00:00:00')
  await closeDueCycles(stack.ctx)
  expect(await recordsOf(user.id)).toEqual([])
  const end = utc('2029-11-05T10:00:00')
  for (const { id } of [user, idle]) {
    await stack.db.run(`UPDATE subscriptions SET ended_at = ${end} WHERE user_id = '${id}'`)
    await stack.db.update(users).set({ billingDueAt: 0 }).where(eq(users.id, id))
  }
  at('2029-11-05T10:05:00')
  await closeDueCycles(stack.ctx)
  expect(await recordsOf(idle.id)).toEqual([])
  const [record] = await recordsOf(user.id)
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
  expect(await recordsOf(user.id)).toMatchObject([{ periodEnd: closedAt, seconds: 3600, amountCents: 175 }])
  const listBills = () => stack.db.select().from(invoices).where(eq(invoices.userId, user.id))
  expect(await listBills()).toMatchObject([{ step: 'sent', status: 'open' }])
  await stack.db
    .update(users)
    .set({ email: `closed:${user.id}` })
    .where(eq(users.id, user.id))
  await stack.passTime(closedAt + 70 * 24 * HOUR, 24 * HOUR)
  expect(await recordsOf(user.id)).toHaveLength(1)
  expect(await listBills()).toMatchObject([{ step: 'sent', lastError: null }])
})
