import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { plans } from '../../../db/schema/billing.ts'
import { fileFolders } from '../../../db/schema/files.ts'
import { openFolder } from '../../../src/server/files/folder.ts'
import { endFilesWithPlans } from '../../../src/server/files/plan-end.ts'
import { continueRemovals } from '../../../src/server/files/removals.ts'
import { openPlanOwner } from '../../../testing/people/plan-owner.ts'
import { memoryBucket } from '../../../testing/stack/memory-bucket.ts'

const HOUR = 3_600_000
const START = Date.parse('2027-02-01T12:00:00Z')
const ada = await openPlanOwner(START)
const { clock, db } = ada.stack
const memory = memoryBucket(() => clock.now)
const ctx = { ...ada.stack.ctx, bucket: memory.bucket }

/** Someone whose plan ended a month ago, at the moment when their files go. */
async function atTheEnd() {
  const userId = ada.owner().id
  await ada.stack.insertPlan(userId, { anchor: START - 60 * 24 * HOUR, endedAt: START - 30 * 24 * HOUR })
  const { prefix } = await openFolder(ctx, userId)
  const due = { deleteAt: START, usedFiles: 1, usedBytes: 1, lookAt: START, countedAt: START }
  await db.update(fileFolders).set(due).where(eq(fileFolders.userId, userId))
  const key = `${prefix}/files/a`
  memory.put(key, 1)
  return {
    key,
    /** The triggers at this time. @returns whether the file is still there */
    async keepsItAt(hours: number) {
      clock.now = START + hours * HOUR
      await endFilesWithPlans(ctx)
      await continueRemovals(ctx)
      return memory.keys().includes(key)
    },
  }
}

test('a plan whose webhook is on its way keeps the files', async () => {
  const { keepsItAt } = await atTheEnd()
  await ada.pay('basic')
  expect((await ada.plan())?.endedAt).not.toBe(null)
  expect(await keepsItAt(0)).toBe(true)
  expect((await ada.listPlans()).filter(({ endedAt }) => endedAt === null)).toHaveLength(1)
  expect(await keepsItAt(1)).toBe(true)
})

test('a subscription that only Stripe knows keeps the files', async () => {
  const { keepsItAt } = await atTheEnd()
  await ada.buy('basic')
  await db.delete(plans).where(eq(plans.stripeSubscriptionId, await ada.stripeId()))
  expect(await keepsItAt(0)).toBe(true)
  expect((await ada.listPlans()).filter(({ endedAt }) => endedAt === null)).toHaveLength(1)
})

test('an open checkout page keeps the files while it is open, and no second one does', async () => {
  const { keepsItAt } = await atTheEnd()
  await ada.open('basic')
  expect(await keepsItAt(0)).toBe(true)
  expect(await keepsItAt(23)).toBe(true)
  await ada.open('premium')
  const page = (await ada.open('premium')).url
  expect(await keepsItAt(26)).toBe(false)
  await expect(ada.stack.press(page)).rejects.toThrow()
})

test('a first payment that never comes keeps them no longer, however often it is begun', async () => {
  const { keepsItAt } = await atTheEnd()
  await ada.stack.insertPlan(ada.owner().id, { status: 'incomplete' })
  expect(await keepsItAt(24)).toBe(true)
  expect(await keepsItAt(26)).toBe(false)
})

test('while Stripe does not answer, nothing goes, and the operator hears of it', async () => {
  const { keepsItAt } = await atTheEnd()
  await ada.open('basic')
  ada.stack.stripe.inject('error', 3)
  expect(await keepsItAt(0)).toBe(true)
  ada.stack.stripe.heal()
  expect(ada.stack.takeLines()).toMatchObject([{ event: 'files_not_looked_at' }, { event: 'alert' }])
  expect(await keepsItAt(26)).toBe(false)
})
