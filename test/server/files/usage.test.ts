import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { fileFolders } from '../../../db/schema/files.ts'
import { deleteFiles } from '../../../src/server/files/delete.ts'
import { openFolder } from '../../../src/server/files/folder.ts'
import { filesModeOf, issueFilesCredentials } from '../../../src/server/files/mode.ts'
import { beginParts, signParts } from '../../../src/server/files/parts.ts'
import { requestUpload } from '../../../src/server/files/upload.ts'
import { countChanged, getUsageOfFiles, openQuery } from '../../../src/server/files/usage.ts'
import { openFilesAccount } from '../../../testing/stack/files-account.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const MB = 1_000_000

async function open(planType: Parameters<typeof openFilesAccount>[0] = 'demo') {
  const ada = await openFilesAccount(planType)
  const usage = async () => getUsageOfFiles(ada.ctx, await openFolder(ada.ctx, ada.userId))
  return { ...ada, usage }
}

test('counts what the bucket has, and lists nothing again while nobody can write', async () => {
  const ada = await open()
  ada.put('a', 10)
  expect(await ada.usage()).toMatchObject({ usedBytes: 10, limitBytes: 1000 * MB, countedAt: ada.clock.ms })
  const before = ada.memory.lists()
  ada.clock.ms += 60 * MINUTE - 1
  await ada.usage()
  await countChanged(ada.ctx)
  expect(ada.memory.lists()).toBe(before)
  await openQuery(ada.ctx, ada.userId, ada.clock.ms + MINUTE)
  ada.put('b', 5)
  expect((await ada.usage()).usedBytes).toBe(15)
  ada.put('c', 1)
  ada.clock.ms += 6 * MINUTE
  // Nobody looks, so a trigger counts once more after the last moment that anything could write.
  await countChanged(ada.ctx)
  expect((await ada.folder()).usedBytes).toBe(16)
  const after = ada.memory.lists()
  ada.clock.ms += 60 * MINUTE - 1
  await countChanged(ada.ctx)
  await ada.usage()
  expect(ada.memory.lists()).toBe(after)
})

test('what ends late is counted all the same, after longer and longer pauses, and before something is added', async () => {
  const ada = await open()
  const { accessKeyId } = await issueFilesCredentials(ada.ctx, ada.userId, { mode: 'write', seconds: 900 })
  expect(accessKeyId).toBeTruthy()
  const end = (await ada.folder()).openUntil
  const counts: number[] = []
  for (let last = 0; ada.clock.ms < end + 40 * DAY; ) {
    const { countDueAt, countedAt } = await ada.folder()
    if (countedAt !== last && countedAt !== null && countedAt > end) counts.push(countedAt - end)
    last = countedAt ?? 0
    ada.clock.ms = countDueAt ?? Infinity
    await countChanged(ada.ctx)
  }
  // Within a minute of the end, and what ends late after at most as long again, or a week.
  expect(counts[0]).toBeLessThanOrEqual(MINUTE)
  expect(counts[1]).toBeLessThanOrEqual(62 * MINUTE)
  for (const [i, at] of counts.entries())
    if (i > 1) expect(at - (counts[i - 1] ?? 0), String(i)).toBeLessThanOrEqual(Math.min(counts[i - 1] ?? 0, 7 * DAY))
  expect(counts.length).toBeLessThan(16)
  ada.put('late', 1001 * MB)
  await expect(requestUpload(ada.ctx, ada.userId, { path: 'a', size: 1 })).rejects.toMatchObject({ code: 'invalid' })
  ada.put('late', 1)
  ada.clock.ms += MINUTE
  await requestUpload(ada.ctx, ada.userId, { path: 'a', size: 1 })
  ada.clock.ms += 2 * DAY
  await countChanged(ada.ctx)
  ada.put('later', 1001 * MB)
  ada.clock.ms += HOUR
  expect(await filesModeOf(ada.ctx, ada.userId)).toMatchObject({ mode: 'read', why: 'full' })
})

