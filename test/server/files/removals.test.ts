import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { fileRemovals } from '../../../db/schema/files.ts'
import { deleteFiles, sizeUpFolder } from '../../../src/server/files/delete.ts'
import { linkToFile } from '../../../src/server/files/download.ts'
import { listFiles } from '../../../src/server/files/list-files.ts'
import { continueRemovals, forgetRemovals, removalQuery } from '../../../src/server/files/removals.ts'
import { requestUpload } from '../../../src/server/files/upload.ts'
import { openFilesAccount } from '../../../testing/stack/files-account.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const LEASE = 5 * MINUTE

type Account = Awaited<ReturnType<typeof openFilesAccount>>

const remove = (ada: Account, path: string) => deleteFiles(ada.ctx, ada.userId, { path })
const list = (ada: Account, path = '') => listFiles(ada.ctx, ada.userId, { path, after: null })
const rows = (ada: Account) => ada.ctx.db.select().from(fileRemovals).where(eq(fileRemovals.userId, ada.userId))
const putMany = (ada: Account, folder: string, files: number) => {
  for (let i = 0; i < files; i++) ada.put(`${folder}${i}`, 10)
}
/** Another trigger, as much later. */
const trigger = async (ada: Account, later = 1) => {
  ada.clock.ms += later
  await continueRemovals(ada.ctx)
}

test('takes what was written in the second before it, although the bucket gives its time in whole seconds', async () => {
  const ada = await openFilesAccount()
  ada.clock.ms = Math.ceil(ada.clock.ms / 1000) * 1000
  for (let i = 0; i < 1_005; i++) ada.put(`run/a${i}`, 1)
  ada.clock.ms += 500
  ada.put('run/z', 1)
  ada.clock.ms += 200
  const { bucket } = ada.ctx
  ada.ctx.bucket = {
    ...bucket,
    list: async (wanted) => ({ ...(await bucket.list(wanted)), at: Math.floor(ada.clock.ms / 1000) * 1000 }),
  }
  expect(await deleteFiles(ada.ctx, ada.userId, { path: 'run/' })).toMatchObject({ filesLeft: 0 })
  expect(ada.keys()).toEqual([])
})

test('a page of the bucket without files is not its end', async () => {
  const ada = await openFilesAccount()
  ada.put('runs/a', 1)
  const { bucket } = ada.ctx
  ada.ctx.bucket = {
    ...bucket,
    // S3 may send one at any time.
    list: async (wanted) =>
      wanted.after
        ? bucket.list({ ...wanted, after: null })
        : { ...(await bucket.list(wanted)), files: [], prefixes: [], next: 'on' },
  }
  const list = (path: string) => listFiles(ada.ctx, ada.userId, { path, after: null })
  expect((await list('')).folders).toEqual([{ name: 'runs' }])
  expect((await list('runs/')).files).toMatchObject([{ name: 'a' }])
  await expect(requestUpload(ada.ctx, ada.userId, { path: 'runs', size: 1 })).rejects.toMatchObject({ code: 'invalid' })
  await remove(ada, 'runs/')
  expect(ada.keys()).toEqual([])
})

test('a folder of 4,000 files is gone with the answer', async () => {
  const ada = await openFilesAccount('premium')
  putMany(ada, 'runs/', 4000)
  ada.put('runs', 1)
  ada.put('runs2/a', 1)
  expect(await remove(ada, 'runs/')).toEqual({ path: 'runs/', filesLeft: 0 })
  expect(ada.keys()).toEqual(['files/runs', 'files/runs2/a'])
  expect((await rows(ada))[0]).toMatchObject({ doneAt: ada.clock.ms, stuckKey: null })
  await expect(remove(ada, 'runs/')).rejects.toMatchObject({ code: 'not_found' })
})

