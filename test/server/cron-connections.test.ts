import { eq } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { users } from '../../db/schema/accounts.ts'
import { bills, invoices, plans } from '../../db/schema/billing.ts'
import { runs } from '../../db/schema/fleet.ts'
import { runCron } from '../../src/server/cron.ts'
import { newId } from '../../src/server/crypto/id.ts'
import type { Context } from '../../src/server/runtime/context.ts'
import { openBillingStack } from '../../testing/stack/billing-stack.ts'
import { memoryDatabase } from '../../testing/stack/memory-database.ts'
import { freshPlaces } from '../../testing/world/fleet.ts'
import { openWorld } from '../../testing/world/world.ts'

const stack = await openBillingStack(Date.UTC(2028, 6, 1))

/** How many calls were open at once at most, and how many were made in total. */
const calls = { open: 0, most: 0, made: 0 }
beforeEach(() => void Object.assign(calls, { open: 0, most: 0, made: 0 }))

async function counted<T>(effect: () => Promise<T>): Promise<T> {
  calls.made++
  calls.open++
  calls.most = Math.max(calls.most, calls.open)
  try {
    return await effect()
  } finally {
    calls.open--
  }
}

test('fleet: 500 overdue channels take four connections, and so do 100 orphans', async () => {
  const world = await openWorld(memoryDatabase())
  const [place = ''] = await freshPlaces(world, 1)
  const long = world.clock.ms - 3_600_000
  const people = Array.from({ length: 501 }, () => newId('user'))
  const person = (id: string) => ({ id, email: `${id}@example.com`, name: 'Ada', passwordHash: '', createdAt: long })
  await world.db.insert(users).values(people.map(person))
  const [gone, ...running] = people.map((userId) => ({
    id: newId('ses'),
    userId,
    placeId: place,
    instanceType: 'g6.4xlarge',
    requestedAt: long,
    runningAt: long,
    confirmedAt: long,
    mustStopAt: long,
  }))
  if (!gone) throw new Error('There is nobody.')
  await world.db.insert(runs).values([{ ...gone, stopRequestedAt: long, endedAt: long }])
  await world.db.insert(runs).values(running)
  for (let i = 0; i < 100; i++)
    await world.ctx.cloud.launch({
      token: `late-${i}`,
      instanceType: 'g6.4xlarge',
      availabilityZone: 'us-east-1a',
      tags: { session: gone.id },
    })

  world.wire = (_, effect) => counted(effect)
  await runCron(world.ctx, '* * * * *')
  expect(calls.most).toBe(4)
  await world.watch()
  expect(calls.most).toBe(4)
  expect(calls.made).toBeGreaterThanOrEqual(600)
  expect(running.filter(({ userId }) => world.nextAlarm(userId) === null)).toEqual([])
  expect(world.ec2.instances().filter(({ state }) => state === 'pending' || state === 'running')).toEqual([])
})

test('money: 100 due invoices and 100 plans to check take four connections', async () => {
  const now = stack.clock.now
  for (let i = 0; i < 100; i++) {
    const { id: userId } = await stack.newUser()
    await stack.insertPlan(userId, { stripeSubscriptionId: `sub_${i}`, checkAt: now })
    const record = {
      id: newId('bill'),
      userId,
      periodStart: now - 9e8,
      periodEnd: now,
      planType: null,
      includedHours: 0,
    }
    await stack.db.insert(bills).values({ ...record, trial: false, seconds: 3600, amountCents: 175, createdAt: now })
    await stack.db.insert(invoices).values({ billId: record.id, userId, step: 'draft', nextAt: now, createdAt: now })
  }

  const client = stack.ctx.db.$client
  for (const name of ['execute', 'batch'] as const) {
    const original = client[name].bind(client) as (...args: unknown[]) => Promise<unknown>
    ;(client[name] as unknown) = (...args: unknown[]) => counted(() => original(...args))
  }
  const payments = new Proxy(stack.ctx.payments, {
    get: (real, name: keyof Context['payments']) => (args: never) =>
      counted(() => (real[name] as (args: never) => Promise<unknown>)(args)),
  })
  // None leads to further calls, which keeps the count low.
  stack.stripe.inject('error', 10_000)
  await runCron({ ...stack.ctx, payments }, '0-58 * * * *')
  expect(calls.most).toBe(4)
  expect(stack.stripe.calls().length).toBeGreaterThanOrEqual(200)
  expect(stack.takeLines()).toHaveLength(200)
  const due = await stack.db.$count(invoices, eq(invoices.nextAt, now))
  const unasked = await stack.db.$count(plans, eq(plans.checkAt, now))
  expect([due, unasked]).toEqual([0, 0])
})
