import { eq, inArray } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { writeBatch } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { bills } from '../../../../db/schema/billing.ts'
import { outbox } from '../../../../db/schema/mail.ts'
import { closeDueCycles, dueQuery } from '../../../../src/server/billing/bills/close-cycles.ts'
import { openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { throughCalls } from '../../../../testing/stack/database.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'

const utc = (text: string) => Date.parse(`${text}Z`)
const HOUR = 3_600_000
const MINUTE = 60_000

const stack = await openBillingStack(utc('2028-01-31T08:30:00'))
const { billsOf } = stack

const at = (text: string) => {
  stack.clock.now = utc(text)
}

test('stops after its batches, and continues there next time', async () => {
  at('2029-04-01T00:00:00')
  const people = await Promise.all(Array.from({ length: 150 }, () => stack.newUser()))
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
  expect(await billsOf(user.id)).toMatchObject([{ seconds: 1800 }])
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
  expect(await billsOf(fine.id)).toHaveLength(1)
  expect(await billsOf(broken.id)).toHaveLength(0)
  const alerts = await stack.db.select().from(outbox).where(eq(outbox.subject, "We couldn't write a bill"))
  expect(alerts).toHaveLength(1)
  // Set aside even when alone, so it never heads a batch.
  stack.clock.now += 30 * MINUTE
  expect(await closeDueCycles(stack.ctx)).toBe(0)
  stack.clock.now += 31 * MINUTE
  expect(await closeDueCycles(stack.ctx)).toBe(1)
  expect(await billsOf(broken.id)).toHaveLength(0)
  const line = { event: 'alert', matter: 'closing_failed', userId: broken.id }
  const said = expect.objectContaining({ message: expect.stringContaining('refused') })
  expect(stack.takeLines()).toMatchObject(
    [line, line].map((told) => ({ ...told, error: expect.arrayContaining([said]) })),
  )
  await stack.db.run('DROP TRIGGER refuse')
  stack.clock.now += HOUR + MINUTE
  await closeDueCycles(stack.ctx)
  expect(await billsOf(broken.id)).toHaveLength(1)
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
  expect([await billsOf(fine.id), await billsOf(broken.id)].map(({ length }) => length)).toEqual([1, 0])
  expect(stack.takeLines()).toMatchObject([{ event: 'alert', matter: 'closing_failed', userId: broken.id }])
  // Set aside, so it never heads a batch.
  stack.clock.now += 30 * MINUTE
  expect(await closeDueCycles(ctx)).toBe(0)
  stack.clock.now += 31 * MINUTE
  expect(await closeDueCycles(stack.ctx)).toBe(1)
  expect(await billsOf(broken.id)).toHaveLength(1)
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
  expect(await billsOf(user.id)).toHaveLength(1)
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
  expect([await billsOf(fine.id), await billsOf(broken.id)].map(({ length }) => length)).toEqual([1, 0])
  expect(inBrief(stack.takeLines())).toEqual(['alert closing_failed'])
  // Set aside, even when alone, so it never heads a batch.
  expect(await closeDueCycles(stack.ctx)).toBe(0)
  stack.clock.now += HOUR
  expect(await closeDueCycles(stack.ctx)).toBe(1)
  expect(inBrief(stack.takeLines())).toEqual(['alert closing_failed'])
  await stack.db.update(users).set({ billedUntil: 0 }).where(eq(users.id, broken.id))
  stack.clock.now += HOUR
  expect(await closeDueCycles(stack.ctx)).toBe(1)
  expect(await billsOf(broken.id)).toHaveLength(1)
})