test('a larger one goes after the answer, shows how far it is, and is not listed meanwhile', async () => {
  const ada = await openFilesAccount('premium')
  putMany(ada, 'runs/', 30_000)
  putMany(ada, 'runs/inner/', 3)
  ada.put('runs.txt', 1)
  const before = ada.memory.calls()
  expect(await remove(ada, 'runs/')).toEqual({ path: 'runs/', filesLeft: 4000 })
  expect(ada.memory.calls() - before).toBeLessThanOrEqual(12)
  expect(await list(ada)).toMatchObject({
    folders: [],
    files: [{ name: 'runs.txt' }],
    deleting: [{ path: 'runs/', files_left: 4000 }],
  })
  expect(await list(ada, 'runs/')).toMatchObject({ folders: [], files: [] })
  expect((await list(ada, 'runs/inner')).files).toEqual([])
  await expect(linkToFile(ada.ctx, ada.userId, 'runs/29999')).rejects.toMatchObject({ code: 'not_found' })
  // Again: it is still under way.
  expect((await remove(ada, 'runs/')).filesLeft).toBeGreaterThan(0)
  await trigger(ada, LEASE)
  expect(ada.keys()).toEqual(['files/runs.txt'])
  expect((await list(ada)).deleting).toEqual([])
})

test('what is written after a deletion was accepted stays, also while it goes on', async () => {
  const ada = await openFilesAccount('premium')
  putMany(ada, 'runs/', 10_000)
  await remove(ada, 'runs/')
  ada.clock.ms++
  ada.put('runs/0', 7)
  const { url } = await requestUpload(ada.ctx, ada.userId, { path: 'runs/!new', size: 8 })
  expect(ada.memory.putByLink(url)).toBe(true)
  expect((await list(ada, 'runs')).files).toMatchObject([{ name: '!new' }, { name: '0', size: 7 }])
  await trigger(ada, LEASE)
  expect(ada.keys()).toEqual(['files/runs/!new', 'files/runs/0'])
  ada.put('runs/later', 1)
  await trigger(ada, HOUR)
  expect((await list(ada, 'runs')).files).toHaveLength(3)
})