test('a folder that nothing has opened is counted within a week', async () => {
  const ada = await open()
  ada.put('a', 10)
  for (let day = 0; day <= 7; day++) {
    await countChanged(ada.ctx)
    ada.clock.ms += DAY
  }
  expect((await ada.folder()).usedBytes).toBe(10)
})

test('a trigger counts a large folder, which is listed rarely', async () => {
  const ada = await open()
  for (let i = 0; i < 12_000; i++) ada.put(`runs/${String(i).padStart(5, '0')}`, 1)
  expect(await ada.usage()).toMatchObject({ usedBytes: 0, countedAt: null })
  ada.clock.ms += MINUTE
  await countChanged(ada.ctx)
  expect(await ada.usage()).toMatchObject({ usedBytes: 12_000, countedAt: expect.any(Number) })
  expect(ada.memory.lists()).toBe(2 + 12)
  await openQuery(ada.ctx, ada.userId, ada.clock.ms + 600 * MINUTE)
  for (let i = 0; i < 20; i++) await ada.usage()
  expect(ada.memory.lists()).toBe(2 + 12)
})

test('parts are counted also while somebody keeps looking at the files', async () => {
  const ada = await open()
  const { bucket } = ada.ctx
  const { prefix } = await ada.folder()
  ada.memory.putPart(await bucket.startParts(`${prefix}/files/big`, ''), 1, 1_200 * MB)
  await openQuery(ada.ctx, ada.userId, ada.clock.ms + HOUR)
  ada.clock.ms += MINUTE
  ada.ctx.bucket = {
    ...bucket,
    async listUploads(...wanted) {
      ada.clock.ms += 1
      await ada.usage()
      return bucket.listUploads(...wanted)
    },
  }
  await countChanged(ada.ctx)
  expect(await ada.folder()).toMatchObject({ partsBytes: 1_200 * MB, countFailures: 0 })
  expect(await filesModeOf(ada.ctx, ada.userId)).toMatchObject({ mode: 'read', why: 'full' })
})

test.each(['while it lists', 'before this rule'])(
  'a count that a later one has overtaken is over: %s',
  async (when) => {
    const ada = await open()
    for (let i = 0; i < 3_001; i++) ada.put(`runs/${String(i).padStart(4, '0')}`, 1)
    await openQuery(ada.ctx, ada.userId, ada.clock.ms + HOUR)
    const { bucket } = ada.ctx
    const slow = {
      ...ada.ctx,
      bucket: {
        ...bucket,
        async list(wanted: Parameters<typeof bucket.list>[0]) {
          const page = await bucket.list(wanted)
          ada.clock.ms += MINUTE
          if (wanted.startAfter?.endsWith('/files')) await countChanged(ada.ctx)
          return page
        },
      },
    }
    if (when === 'while it lists') await getUsageOfFiles(slow, await ada.folder())
    else {
      await countChanged(ada.ctx)
      const late = { countedAt: ada.clock.ms, countBegunAt: ada.clock.ms - 1, countNext: null, countDueAt: 0 }
      await ada.ctx.db.update(fileFolders).set(late).where(eq(fileFolders.userId, ada.userId))
    }
    ada.put('late', 1_200 * MB)
    ada.clock.ms += 10 * MINUTE
    await countChanged(ada.ctx)
    expect(await ada.folder()).toMatchObject({ usedBytes: 1_200 * MB + 3_001, countBegunAt: null, countNext: null })
  },
)

test('what the link of a part brings is counted within a minute of its end', async () => {
  const ada = await open()
  const { id } = await beginParts(ada.ctx, ada.userId, { path: 'a', size: 1, version: '1' })
  const [uploadId = ''] = ada.memory.begun()
  // Counted, and nothing is open.
  await ada.usage()
  const isTheirs = eq(fileFolders.userId, ada.userId)
  await ada.ctx.db
    .update(fileFolders)
    .set({ countDueAt: ada.clock.ms + 6 * DAY, openUntil: 0 })
    .where(isTheirs)
  const { expires_at } = await signParts(ada.ctx, ada.userId, id, [1])
  for (let part = 1; part <= 4; part++) ada.memory.putPart(uploadId, part, 300 * MB)
  ada.clock.ms = Date.parse(expires_at) + MINUTE
  // Folders of other tests may be due before it.
  for (let turns = 0; turns < 20; turns++) await countChanged(ada.ctx)
  expect((await ada.folder()).partsBytes).toBe(1_200 * MB - 1)
})

