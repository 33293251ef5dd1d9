import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { plans } from '../../../db/schema/billing.ts'
import { filesModeOf } from '../../../src/server/files/mode.ts'
import { filesThen } from '../../../src/server/files/over-limit.ts'
import { endFilesWithPlans } from '../../../src/server/files/plan-end.ts'
import { continueRemovals, removalQuery } from '../../../src/server/files/removals.ts'
import { countChanged, openQuery } from '../../../src/server/files/usage.ts'
import { openFilesAccount } from '../../../testing/stack/files-account.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const MB = 1_000_000
const IN_7_DAYS = "We'll delete your newest files in 7 days"
const TOMORROW = "We'll delete your newest files tomorrow"

async function open(planType: 'demo' | 'basic' | 'premium' = 'demo') {
  const ada = await openFilesAccount(planType)
  /** The triggers of so much time, each hour. */
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= HOUR) {
      ada.clock.ms += Math.min(left, HOUR)
      await endFilesWithPlans(ada.ctx)
      await countChanged(ada.ctx)
    }
  }
  /** A program writes it, with credentials that end soon. */
  const write = async (path: string, size: number) => {
    await openQuery(ada.ctx, ada.userId, ada.clock.ms + 15 * MINUTE)
    ada.clock.ms += MINUTE
    ada.put(path, size)
    ada.clock.ms += 15 * MINUTE
  }
  const told = async () => (await ada.mails()).filter((subject) => /newest/.test(subject))
  return { ...ada, pass, write, told }
}

test('what passes the limit is counted within a minute of the end of what wrote it, and nothing can be added', async () => {
  const ada = await open()
  await openQuery(ada.ctx, ada.userId, ada.clock.ms + 13 * MINUTE)
  for (let minute = 0; minute < 13; minute++) {
    ada.clock.ms += MINUTE
    await countChanged(ada.ctx)
  }
  ada.put('late', 1001 * MB)
  ada.clock.ms += MINUTE
  await countChanged(ada.ctx)
  expect((await ada.folder()).usedBytes).toBe(1001 * MB)
  expect(await filesModeOf(ada.ctx, ada.userId)).toMatchObject({ mode: 'read', why: 'full' })
})

test('the operator hears of twice the limit, and each time it doubles', async () => {
  const ada = await open()
  await ada.write('a', 2000 * MB - 1)
  await countChanged(ada.ctx)
  expect(ada.takeLines()).toEqual([])
  await ada.write('b', 1)
  await countChanged(ada.ctx)
  expect(ada.takeLines()).toMatchObject([{ event: 'alert', matter: `files_over:${ada.userId}:200` }])
  await ada.write('b', 2_000 * MB)
  await countChanged(ada.ctx)
  expect(ada.takeLines()).toEqual([])
  await ada.write('c', 1 * MB)
  await countChanged(ada.ctx)
  expect(ada.takeLines()).toMatchObject([{ event: 'alert', matter: `files_over:${ada.userId}:400` }])
  expect(await ada.mails()).toEqual(['Your files are full'])
})

test('after 7 days and two emails, the newest files go until the rest fits, and no others', async () => {
  const ada = await open()
  await ada.write('old', 600 * MB)
  await countChanged(ada.ctx)
  await ada.write('b', 300 * MB)
  await ada.write('c', 200 * MB)
  await ada.write('d', 1 * MB)
  await ada.pass(2 * HOUR)
  expect(await ada.told()).toEqual([IN_7_DAYS])
  await ada.pass(6 * DAY - 2 * HOUR)
  expect(await ada.told()).toEqual([IN_7_DAYS])
  await ada.pass(4 * HOUR)
  expect(await ada.told()).toEqual([IN_7_DAYS, TOMORROW])
  await ada.pass(20 * HOUR)
  expect(ada.keys()).toHaveLength(4)
  await ada.pass(6 * HOUR)
  expect(ada.keys()).toEqual(['files/b', 'files/old'])
  await ada.pass(3 * DAY)
  expect(await ada.told()).toEqual([IN_7_DAYS, TOMORROW, 'We deleted your newest files'])
  expect(await ada.folder()).toMatchObject({ overDeleteAt: null, usedBytes: 900 * MB })
})

test('who makes room in time loses nothing, and a later excess begins again', async () => {
  const ada = await open()
  await ada.write('a', 900 * MB)
  await countChanged(ada.ctx)
  await ada.write('b', 200 * MB)
  await ada.pass(6 * DAY + 12 * HOUR)
  expect(await ada.told()).toHaveLength(2)
  await ada.write('b', 50 * MB)
  await ada.pass(2 * DAY)
  expect(ada.keys()).toEqual(['files/a', 'files/b'])
  await ada.write('c', 200 * MB)
  await ada.pass(6 * DAY)
  expect(ada.keys()).toHaveLength(3)
  expect((await ada.told()).slice(2)).toEqual([IN_7_DAYS])
})

test('if nobody looked for a week, the second email still comes a day before', async () => {
  const ada = await open()
  await ada.write('a', 1001 * MB)
  await ada.pass(2 * HOUR)
  ada.clock.ms += 10 * DAY
  await endFilesWithPlans(ada.ctx)
  await endFilesWithPlans(ada.ctx)
  expect(ada.keys()).toEqual(['files/a'])
  expect(await ada.told()).toEqual([IN_7_DAYS, TOMORROW])
  await ada.pass(22 * HOUR)
  expect(ada.keys()).toEqual(['files/a'])
  await ada.pass(3 * HOUR)
  expect(ada.keys()).toEqual([])
})

