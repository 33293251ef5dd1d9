import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cancelAtPeriodEnd } from '../../../src/server/billing/plans/cancel-plan.ts'
import { openBillingStack } from '../../../testing/stack/billing-stack.ts'
import { planEvents } from '../../../testing/world/plan-events.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const stack = await openBillingStack(Date.UTC(2028, 0, 31, 9))
const { demoUser, live, eventsOf, deliver } = planEvents(stack)

/** Lives three months on a plan. `late` is each event's delay in days; null means it never arrives. */
async function ledger(late: (number | null)[]) {
  stack.clock.now = Date.UTC(new Date(stack.clock.now).getUTCFullYear() + 1, 0, 20, 9)
  const start = stack.clock.now
  await stack.forgetEverybody()
  const user = await demoUser()
  await live(user)
  for (const day of [2, 20, 40, 45, 75, 100])
    await stack.insertRun(user.id, { from: start + day * DAY, until: start + day * DAY + 7 * HOUR })
  const delivered = new Set<string>()
  for (let day = 1; day <= 130; day++) {
    stack.clock.now = start + day * DAY
    await stack.stripe.settle()
    if (day === 50) await cancelAtPeriodEnd(stack.ctx, user).catch(() => {})
    for (const [i, event] of (await eventsOf(user)).entries()) {
      const days = late[i % late.length] ?? null
      if (days === null || delivered.has(event.id)) continue
      if (event.created * 1000 + days * DAY > stack.clock.now) continue
      delivered.add(event.id)
      await deliver(event)
    }
    await stack.passTime(stack.clock.now)
    await stack.passTime(stack.clock.now + HOUR, HOUR)
  }
  const records = await stack.billsOf(user.id)
  return records.map((r) => [r.periodStart - start, r.planType, r.seconds, r.amountCents])
}

test('the ledger is the same whenever events arrive', async () => {
  const prompt = await ledger([0])
  expect(prompt.map(([, plan]) => plan)).toEqual(['demo', 'basic', 'basic', null])
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.option(fc.integer({ min: 0, max: 40 })), { minLength: 1, maxLength: 5 }),
      async (late) => {
        const records = await ledger(late)
        // February may have an extra day, so we compare what the records say, not their length.
        expect(records.map(([, ...said]) => said)).toEqual(prompt.map(([, ...said]) => said))
      },
    ),
    { numRuns: 4 },
  )
})