test('tells at 80 and at 100 percent, by email and under the bell, once until there is room again', async () => {
  const ada = await open()
  const put = async (path: string, bytes: number) => {
    ada.put(path, bytes)
    ada.clock.ms += 1000
    await openQuery(ada.ctx, ada.userId, ada.clock.ms)
    await ada.usage()
  }
  await put('a', 799 * MB)
  expect(await ada.mails()).toEqual([])
  await put('b', MB)
  await put('c', MB)
  expect(await ada.mails()).toEqual(['Your files use 80% of your plan'])
  expect(await filesModeOf(ada.ctx, ada.userId)).toMatchObject({ mode: 'write', why: null })
  await put('d', 199 * MB)
  await put('e', MB)
  expect(await ada.mails()).toEqual(['Your files use 80% of your plan', 'Your files are full'])
  expect(await filesModeOf(ada.ctx, ada.userId)).toMatchObject({ mode: 'read', why: 'full' })
  await put('a', 0)
  await put('a', 799 * MB)
  expect(await ada.mails()).toHaveLength(2)
  ada.clock.ms += 24 * 60 * MINUTE
  await put('a', 0)
  await put('a', 799 * MB)
  expect((await ada.mails()).slice(2)).toEqual(['Your files are full'])
  const full = { kind: 'files', title: 'Your files are full', link: '/files' }
  expect(await ada.notices()).toEqual([{ ...full, title: 'Your files use 80% of your plan' }, full, full])
})

test('a plan without a limit mails nobody, and the operator hears of a terabyte', async () => {
  const ada = await open('premium')
  ada.put('a', 999_999 * MB)
  await ada.usage()
  expect(ada.takeLines()).toEqual([])
  ada.put('b', MB)
  await openQuery(ada.ctx, ada.userId, ada.clock.ms)
  expect(await ada.usage()).toMatchObject({ usedBytes: 1_000_000 * MB, limitBytes: null })
  expect(ada.takeLines()).toMatchObject([{ event: 'alert', matter: `files_large:${ada.userId}:100` }])
  expect(await ada.mails()).toEqual([])
  expect((await filesModeOf(ada.ctx, ada.userId)).mode).toBe('write')
})

test('refuses what is larger than what is left, to the byte, and counts what a file replaces', async () => {
  const ada = await open()
  ada.put('a', 600 * MB)
  const request = (path: string, size: number) => requestUpload(ada.ctx, ada.userId, { path, size })
  await expect(request('b', 400 * MB + 1)).rejects.toMatchObject({ code: 'invalid' })
  await request('a', 1000 * MB)
  await expect(request('b', 1)).rejects.toMatchObject({ code: 'invalid' })
  await expect(request('a', 1000 * MB + 1)).rejects.toMatchObject({ code: 'invalid' })
})

test('without any plan, there is nothing to upload to', async () => {
  const ada = await open(null)
  await expect(requestUpload(ada.ctx, ada.userId, { path: 'a', size: 1 })).rejects.toMatchObject({
    code: 'no_plan',
  })
  expect(await filesModeOf(ada.ctx, ada.userId)).toMatchObject({ mode: 'read', why: 'none' })
})

test('full files can still be deleted, which makes room', async () => {
  const ada = await open()
  ada.put('a', 1000 * MB)
  ada.put('b', MB)
  await ada.usage()
  expect((await filesModeOf(ada.ctx, ada.userId)).why).toBe('full')
  await deleteFiles(ada.ctx, ada.userId, { path: 'a' })
  ada.clock.ms++
  expect((await filesModeOf(ada.ctx, ada.userId)).why).toBe(null)
  expect(ada.keys()).toEqual(['files/b'])
})