test('what a larger plan held for an hour or a year goes 7 days and two emails after the smaller one, the newest first', async () => {
  const ada = await open('premium')
  await ada.write('old', 9_000 * MB)
  await ada.write('new', 2_000 * MB)
  await countChanged(ada.ctx)
  const switchAt = ada.clock.ms + 20 * DAY
  const isTheirs = eq(plans.userId, ada.userId)
  await ada.ctx.db.update(plans).set({ nextPlanType: 'basic', nextPlanAt: switchAt }).where(isTheirs)
  expect((await filesThen(ada.ctx, ada.userId)).get('basic')).toMatch(
    /^Your files use 11 GB, and Basic includes 10 GB\. /,
  )
  await ada.pass(12 * DAY)
  expect(await ada.mails()).toEqual([])
  await ada.pass(8 * DAY - MINUTE)
  expect(await ada.mails()).toEqual(["Your files don't fit in Basic"])
  ada.clock.ms = switchAt
  await ada.endPlan()
  await ada.givePlan('basic')
  await ada.pass(6 * DAY)
  expect(ada.keys()).toHaveLength(2)
  await ada.pass(2 * DAY)
  expect(ada.keys()).toEqual(['files/old'])
  expect(await ada.told()).toEqual([IN_7_DAYS, TOMORROW, 'We deleted your newest files'])
  expect((await filesThen(ada.ctx, ada.userId)).size).toBe(0)
})

test('who pays late keeps nothing beyond the limit after the day that was announced', async () => {
  const ada = await open('basic')
  await ada.write('old', 9_000 * MB)
  await ada.write('new', 2_000 * MB)
  await ada.pass(6 * DAY + 12 * HOUR)
  expect(await ada.told()).toEqual([IN_7_DAYS, TOMORROW])
  const isTheirs = eq(plans.userId, ada.userId)
  await ada.ctx.db.update(plans).set({ status: 'unpaid' }).where(isTheirs)
  await ada.pass(20 * DAY)
  expect(ada.keys()).toHaveLength(2)
  await ada.ctx.db.update(plans).set({ status: 'active' }).where(isTheirs)
  await ada.pass(3 * HOUR)
  expect(ada.keys()).toEqual(['files/old'])
})

test('who deletes a large folder on the last day loses no other file', async () => {
  const ada = await open()
  for (let i = 0; i < 20; i++) await ada.write(`run/${i}`, 70 * MB)
  await ada.write('precious', 7)
  await ada.pass(6 * DAY + 2 * HOUR)
  expect(await ada.told()).toEqual([IN_7_DAYS, TOMORROW])
  // Accepted, and not under way yet.
  const row = { userId: ada.userId, place: 'files/run/', acceptedAt: ada.clock.ms, nextAt: ada.clock.ms, filesLeft: 20 }
  await removalQuery(ada.ctx, row)
  ada.clock.ms += 2 * DAY
  await endFilesWithPlans(ada.ctx)
  await continueRemovals(ada.ctx)
  expect(ada.keys()).toEqual(['files/precious'])
  expect(await ada.told()).toHaveLength(2)
})

test('a file that came in parts over the limit goes, although its time is that of its beginning, as on S3', async () => {
  const ada = await open()
  const { prefix } = await ada.folder()
  await ada.write('old', 900 * MB)
  await countChanged(ada.ctx)
  const begun = ada.clock.ms
  ada.clock.ms += 10 * MINUTE
  await ada.write('small', 1)
  await countChanged(ada.ctx)
  ada.memory.put(`${prefix}/files/parts`, 500 * MB, begun)
  await openQuery(ada.ctx, ada.userId, ada.clock.ms)
  await ada.pass(9 * DAY)
  expect(ada.keys()).toEqual(['files/old'])
  expect((await ada.told()).at(-1)).toBe('We deleted your newest files')
})

test('a newer file that makes no room stays', async () => {
  const ada = await open()
  await ada.write('a', 900 * MB)
  await countChanged(ada.ctx)
  await ada.write('b', 200 * MB)
  await ada.write('empty', 0)
  await ada.pass(7 * DAY + 4 * HOUR)
  expect(ada.keys()).toEqual(['files/a', 'files/empty'])
})

test('names that need a call each take several looks, and no more goes than must', async () => {
  const ada = await open()
  await ada.write('a', 900 * MB)
  await countChanged(ada.ctx)
  for (let i = 0; i < 1_299; i++) ada.put(`\u0001${i}`, MB)
  await ada.write('\u0001last', MB)
  await ada.pass(6 * DAY + 23 * HOUR)
  const due = (await ada.folder()).overDeleteAt ?? 0
  ada.clock.ms = Math.max(ada.clock.ms, due)
  await endFilesWithPlans(ada.ctx)
  expect(ada.keys()).toHaveLength(1_301 - 1_000)
  // Another trigger at the same time leaves it alone.
  await endFilesWithPlans(ada.ctx)
  expect(ada.keys()).toHaveLength(1_301 - 1_000)
  for (let minutes = 0; minutes < 5; minutes++) {
    ada.clock.ms += MINUTE
    await endFilesWithPlans(ada.ctx)
  }
  expect(ada.keys()).toHaveLength(101)
})

test('a plan that is bought during the look ends it', async () => {
  const ada = await open()
  await ada.write('a', 900 * MB)
  await countChanged(ada.ctx)
  await ada.write('b', 200 * MB)
  const { bucket } = ada.ctx
  let isBought = false
  ada.ctx.bucket = {
    ...bucket,
    async list(wanted) {
      const { overTold, overDeleteAt } = await ada.folder()
      if (overTold === 1 && ada.clock.ms >= (overDeleteAt ?? Infinity) && !isBought) {
        isBought = true
        await ada.endPlan()
        await ada.givePlan('basic')
      }
      return bucket.list(wanted)
    },
  }
  await ada.pass(8 * DAY)
  expect(isBought).toBe(true)
  expect(ada.keys()).toEqual(['files/a', 'files/b'])
})