test('what is replaced before its page is removed stays', async () => {
  const ada = await openFilesAccount('premium')
  putMany(ada, 'runs/', 12_000)
  const { bucket } = ada.ctx
  const last = (keys: string[]) => keys.at(-1)?.replace(/^.*files\//, '') ?? ''
  const replaced: string[] = []
  ada.ctx.bucket = {
    ...bucket,
    async remove(keys) {
      await bucket.remove(keys)
      // A file of the next page, by another program.
      const next = last(
        (await bucket.list({ prefix: keys[0]?.replace(/runs.*/, '') ?? '' })).files.map(({ key }) => key),
      )
      if (!next || replaced.length > 9) return
      ada.clock.ms++
      ada.put(next, 7)
      replaced.push(`files/${next}`)
    },
  }
  await remove(ada, 'runs/')
  await trigger(ada, LEASE)
  expect(replaced.length).toBeGreaterThan(9)
  expect(ada.keys()).toEqual([...new Set(replaced)].sort())
})

test('goes on past any number of newer files, and never says that it is done before', async () => {
  const ada = await openFilesAccount('premium')
  ada.put('a/1', 1)
  const { bucket } = ada.ctx
  let pages = 300
  /** So many pages of newer files come before it. */
  ada.ctx.bucket = {
    ...bucket,
    async list(wanted) {
      const page = Number(wanted.after ?? 0)
      if (page === pages || pages === 0) return bucket.list({ ...wanted, after: null })
      const key = `${wanted.prefix}!${page}`
      return {
        files: [{ key, size: 1, etag: '', modifiedAt: ada.clock.ms + HOUR }],
        prefixes: [],
        next: `${page + 1}`,
        at: 0,
        otherClass: 0,
      }
    },
  }
  const now = ada.clock.ms
  const row = { userId: ada.userId, place: 'files/a/', acceptedAt: now, nextAt: now, filesLeft: 1 }
  await removalQuery(ada.ctx, row)
  pages = 2_000
  await trigger(ada)
  expect((await rows(ada))[0]).toMatchObject({ doneAt: null, failures: 1 })
  pages = 300
  await trigger(ada, 2 * MINUTE)
  expect(ada.keys()).toEqual([])
})

test('a folder that is deleted again, with a new file of the name that went first, is not stuck', async () => {
  const ada = await openFilesAccount('premium')
  putMany(ada, 'runs/', 10_000)
  await remove(ada, 'runs/')
  ada.clock.ms++
  ada.put('runs/0', 7)
  ada.clock.ms++
  await remove(ada, 'runs/')
  await trigger(ada, LEASE)
  expect(ada.keys()).toEqual([])
  expect(ada.takeLines()).toEqual([])
})

test('a folder deleted again while a trigger finishes goes as well', async () => {
  const ada = await openFilesAccount('premium')
  putMany(ada, 'runs/', 9_000)
  await remove(ada, 'runs/')
  const { bucket } = ada.ctx
  let isAgain = false
  const working = {
    ...ada.ctx,
    bucket: {
      ...bucket,
      async list(wanted: Parameters<typeof bucket.list>[0]) {
        const page = await bucket.list(wanted)
        if (isAgain || page.files.length > 0) return page
        isAgain = true
        ada.clock.ms++
        putMany(ada, 'runs/', 9_000)
        ada.clock.ms++
        expect((await remove(ada, 'runs/')).filesLeft).toBeGreaterThan(0)
        return page
      },
    },
  }
  ada.clock.ms += LEASE
  await continueRemovals(working)
  await trigger(ada, LEASE)
  expect(isAgain).toBe(true)
  expect(ada.keys()).toEqual([])
  expect(ada.takeLines()).toEqual([])
})

test('a folder deleted again in the same second, while a round runs, is not stuck', async () => {
  const ada = await openFilesAccount('premium')
  putMany(ada, 'runs/', 12_000)
  await remove(ada, 'runs/')
  const { bucket } = ada.ctx
  let isAgain = false
  const working = {
    ...ada.ctx,
    bucket: {
      ...bucket,
      async remove(keys: string[]) {
        await bucket.remove(keys)
        if (isAgain) return
        isAgain = true
        // The bucket's clock counts seconds.
        const now = ada.clock.ms
        ada.clock.ms -= LEASE
        putMany(ada, 'runs/!', 9_000)
        ada.memory.put(keys[0] ?? '', 10)
        expect((await remove(ada, 'runs/')).filesLeft).toBeGreaterThan(0)
        ada.clock.ms = now
      },
    },
  }
  ada.clock.ms += LEASE
  await continueRemovals(working)
  await trigger(ada, LEASE)
  expect(isAgain).toBe(true)
  expect(ada.keys()).toEqual([])
  expect(ada.takeLines()).toEqual([])
  expect((await rows(ada)).filter(({ stuckKey }) => stuckKey !== null)).toEqual([])
})

test('a file and a folder of one name are two things', async () => {
  const ada = await openFilesAccount()
  ada.put('run7', 1)
  ada.put('run7/log.txt', 2)
  expect(await list(ada)).toMatchObject({ folders: [{ name: 'run7' }], files: [{ name: 'run7' }] })
  await remove(ada, 'run7')
  expect(ada.keys()).toEqual(['files/run7/log.txt'])
  await expect(remove(ada, 'run7')).rejects.toMatchObject({ code: 'not_found', message: /slash/ })
  ada.put('run7', 1)
  await remove(ada, 'run7/')
  expect(ada.keys()).toEqual(['files/run7'])
})

test('a file, a file of its name with a slash, and a folder of that name are three things in every call', async () => {
  const ada = await openFilesAccount()
  for (const [path, size] of [
    ['run7', 1],
    ['run7/', 2],
    ['run7/log.txt', 4],
  ] as const)
    ada.put(path, size)
  const { prefix } = await ada.folder()
  for (const path of ['run7', 'run7/'])
    expect(await linkToFile(ada.ctx, ada.userId, path)).toBe(`memory:${prefix}/files/${path}`)
  expect(await list(ada)).toMatchObject({ folders: [{ name: 'run7' }], files: [{ name: 'run7', size: 1 }] })
  expect(await list(ada, 'run7/')).toMatchObject({
    folders: [],
    files: [
      { name: '', size: 2 },
      { name: 'log.txt', size: 4 },
    ],
  })
  expect(await sizeUpFolder(ada.ctx, ada.userId, 'run7')).toMatchObject({ path: 'run7/', files: 2, bytes: 6 })
  await deleteFiles(ada.ctx, ada.userId, { path: 'run7/', onlyFile: true })
  expect(ada.keys()).toEqual(['files/run7', 'files/run7/log.txt'])
  await expect(deleteFiles(ada.ctx, ada.userId, { path: 'run7/', onlyFile: true })).rejects.toMatchObject({
    code: 'not_found',
  })
  await deleteFiles(ada.ctx, ada.userId, { path: 'run7', onlyFile: true })
  expect(ada.keys()).toEqual(['files/run7/log.txt'])
  await expect(sizeUpFolder(ada.ctx, ada.userId, 'run')).rejects.toMatchObject({ code: 'not_found' })
})

test('a removal that dies at any call is finished by a trigger', async () => {
  for (let calls = 0; ; calls++) {
    const ada = await openFilesAccount()
    for (const path of ['a/1', 'a/2', 'a/b/3']) ada.put(path, 10)
    ada.put('b', 1)
    ada.memory.dieAfter(calls)
    const answered = await remove(ada, 'a/').catch(() => null)
    ada.memory.dieAfter(null)
    const failed = ada.takeLines().length > 0
    // Before it is written down, all of it stays.
    if (answered === null) expect(ada.keys()).toHaveLength(4)
    await trigger(ada, LEASE)
    if (answered !== null) expect(ada.keys(), `after ${calls} calls`).toEqual(['files/b'])
    if (answered?.filesLeft === 0 && !failed) return
    if (answered) expect(answered.filesLeft).toBeGreaterThan(0)
  }
})

test('a removed file that is still there stops the work and alerts, and nothing is done again', async () => {
  const ada = await openFilesAccount()
  putMany(ada, 'a/', 3)
  ada.memory.keepForever(`${(await ada.folder()).prefix}/files/a/1`)
  await expect(remove(ada, 'a/')).rejects.toMatchObject({ code: 'provider_failed' })
  expect((await rows(ada))[0]).toMatchObject({ doneAt: ada.clock.ms, stuckKey: expect.stringMatching(/files\/a\/1$/) })
  expect(ada.takeLines()).toMatchObject([{ event: 'alert', matter: `files_stuck:${ada.userId}` }])
  // It is theirs again, and they see it.
  expect(await list(ada, 'a')).toMatchObject({ files: [{ name: '1' }], deleting: [] })
  const before = ada.memory.calls()
  await trigger(ada, HOUR)
  expect(ada.memory.calls()).toBe(before)
  await expect(deleteFiles(ada.ctx, ada.userId, { path: 'a/1' })).rejects.toMatchObject({ code: 'provider_failed' })
})

test('what fails waits longer each time, alerts, and delays no one else', async () => {
  const [ada, eve] = [await openFilesAccount('premium'), await openFilesAccount('premium')]
  eve.ctx.bucket = ada.ctx.bucket
  const put = async (who: Account, files: number) => {
    const { prefix } = await who.folder()
    for (let i = 0; i < files; i++) ada.memory.put(`${prefix}/files/a/${i}`, 1)
  }
  await put(ada, 10_000)
  await put(eve, 10_000)
  await remove(ada, 'a/')
  eve.clock.ms = ada.clock.ms
  await remove(eve, 'a/')
  ada.memory.failBelow(`${(await ada.folder()).prefix}/`)
  await trigger(ada, LEASE)
  expect((await rows(eve))[0]?.doneAt).toBe(ada.clock.ms)
  for (const [failures, minutes] of [
    [1, 2],
    [2, 4],
    [3, 8],
  ] as const) {
    expect((await rows(ada))[0]).toMatchObject({ failures, nextAt: ada.clock.ms + minutes * MINUTE, doneAt: null })
    const events = ada.takeLines().map(({ event }) => event)
    expect(events.includes('alert'), String(failures)).toBe(failures === 3)
    await trigger(ada, minutes * MINUTE - 1)
    expect((await rows(ada))[0]?.failures).toBe(failures)
    if (failures < 3) await trigger(ada, 1)
  }
  ada.memory.failBelow(null)
  await trigger(ada, 1)
  expect((await rows(ada))[0]?.doneAt).toBe(ada.clock.ms)
})

test('one account with many folders to delete leaves others their turn', async () => {
  const [ada, eve] = [await openFilesAccount('premium'), await openFilesAccount('premium')]
  eve.ctx.bucket = ada.ctx.bucket
  const now = ada.clock.ms
  const due = (who: Account, place: string) => ({
    id: `rem_${who.userId}${place}`,
    userId: who.userId,
    place: `files/${place}/`,
    acceptedAt: now,
    nextAt: now,
  })
  await ada.ctx.db.insert(fileRemovals).values(Array.from({ length: 60 }, (_, i) => due(ada, `${i}`)))
  await eve.ctx.db.insert(fileRemovals).values({ ...due(eve, 'x'), nextAt: now + 1 })
  await trigger(ada)
  expect((await rows(eve))[0]?.doneAt).toBe(ada.clock.ms)
  expect((await rows(ada)).filter(({ doneAt }) => doneAt === null).length).toBeGreaterThan(0)
  for (let i = 0; i < 3; i++) await trigger(ada)
  expect((await rows(ada)).filter(({ doneAt }) => doneAt === null)).toEqual([])
})

test('at most 100 folders of an account are being deleted, and each of them can be deleted again', async () => {
  const ada = await openFilesAccount()
  for (let i = 0; i <= 100; i++) for (let file = 0; file < 5; file++) ada.put(`${i}/\u0001${file}`, 1)
  // Five need a call each, and a request makes four.
  for (let i = 0; i < 100; i++) expect(await remove(ada, `${i}/`)).toMatchObject({ filesLeft: 1 })
  await expect(remove(ada, '100/')).rejects.toMatchObject({ code: 'too_many', retryAfter: 60 })
  expect((await list(ada, '100/')).files).toHaveLength(5)
  expect(await remove(ada, '0/')).toMatchObject({ filesLeft: 0 })
  expect(await remove(ada, '100/')).toMatchObject({ filesLeft: 1 })
  expect(await rows(ada)).toHaveLength(101)
})

test('counts what a folder has, up to 8,000 files', async () => {
  const ada = await openFilesAccount('premium')
  putMany(ada, 'a/', 8000)
  const size = (path: string) => sizeUpFolder(ada.ctx, ada.userId, path)
  expect(await size('a/')).toEqual({ path: 'a/', files: 8000, bytes: 80_000, complete: true })
  ada.put('a/more', 1)
  expect(await size('a')).toEqual({ path: 'a/', files: 8000, bytes: expect.any(Number), complete: false })
  await expect(size('none')).rejects.toMatchObject({ code: 'not_found' })
})

test('forgets what has been over for long', async () => {
  const ada = await openFilesAccount()
  ada.put('run/a', 1)
  await remove(ada, 'run/')
  await forgetRemovals(ada.ctx)
  expect(await rows(ada)).toHaveLength(1)
  ada.clock.ms += 91 * 24 * HOUR
  await forgetRemovals(ada.ctx)
  expect(await rows(ada)).toEqual([])
})

test('keeps the latest 300 of an account, and at night all go that are long over', async () => {
  const [ada, eve] = [await openFilesAccount(), await openFilesAccount()]
  const over = (who: Account, many: number) =>
    Array.from({ length: many }, (_, i) => ({
      id: `rem_${who.userId}${i}`,
      userId: who.userId,
      place: `files/${i}/`,
      acceptedAt: who.clock.ms - many + i,
      nextAt: 0,
      doneAt: who.clock.ms,
    }))
  await ada.ctx.db.insert(fileRemovals).values([...over(ada, 300), ...over(eve, 1_100)])
  ada.put('run/a', 1)
  await remove(ada, 'run/')
  const places = (await rows(ada)).map(({ place }) => place)
  expect([places.length, places.includes('files/0/'), places.includes('files/run/')]).toEqual([300, false, true])
  expect(await rows(eve)).toHaveLength(1_100)
  ada.clock.ms += 91 * 24 * HOUR
  await forgetRemovals(ada.ctx)
  expect(await rows(eve)).toEqual([])
})