test('a folder that cannot be counted waits longer each time and alerts, and keeps no other', async () => {
  const [ada, eve] = [await open(), await open()]
  eve.ctx.bucket = ada.ctx.bucket
  const { prefix } = await ada.folder()
  const foreign = (await eve.folder()).prefix
  eve.clock.ms = ada.clock.ms
  await openQuery(ada.ctx, ada.userId, ada.clock.ms)
  ada.clock.ms++
  await openQuery(eve.ctx, eve.userId, ada.clock.ms)
  ada.memory.put(`${prefix}/files/a`, 1)
  ada.memory.put(`${foreign}/files/a`, 5)
  ada.memory.failBelow(`${prefix}/`)
  ada.clock.ms += MINUTE
  await countChanged(ada.ctx)
  expect(await eve.folder()).toMatchObject({ usedBytes: 5, countFailures: 0 })
  for (const [failures, minutes] of [
    [1, 2],
    [2, 4],
    [3, 8],
  ] as const) {
    expect(await ada.folder()).toMatchObject({
      countFailures: failures,
      countDueAt: ada.clock.ms + minutes * MINUTE,
      usedBytes: 0,
    })
    const events = ada.takeLines().map(({ event }) => event)
    expect(events.includes('count_failed'), String(failures)).toBe(true)
    expect(events.includes('alert'), String(failures)).toBe(failures === 3)
    ada.clock.ms += minutes * MINUTE - 1
    await countChanged(ada.ctx)
    expect((await ada.folder()).countFailures).toBe(failures)
    if (failures === 3) ada.memory.failBelow(null)
    ada.clock.ms += 1
    await countChanged(ada.ctx)
  }
  expect(await ada.folder()).toMatchObject({ usedBytes: 1, countFailures: 0 })
})

test('a count that we die of has had its turn', async () => {
  const ada = await open()
  await openQuery(ada.ctx, ada.userId, ada.clock.ms)
  ada.clock.ms += MINUTE
  let isAsked = () => {}
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve
  })
  const { bucket } = ada.ctx
  ada.ctx.bucket = {
    ...bucket,
    list() {
      isAsked()
      return new Promise(() => {})
    },
  }
  void countChanged(ada.ctx)
  await asked
  expect(await ada.folder()).toMatchObject({ countDueAt: ada.clock.ms + 2 * MINUTE, countFailures: 1 })
})

test('an upload in parts that is completed behind a count is in it, and so is each file, wherever it begins', async () => {
  const ada = await open()
  for (let i = 0; i < 3_500; i++) ada.put(`m${String(i).padStart(4, '0')}`, 1)
  const { prefix } = await ada.folder()
  const { bucket } = ada.ctx
  const starts: (string | undefined)[] = []
  let end = async () => {}
  ada.ctx.bucket = {
    ...bucket,
    async list(wanted) {
      const page = await bucket.list(wanted)
      if (wanted.prefix.startsWith(prefix)) starts.push(wanted.startAfter?.slice(prefix.length + 1))
      if (page.next !== null) await end()
      return page
    },
  }
  const count = async () => {
    starts.length = 0
    await openQuery(ada.ctx, ada.userId, ada.clock.ms + HOUR)
    ada.clock.ms += MINUTE
    await countChanged(ada.ctx)
    return (await ada.folder()).usedBytes
  }
  for (const [random, from] of [
    [0.9, 'files'],
    [0.4, 'files/m0999'],
    [0.3, 'files/m2999'],
    [0.3, 'files/m1999'],
  ] as const) {
    ada.ctx.random = () => random
    expect([await count(), starts[0]]).toEqual([3_500, from])
  }
  // Twice, so that it ends one in the second try as well.
  for (const key of ['m1000a', 'm1000b']) {
    const begun = await bucket.startParts(`${prefix}/files/${key}`, '')
    ada.memory.putPart(begun, 1, 600 * MB)
  }
  end = async () => {
    const [first] = ada.memory.begun()
    if (first)
      await bucket.completeParts(`${prefix}/files/${first === 'upload-1' ? 'm1000a' : 'm1000b'}`, first, [], null)
    end = async () => {}
  }
  await count()
  expect(await filesModeOf(ada.ctx, ada.userId)).toMatchObject({ mode: 'read', why: 'full' })
  expect(ada.memory.begun()).toHaveLength(1)
})

