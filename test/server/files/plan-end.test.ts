import { desc, eq, isNull } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../db/schema/accounts.ts'
import { plans } from '../../../db/schema/billing.ts'
import { outbox } from '../../../db/schema/mail.ts'
import { deleteFiles } from '../../../src/server/files/delete.ts'
import { linkToFile } from '../../../src/server/files/download.ts'
import { openFolder } from '../../../src/server/files/folder.ts'
import { listFiles } from '../../../src/server/files/list-files.ts'
import { filesModeOf } from '../../../src/server/files/mode.ts'
import { endFilesWithPlans } from '../../../src/server/files/plan-end.ts'
import { continueRemovals } from '../../../src/server/files/removals.ts'
import { requestUpload } from '../../../src/server/files/upload.ts'
import { countChanged, getUsageOfFiles, openQuery } from '../../../src/server/files/usage.ts'
import { openFilesAccount } from '../../../testing/stack/files-account.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

async function ended() {
  const ada = await openFilesAccount('basic')
  ada.put('a', 10)
  await getUsageOfFiles(ada.ctx, await openFolder(ada.ctx, ada.userId))
  await ada.endPlan()
  const start = ada.clock.ms
  /** Fires the triggers at this time after the end. */
  const at = async (ms: number) => {
    ada.clock.ms = start + ms
    await endFilesWithPlans(ada.ctx)
    await continueRemovals(ada.ctx)
  }
  return { ...ada, at }
}

test('after a plan, files can be read for 30 days, with three emails, and are then deleted', async () => {
  const ada = await ended()
  await ada.at(0)
  expect(await filesModeOf(ada.ctx, ada.userId)).toMatchObject({ mode: 'read', why: 'ended' })
  await expect(requestUpload(ada.ctx, ada.userId, { path: 'b', size: 1 })).rejects.toMatchObject({
    code: 'no_plan',
    page: '/subscriptions',
  })
  expect(await ada.mails()).toEqual(["We'll delete your files in 30 days"])
  await ada.at(22 * DAY)
  expect(await ada.mails()).toHaveLength(1)
  await ada.at(23 * DAY + HOUR)
  await ada.at(23 * DAY + 2 * HOUR)
  expect((await ada.mails()).slice(1)).toEqual(["We'll delete your files in 7 days"])
  await ada.at(29 * DAY + 2 * HOUR)
  expect((await ada.mails()).slice(2)).toEqual(["We'll delete your files tomorrow"])
  await ada.at(30 * DAY - 1)
  expect(ada.keys()).toEqual(['files/a'])
  await ada.at(30 * DAY + HOUR)
  expect(ada.keys()).toEqual([])
  expect((await ada.mails()).slice(3)).toEqual(['We are deleting your files'])
  await ada.at(90 * DAY)
  expect(await ada.mails()).toHaveLength(4)
  // Nobody can switch off hearing of this.
  expect(await ada.notices()).toMatchObject((await ada.mails()).map((title) => ({ kind: 'account', title })))
})

test('the emails say with numbers what a smaller plan does not include, and promise no more', async () => {
  const ada = await openFilesAccount('premium')
  ada.put('a', 500_000_000_000)
  await getUsageOfFiles(ada.ctx, await openFolder(ada.ctx, ada.userId))
  const told = async () => {
    await endFilesWithPlans(ada.ctx)
    ada.clock.ms += 2 * HOUR
    const own = ada.ctx.db.select().from(outbox).where(eq(outbox.recipient, ada.email))
    return (await own.orderBy(desc(outbox.createdAt)))[0]?.text
  }
  await ada.ctx.db.update(plans).set({ status: 'unpaid' }).where(eq(plans.userId, ada.userId))
  expect(await told()).toContain('If you pay the open invoice before then, the files that your plan includes stay.')
  await ada.endPlan()
  const ended = await told()
  expect(ended).toContain('If you choose a plan that includes them before then, your files stay.')
  expect(ended).toContain('Your files use 500 GB, and Basic includes 10 GB. Once it begins, you can only read')
})

