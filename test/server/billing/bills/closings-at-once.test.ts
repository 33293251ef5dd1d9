import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { writeBatch } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { invoices } from '../../../../db/schema/billing.ts'
import type { User } from '../../../../src/domain/wire/accounts.ts'
import { closeDueCycles, dueQuery } from '../../../../src/server/billing/bills/close-cycles.ts'
import { cancelAtPeriodEnd } from '../../../../src/server/billing/plans/cancel-plan.ts'
import { endGrantedPlan, grantPlan } from '../../../../src/server/billing/plans/grants.ts'
import type { Context } from '../../../../src/server/runtime/context.ts'
import { openBillingStack } from '../../../../testing/stack/billing-stack.ts'

const utc = (text: string) => Date.parse(`${text}Z`)
const HOUR = 3_600_000

const stack = await openBillingStack(utc('2028-01-31T08:30:00'))
const { billsOf } = stack

const at = (text: string) => {
  stack.clock.now = utc(text)
}

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

test('run several times at once, writes every record and invoice once', async () => {
  at('2029-01-01T00:00:00')
  const people = await Promise.all(Array.from({ length: 30 }, () => stack.newUser()))
  for (const user of people) {
    await stack.insertPlan(user.id, { hours: 0 })
    await stack.insertRun(user.id, { from: stack.clock.now + HOUR, until: stack.clock.now + 2 * HOUR })
  }
  at('2029-03-02T00:00:00')
  await Promise.all([closeDueCycles(stack.ctx), closeDueCycles(stack.ctx), closeDueCycles(stack.ctx)])
  await closeDueCycles(stack.ctx)
  for (const user of people) {
    expect((await billsOf(user.id)).map((r) => r.amountCents)).toEqual([175, 0])
    expect(await stack.db.select().from(invoices).where(eq(invoices.userId, user.id))).toHaveLength(1)
  }
})

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
  expect((await billsOf(user.id)).map((r) => r.amountCents)).toEqual([175, 0, 0])
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
  expect(await billsOf(user.id)).toHaveLength(48)
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