test('uploads that end while they are counted, and again while that is repeated, count once', async () => {
  const ada = await open()
  for (let i = 0; i < 2_000; i++) ada.put(`m${String(i).padStart(4, '0')}`, 0)
  const { prefix } = await ada.folder()
  const { bucket } = ada.ctx
  for (const key of ['m0000a', 'z', 'm0000b']) {
    const begun = await bucket.startParts(`${prefix}/files/${key}`, '')
    ada.memory.putPart(begun, 1, 300 * MB)
  }
  // One behind the first page of the first count, one ahead of the first page of its repetition.
  const ends = ['', 'm0000a', 'z']
  ada.ctx.random = () => 0.9
  ada.ctx.bucket = {
    ...bucket,
    async list(wanted) {
      const key = wanted.prefix.startsWith(prefix) ? ends.shift() : ''
      const uploadId = ada.memory.begun()[0]
      if (key && uploadId) await bucket.completeParts(`${prefix}/files/${key}`, uploadId, [], null)
      return bucket.list(wanted)
    },
  }
  await openQuery(ada.ctx, ada.userId, ada.clock.ms + HOUR)
  ada.clock.ms += MINUTE
  await countChanged(ada.ctx)
  expect(ends).toEqual([])
  expect(await ada.folder()).toMatchObject({ usedBytes: 600 * MB, partsBytes: 300 * MB })
  expect((await filesModeOf(ada.ctx, ada.userId)).mode).toBe('write')
})

test('a repeated count that takes several turns goes once around all the same', async () => {
  const ada = await open()
  for (let i = 0; i < 1_995; i++) ada.put(`m${String(i).padStart(4, '0')}`, 1)
  const key = `${(await ada.folder()).prefix}/files/m0000a`
  const { bucket } = ada.ctx
  ada.memory.putPart(await bucket.startParts(key, ''), 1, 7)
  ada.ctx.random = () => 0.9
  ada.ctx.bucket = {
    ...bucket,
    async list(wanted) {
      const page = await bucket.list({ ...wanted, most: 10 })
      const [uploadId] = ada.memory.begun()
      if (uploadId && key.startsWith(wanted.prefix)) await bucket.completeParts(key, uploadId, [], null)
      return page
    },
  }
  await openQuery(ada.ctx, ada.userId, ada.clock.ms + HOUR)
  ada.clock.ms += MINUTE
  await countChanged(ada.ctx)
  expect(ada.memory.lists()).toBeGreaterThan(400)
  expect(await ada.folder()).toMatchObject({ usedBytes: 2_002, usedFiles: 1_996, countBegunAt: null })
})

test('an upload in parts that is completed behind a count of several turns counts, too', async () => {
  const ada = await open()
  for (let i = 0; i < 2_005; i++) ada.put(`m${i}`, 1)
  const key = `${(await ada.folder()).prefix}/files/a`
  const { bucket } = ada.ctx
  const uploadId = await bucket.startParts(key, '')
  ada.memory.putPart(uploadId, 1, 1000 * MB)
  ada.ctx.random = () => 0.9
  let pages = 0
  ada.ctx.bucket = {
    ...bucket,
    async list(wanted) {
      const page = await bucket.list({ ...wanted, most: 10 })
      if (++pages === 200) await bucket.completeParts(key, uploadId, [], null)
      return page
    },
  }
  const count = async () => {
    await openQuery(ada.ctx, ada.userId, ada.clock.ms + HOUR)
    ada.clock.ms += MINUTE
    await countChanged(ada.ctx)
    return ada.folder()
  }
  expect(await count()).toMatchObject({ usedBytes: 2_005, partsBytes: 1000 * MB, countBegunAt: null })
  expect(await count()).toMatchObject({ usedBytes: 2_005 + 1000 * MB, partsBytes: 0, countBegunAt: null })
})