test.each(['past_due', 'unpaid', 'paused'])('files of a plan that is %s can be read for 30 days', async (status) => {
  const ada = await openFilesAccount('premium')
  ada.put('a', 10)
  await getUsageOfFiles(ada.ctx, await openFolder(ada.ctx, ada.userId))
  const setStatus = (to: string) => ada.ctx.db.update(plans).set({ status: to }).where(eq(plans.userId, ada.userId))
  const pass = async (days: number) => {
    for (let hours = 0; hours < days * 24; hours += 6) {
      ada.clock.ms += 6 * HOUR
      await endFilesWithPlans(ada.ctx)
      await continueRemovals(ada.ctx)
    }
  }
  const thirty = "We'll delete your files in 30 days"
  await setStatus(status)
  await pass(20)
  expect(await ada.mails()).toEqual([thirty])
  expect(await filesModeOf(ada.ctx, ada.userId)).toMatchObject({ mode: 'read', why: 'unpaid' })
  await expect(requestUpload(ada.ctx, ada.userId, { path: 'b', size: 1 })).rejects.toMatchObject({
    code: 'plan_unpaid',
    page: '/subscriptions/pay',
  })
  await setStatus('active')
  await pass(1)
  expect((await filesModeOf(ada.ctx, ada.userId)).mode).toBe('write')
  await setStatus(status)
  await pass(29)
  expect(ada.keys()).toEqual(['files/a'])
  await pass(2)
  expect(ada.keys()).toEqual([])
  const all = [thirty, thirty, "We'll delete your files in 7 days", "We'll delete your files tomorrow"]
  expect(await ada.mails()).toEqual([...all, 'We are deleting your files'])
})

test('who is paying for a first plan gets no room by it, nor more days, and loses nothing meanwhile', async () => {
  const ada = await ended()
  await ada.at(0)
  await ada.at(29 * DAY)
  await ada.givePlan('premium')
  await ada.ctx.db.update(plans).set({ status: 'incomplete' }).where(isNull(plans.endedAt))
  await ada.at(31 * DAY)
  expect(ada.keys()).toEqual(['files/a'])
  expect(await filesModeOf(ada.ctx, ada.userId)).toMatchObject({ mode: 'read', why: 'ended', isLimited: true })
  await ada.ctx.db.update(plans).set({ endedAt: plans.anchor }).where(isNull(plans.endedAt))
  await ada.at(31 * DAY + HOUR)
  expect(ada.keys()).toEqual([])
})

test('a folder that cannot be held to its plan waits an hour and alerts', async () => {
  const ada = await openFilesAccount()
  await openQuery(ada.ctx, ada.userId, ada.clock.ms)
  ada.put('a', 2_000_000_000)
  ada.clock.ms += 60_000
  await countChanged(ada.ctx)
  for (const days of [0, 7, 8]) {
    ada.takeLines()
    if (days === 8) ada.memory.failBelow((await ada.folder()).prefix)
    ada.clock.ms += days * DAY
    await endFilesWithPlans(ada.ctx)
  }
  expect(ada.takeLines()).toMatchObject([
    { event: 'files_not_looked_at' },
    { event: 'alert', matter: `files_not_looked_at:${ada.userId}` },
  ])
  expect((await ada.folder()).lookAt).toBe(ada.clock.ms + HOUR)
})

test('once we delete them, nobody sees or gets what is not gone yet', async () => {
  const ada = await ended()
  await ada.at(0)
  ada.clock.ms += 31 * DAY
  await endFilesWithPlans(ada.ctx)
  expect(ada.keys()).toEqual(['files/a'])
  expect(await listFiles(ada.ctx, ada.userId, { path: '', after: null })).toMatchObject({ files: [], used_bytes: 0 })
  await expect(linkToFile(ada.ctx, ada.userId, 'a')).rejects.toMatchObject({ code: 'not_found' })
})

test('a new plan keeps them, and a later end begins again', async () => {
  const ada = await ended()
  await ada.at(0)
  ada.clock.ms += 20 * DAY
  await ada.givePlan('basic')
  await ada.at(31 * DAY)
  expect(ada.keys()).toEqual(['files/a'])
  expect((await filesModeOf(ada.ctx, ada.userId)).mode).toBe('write')
  await ada.endPlan()
  await ada.at(33 * DAY)
  expect(await ada.mails()).toEqual(["We'll delete your files in 30 days", "We'll delete your files in 30 days"])
  await ada.at(62 * DAY)
  expect(ada.keys()).toEqual(['files/a'])
})

test('a plan that begins and ends between two looks also begins again', async () => {
  const ada = await ended()
  await ada.at(0)
  ada.clock.ms += 29 * DAY
  await ada.givePlan('basic')
  ada.clock.ms += HOUR / 2
  await ada.endPlan()
  await ada.at(31 * DAY)
  expect(ada.keys()).toEqual(['files/a'])
  expect(await ada.mails()).toEqual(["We'll delete your files in 30 days", "We'll delete your files in 30 days"])
  await ada.at(31 * DAY + 30 * DAY)
  expect(ada.keys()).toEqual([])
})

test('a plan that begins in the last moment wins over the deletion', async () => {
  const ada = await ended()
  await ada.at(0)
  ada.clock.ms += 30 * DAY + HOUR
  await ada.givePlan('basic')
  // As read before the plan: `cancel_at` and `ended_at` are what the write looks at.
  await endFilesWithPlans(ada.ctx)
  await continueRemovals(ada.ctx)
  expect(ada.keys()).toEqual(['files/a'])
})

test('a closed account loses its files, also from before, and what was written late', async () => {
  const ada = await openFilesAccount('basic')
  ada.put('a', 10)
  const { prefix } = await ada.folder()
  // Where deleted files were kept until they couldn't be restored anymore.
  ada.memory.put(`${prefix}/trash/del_1/b`, 10)
  await endFilesWithPlans(ada.ctx)
  ada.clock.ms += HOUR
  await ada.ctx.db.update(users).set({ closedAt: ada.clock.ms }).where(eq(users.id, ada.userId))
  const look = async () => {
    ada.clock.ms += 1000
    await endFilesWithPlans(ada.ctx)
    await continueRemovals(ada.ctx)
  }
  await look()
  expect(ada.keys()).toEqual([])
  ada.put('late', 1)
  ada.clock.ms += 2 * HOUR
  await look()
  expect(ada.keys()).toEqual([])
  // Credentials from before began to send it, on a slow line.
  ada.put('later', 1)
  ada.clock.ms += 3 * HOUR
  await look()
  expect(ada.keys()).toEqual([])
  expect(await ada.mails()).toEqual([])
})

test('a file whose name ends in a slash is deleted as well', async () => {
  const ada = await openFilesAccount('basic')
  ada.put('backup.tar/', 200_000_000)
  await getUsageOfFiles(ada.ctx, await openFolder(ada.ctx, ada.userId))
  await ada.endPlan()
  for (let day = 0; day < 33; day++) {
    await endFilesWithPlans(ada.ctx)
    await continueRemovals(ada.ctx)
    ada.clock.ms += DAY
  }
  expect(ada.keys()).toEqual([])
  expect(await ada.mails()).toEqual([
    "We'll delete your files in 30 days",
    "We'll delete your files in 7 days",
    "We'll delete your files tomorrow",
    'We are deleting your files',
  ])
})

test('after a plan, what ends late is counted, and goes as well', async () => {
  const ada = await ended()
  await deleteFiles(ada.ctx, ada.userId, { path: 'a' })
  const pass = async (days: number) => {
    for (let hour = 0; hour < days * 24; hour++) {
      ada.clock.ms += HOUR
      await countChanged(ada.ctx)
      await endFilesWithPlans(ada.ctx)
      await continueRemovals(ada.ctx)
    }
  }
  await pass(1)
  expect(await ada.mails()).toEqual([])
  ada.put('late', 1)
  await pass(8)
  expect(await ada.mails()).toEqual(["We'll delete your files in 30 days"])
  await pass(31)
  expect(ada.keys()).toEqual([])
})

test('after a plan, files can be deleted', async () => {
  const ada = await ended()
  expect(await deleteFiles(ada.ctx, ada.userId, { path: 'a' })).toEqual({ path: 'a', filesLeft: 0 })
  expect(ada.keys()).toEqual([])
})

test('what a new plan brings after the deletion was accepted stays', async () => {
  const ada = await ended()
  await ada.at(0)
  ada.clock.ms += 31 * DAY
  await endFilesWithPlans(ada.ctx)
  ada.clock.ms++
  await ada.givePlan('basic')
  ada.put('new', 1)
  expect(await listFiles(ada.ctx, ada.userId, { path: '', after: null })).toMatchObject({
    files: [{ name: 'new' }],
    deleting: [{ path: '' }],
  })
  await continueRemovals(ada.ctx)
  expect(ada.keys()).toEqual(['files/new'])
})