test('what moves to where a count has been is counted', async () => {
  const ada = await open()
  for (let i = 0; i < 2_000; i++) ada.put(`m${String(i).padStart(4, '0')}`, 0)
  await ada.usage()
  ada.put('z', 2000 * MB)
  await openQuery(ada.ctx, ada.userId, ada.clock.ms + HOUR)
  ada.clock.ms += MINUTE
  await ada.usage()
  await deleteFiles(ada.ctx, ada.userId, { path: 'z' })
  ada.put('a', 2000 * MB)
  ada.clock.ms += MINUTE
  await countChanged(ada.ctx)
  expect(await filesModeOf(ada.ctx, ada.userId)).toMatchObject({ mode: 'read', why: 'full' })
})

test('the operator hears of files in a storage class that costs by each reading, once while there are such files', async () => {
  const ada = await open()
  const { bucket } = ada.ctx
  let otherClass = 1
  ada.ctx.bucket = { ...bucket, list: async (wanted) => ({ ...(await bucket.list(wanted)), otherClass }) }
  for (let i = 0; i < 1_500; i++) ada.put(String(i), 1)
  await openQuery(ada.ctx, ada.userId, ada.clock.ms + 6 * HOUR)
  const count = async (minutes: number) => {
    for (let passed = 0; passed < minutes; passed += 10) {
      ada.clock.ms += 10 * MINUTE
      await ada.usage()
    }
    return ada.takeLines().map(({ matter }) => matter)
  }
  const told = [`files_class:${ada.userId}`]
  expect(await count(180)).toEqual(told)
  otherClass = 0
  expect(await count(70)).toEqual([])
  otherClass = 1
  expect(await count(10)).toEqual(told)
})

test('files without bytes use up a plan as well, and are never deleted for it', async () => {
  const ada = await open()
  await ada.usage()
  const set = (usedFiles: number) =>
    ada.ctx.db
      .update(fileFolders)
      .set({ usedFiles, countedAt: ada.clock.ms, openUntil: 0 })
      .where(eq(fileFolders.userId, ada.userId))
  await set(109_999)
  expect(await ada.usage()).toMatchObject({ usedBytes: 999_900_000 })
  const wish = { path: 'b', size: 200_000 }
  await expect(requestUpload(ada.ctx, ada.userId, wish)).rejects.toMatchObject({ code: 'invalid' })
  await set(110_000)
  expect(await filesModeOf(ada.ctx, ada.userId)).toMatchObject({ mode: 'read', why: 'full' })
  await ada.endPlan()
  await ada.givePlan('premium')
  expect(await ada.usage()).toMatchObject({ usedBytes: 0, limitBytes: null })
})

test('a trigger counts all that is due, in its minute', async () => {
  const ada = await open()
  const others = await Promise.all(Array.from({ length: 45 }, () => openFilesAccount()))
  for (const one of [ada, ...others]) {
    await openQuery(ada.ctx, one.userId, one.clock.ms)
    one.put('a', 7)
    ada.memory.put(`${(await one.folder()).prefix}/files/a`, 7)
  }
  ada.clock.ms += 2 * MINUTE + 1e6
  await countChanged(ada.ctx)
  for (const one of [ada, ...others]) expect((await one.folder()).usedBytes).toBe(7)
})

test('a page of the bucket without files is not its end', async () => {
  const ada = await open()
  ada.put('a', 900 * MB)
  const { bucket } = ada.ctx
  ada.ctx.bucket = {
    ...bucket,
    // S3 may send one at any time. What follows has its token, and not the last key.
    async list(wanted) {
      if (wanted.startAfter === undefined) return bucket.list(wanted)
      return { ...(await bucket.list(wanted)), files: [], next: wanted.startAfter }
    },
  }
  await openQuery(ada.ctx, ada.userId, ada.clock.ms + HOUR)
  ada.clock.ms += MINUTE
  await countChanged(ada.ctx)
  expect((await ada.folder()).usedBytes).toBe(900 * MB)
})
