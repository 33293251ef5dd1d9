import { eq } from 'drizzle-orm'
import { describe, expect, test, vi } from 'vitest'
import { users } from '../../../db/schema/accounts.ts'
import { plans } from '../../../db/schema/billing.ts'
import { fileUploads } from '../../../db/schema/files.ts'
import { lengthOfPart } from '../../../src/domain/file-parts.ts'
import { MAX_FILE_BYTES } from '../../../src/domain/files.ts'
import { callsFor, pagesOf } from '../../../src/server/files/call-budget.ts'
import { giveCredentials } from '../../../src/server/files/credentials.ts'
import { deleteFiles, sizeUpFolder } from '../../../src/server/files/delete.ts'
import { linkToFile } from '../../../src/server/files/download.ts'
import { listFiles } from '../../../src/server/files/list-files.ts'
import { filesModeOf } from '../../../src/server/files/mode.ts'
import { dropStaleUploads } from '../../../src/server/files/open-uploads.ts'
import { abortParts, beginParts, completeParts, signParts } from '../../../src/server/files/parts.ts'
import { endFilesWithPlans } from '../../../src/server/files/plan-end.ts'
import { continueRemovals, removalQuery } from '../../../src/server/files/removals.ts'
import { requestUpload } from '../../../src/server/files/upload.ts'
import { uploadThrough } from '../../../src/server/files/upload-through.ts'
import { countChanged, openQuery } from '../../../src/server/files/usage.ts'
import { openFilesAccount } from '../../../testing/stack/files-account.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const MB = 1_000_000

async function open(planType: 'demo' | 'basic' | 'premium' = 'demo') {
  const ada = await openFilesAccount(planType)
  const link = (path: string, size: number) => requestUpload(ada.ctx, ada.userId, { path, size })
  const begin = (path: string, size: number, version = '1') => beginParts(ada.ctx, ada.userId, { path, size, version })
  const rows = () => ada.ctx.db.select().from(fileUploads).where(eq(fileUploads.userId, ada.userId))
  /** Uploads a file by a link. */
  const put = async (path: string, size: number) => {
    const { url } = await link(path, size)
    ada.clock.ms += 1000
    expect(ada.memory.putByLink(url)).toBe(true)
    ada.clock.ms += 1000
  }
  return { ...ada, link, begin, rows, upload: put }
}

/** How many of them were taken. */
const taken = async (wishes: Promise<unknown>[]) =>
  (await Promise.allSettled(wishes)).filter(({ status }) => status === 'fulfilled').length

test('of ten links at once, only those that fit together are given', async () => {
  const ada = await open()
  expect(await taken(Array.from({ length: 10 }, (_, i) => ada.link(`${i}`, 900 * MB)))).toBe(1)
  await ada.link('small', 100 * MB)
  await expect(ada.link('smaller', 1)).rejects.toMatchObject({ code: 'invalid', message: /uploads that have begun/ })
})

test('every upload in parts counts until it ends, also at its own path', async () => {
  const ada = await open()
  expect(await taken(Array.from({ length: 30 }, (_, i) => ada.begin('x.bin', 900 * MB, `${i}`)))).toBe(1)
  await expect(ada.link('y.bin', 101 * MB)).rejects.toMatchObject({ code: 'invalid' })
  expect(ada.memory.begun()).toHaveLength(1)
  const [row] = await ada.rows()
  ada.clock.ms = (row?.expiresAt ?? 0) - 1
  await expect(ada.link('y.bin', 101 * MB)).rejects.toMatchObject({ code: 'invalid' })
  ada.clock.ms += 1
  await ada.link('y.bin', 101 * MB)
  await dropStaleUploads(ada.ctx)
  expect(ada.memory.begun()).toEqual([])
  expect(await ada.rows()).toMatchObject([{ path: 'y.bin' }])
})

test('an upload without script says what came in between: a newer file, or a deletion', async () => {
  const ada = await open()
  const send = () => uploadThrough(ada.ctx, ada.userId, { path: 'a.txt', content: new ArrayBuffer(1) })
  for (const [status, code] of [
    [412, 'conflict'],
    [404, 'conflict'],
    [503, 'unavailable'],
  ] as const) {
    vi.spyOn(globalThis, 'fetch').mockResolvedValueOnce(new Response(null, { status }))
    await expect(send()).rejects.toMatchObject({ code })
  }
})

test('the same upload begun many times at once is one', async () => {
  const ada = await open()
  const begun = await Promise.all(Array.from({ length: 20 }, () => ada.begin('x.bin', 600 * MB)))
  expect(new Set(begun.map(({ id }) => id)).size).toBe(1)
  expect(await ada.rows()).toMatchObject([{ id: begun[0]?.id, uploadId: ada.memory.begun()[0] }])
  expect(ada.memory.begun()).toHaveLength(1)
  await ada.link('y.bin', 400 * MB)
  await expect(ada.link('z.bin', 1)).rejects.toMatchObject({ code: 'invalid' })
})

test('what a program wrote meanwhile is counted before an upload ends', async () => {
  const ada = await open()
  const { id } = await ada.begin('x.bin', 1)
  ada.memory.putPart(ada.memory.begun()[0] ?? '', 1, 1)
  ada.put('more', 1_150 * MB)
  ada.clock.ms += 1
  const complete = () => completeParts(ada.ctx, ada.userId, id)
  await expect(complete()).rejects.toMatchObject({ code: 'invalid', message: /more than the/ })
  ada.put('more', 900 * MB)
  ada.clock.ms += 1
  expect(await complete()).toEqual({ path: 'x.bin', size: 1 })
})

describe('parts for a file that is being deleted', () => {
  /** `bytes` on the path, whose deletion was accepted a second ago, and parts of `size` begun over it. */
  async function overGoing(bytes: number, size: number) {
    const ada = await open()
    ada.put('run/x.bin', bytes)
    await countChanged(ada.ctx)
    const now = ada.clock.ms
    await removalQuery(ada.ctx, { userId: ada.userId, place: 'files/run/', acceptedAt: now, nextAt: now, filesLeft: 1 })
    ada.clock.ms += 1000
    const { id } = await ada.begin('run/x.bin', size)
    ada.memory.putPart(ada.memory.begun()[0] ?? '', 1, size)
    const list = async () => {
      await continueRemovals(ada.ctx)
      return listFiles(ada.ctx, ada.userId, { path: 'run/', after: null })
    }
    return { ...ada, id, complete: () => completeParts(ada.ctx, ada.userId, id), list }
  }

  test.each(['before', 'after', 'between', 'replaced', 'replaced between'])(
    'become the file, unless another came: %s',
    async (order) => {
      const ada = await overGoing(3, 5)
      if (order === 'before') await continueRemovals(ada.ctx)
      if (order === 'replaced') ada.put('run/x.bin', 4)
      const { completeParts: make } = ada.memory.bucket
      // What comes between our look and the bucket's.
      ada.memory.bucket.completeParts = async (...call) => {
        ada.memory.bucket.completeParts = make
        if (order === 'between') await continueRemovals(ada.ctx)
        if (order === 'replaced between') ada.put('run/x.bin', 4)
        return make(...call)
      }
      const isReplaced = order.startsWith('replaced')
      if (isReplaced) await expect(ada.complete()).rejects.toMatchObject({ code: 'conflict' })
      else expect(await ada.complete()).toEqual({ path: 'run/x.bin', size: 5 })
      const files = [{ name: 'x.bin', size: isReplaced ? 4 : 5 }]
      expect(await ada.list()).toMatchObject({ files, deleting: [] })
    },
  )

  test('stay when two calls complete them at once', async () => {
    const ada = await overGoing(3, 5)
    const whole = { path: 'run/x.bin', size: 5 }
    const { find } = ada.memory.bucket
    let go = () => {}
    const gate = new Promise<void>((open) => (go = open))
    // The first call has looked, and goes on once the second is done.
    ada.memory.bucket.find = async (key) => {
      ada.memory.bucket.find = find
      const found = await find(key)
      await gate
      return found
    }
    const first = ada.complete()
    expect(await ada.complete()).toEqual(whole)
    go()
    expect(await first).toEqual(whole)
    expect((await ada.list()).files).toMatchObject([{ name: 'x.bin', size: 5 }])
  })

  test('may take its room', async () => {
    const ada = await overGoing(600 * MB, 600 * MB)
    expect((await signParts(ada.ctx, ada.userId, ada.id, [1])).parts).toHaveLength(1)
  })
})

test('an upload in parts goes on only while there is room and a paid plan', async () => {
  const ada = await open('basic')
  ada.put('x.bin', 9_000 * MB)
  const { id } = await ada.begin('x.bin', 2)
  ada.memory.putPart(ada.memory.begun()[0] ?? '', 1, 2)
  const calls = [() => signParts(ada.ctx, ada.userId, id, [1]), () => completeParts(ada.ctx, ada.userId, id)]
  const allRefuse = async (code: string) => {
    ada.clock.ms += 1
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code })
  }
  // It replaces a large file, so there is room.
  ada.put('more', 10_000 * MB - 2)
  ada.clock.ms += 1
  expect(await calls[0]?.()).toMatchObject({ parts: [{ part: 1 }] })
  ada.put('more', 10_000 * MB - 1)
  await allRefuse('invalid')
  await ada.ctx.db.delete(plans)
  await ada.givePlan('premium')
  await ada.ctx.db.update(plans).set({ status: 'past_due' })
  await allRefuse('plan_unpaid')
  await ada.endPlan()
  await allRefuse('no_plan')
  await ada.givePlan('premium')
  expect(await calls[1]?.()).toEqual({ path: 'x.bin', size: 2 })
})

test('a file that has come counts once, and a link over it only by what it adds', async () => {
  const ada = await open()
  await ada.upload('a', 600 * MB)
  await expect(ada.link('b', 400 * MB + 1)).rejects.toMatchObject({ code: 'invalid' })
  await ada.link('a', 900 * MB)
  await ada.link('a', 800 * MB)
  await expect(ada.link('b', 100 * MB + 1)).rejects.toMatchObject({ code: 'invalid' })
  await ada.link('b', 100 * MB)
})

test('a link counts until its end while another file is there: it can be used once that is deleted', async () => {
  const ada = await open()
  for (const path of ['a', 'b']) {
    await ada.link(path, 450 * MB)
    ada.put(path, 1)
    ada.clock.ms += 1000
    await countChanged(ada.ctx)
  }
  await expect(ada.link('c', 450 * MB)).rejects.toMatchObject({ code: 'invalid' })
  ada.clock.ms += 30 * MINUTE
  await ada.link('c', 450 * MB)
})

test('someone has at most 100 open, and those whose file has come are not', async () => {
  const ada = await open('premium')
  for (let i = 0; i < 99; i++) await ada.upload(`runs/${i}`, 1)
  for (let i = 0; i < 100; i++) await ada.link(`more/${i}`, 1)
  await expect(ada.link('one more', 1)).rejects.toMatchObject({ code: 'too_many', retryAfter: 30 })
  await expect(ada.begin('one more', 1)).rejects.toMatchObject({ code: 'too_many' })
  const other = await open()
  await other.link('a', 1)
  ada.put('more/7', 1)
  await ada.link('one more', 1)
})

test('who uploads a hundred files again, unchanged, may upload more', async () => {
  const ada = await open('premium')
  for (let i = 0; i < 100; i++) await ada.upload(`runs/${i}`, 1)
  // Equal content has the same etag, so the bucket shows no difference.
  for (let i = 0; i < 100; i++) await ada.link(`runs/${i}`, 1)
  ada.clock.ms += 1000
  await ada.link('one more', 1)
})

/** Of more files than a request counts. */
async function openLargeFolder() {
  const ada = await open('premium')
  for (let i = 0; i < 3_001; i++) ada.put(`runs/${String(i).padStart(4, '0')}`, 1)
  await openQuery(ada.ctx, ada.userId, ada.clock.ms)
  ada.clock.ms += MINUTE
  await countChanged(ada.ctx)
  return ada
}

test('a large folder is not counted for each upload, and its links end all the same', async () => {
  const ada = await openLargeFolder()
  for (let i = 0; i < 200; i++) await ada.upload(`new/${i}`, 1)
  expect((await ada.rows()).filter(({ endedAt }) => endedAt === null).length).toBeLessThan(5)
})

test('in a large folder, uploads that someone stopped hold up no others', async () => {
  const ada = await openLargeFolder()
  let turns = 0
  ada.ctx.random = () => (turns++ * 0.618) % 1
  for (let i = 0; i < 4; i++) await ada.link(`stopped/${i}`, 1)
  for (let i = 0; i < 200; i++) await ada.upload(`new/${i}`, 1)
  expect((await ada.rows()).filter(({ endedAt }) => endedAt === null).length).toBeLessThan(20)
})

test('what was completed counts until a count has it', async () => {
  const ada = await open()
  for (let i = 0; i < 3_001; i++) ada.put(`runs/${String(i).padStart(4, '0')}`, 1)
  await openQuery(ada.ctx, ada.userId, ada.clock.ms)
  ada.clock.ms += MINUTE
  await countChanged(ada.ctx)
  const upload = async (path: string) => {
    const { id } = await ada.begin(path, 600 * MB)
    const uploadId = ada.memory.begun().at(-1) ?? ''
    for (let part = 1; part <= 36; part++) ada.memory.putPart(uploadId, part, part < 36 ? 16_777_216 : 12_797_440)
    await completeParts(ada.ctx, ada.userId, id)
    ada.clock.ms += 1
  }
  await upload('a.bin')
  await expect(upload('b.bin')).rejects.toMatchObject({ code: 'invalid' })
  ada.clock.ms += 2 * MINUTE
  await countChanged(ada.ctx)
  await expect(upload('b.bin')).rejects.toMatchObject({ code: 'invalid', message: /more than the/ })
})

test("parts that programs begin and don't end are counted, ended after 7 days, and end with the account", async () => {
  const ada = await open()
  const { prefix } = await ada.folder()
  const begin = async (path: string, size: number) => {
    const uploadId = await ada.memory.bucket.startParts(`${prefix}/files/${path}`, '')
    ada.memory.putPart(uploadId, 1, size)
    await openQuery(ada.ctx, ada.userId, ada.clock.ms)
  }
  await begin('a', 700 * MB)
  await ada.begin('own', 100 * MB)
  ada.clock.ms += MINUTE
  await countChanged(ada.ctx)
  expect(await ada.folder()).toMatchObject({ usedBytes: 0, partsBytes: 700 * MB })
  await expect(ada.link('b', 200 * MB + 1)).rejects.toMatchObject({ code: 'invalid' })
  await ada.link('b', 200 * MB)
  for (let day = 0; day < 8; day++) {
    ada.clock.ms += DAY
    await countChanged(ada.ctx)
  }
  expect((await ada.folder()).partsBytes).toBe(0)
  expect(ada.memory.begun()).toEqual([])
  await begin('late', 1)
  await ada.ctx.db.update(users).set({ closedAt: ada.clock.ms }).where(eq(users.id, ada.userId))
  await endFilesWithPlans(ada.ctx)
  await continueRemovals(ada.ctx)
  expect(ada.memory.begun()).toEqual([])
})

test('an upload that is completed four times at once is one file, and beside a discard it is over', async () => {
  const ada = await open()
  for (const kept of [false, true]) {
    if (kept) ada.put('x.bin', 4)
    ada.clock.ms += MINUTE
    const { id } = await ada.begin('x.bin', 600 * MB)
    for (let part = 1; part <= 36; part++)
      ada.memory.putPart(ada.memory.begun()[0] ?? '', part, part < 36 ? 16_777_216 : 12_797_440)
    const complete = () => completeParts(ada.ctx, ada.userId, id)
    const answers = await Promise.allSettled([complete(), complete(), complete(), complete()])
    expect(answers).toEqual(Array(4).fill({ status: 'fulfilled', value: { path: 'x.bin', size: 600 * MB } }))
    expect(await complete()).toEqual({ path: 'x.bin', size: 600 * MB })
  }
  ada.clock.ms += MINUTE
  const { id } = await ada.begin('y.bin', 1)
  ada.memory.putPart(ada.memory.begun()[0] ?? '', 1, 1)
  const bucket = {
    ...ada.ctx.bucket,
    completeParts: async () => {
      await abortParts(ada.ctx, ada.userId, id)
      return false
    },
  }
  await expect(completeParts({ ...ada.ctx, bucket }, ada.userId, id)).rejects.toMatchObject({ code: 'not_found' })
})

test('an upload that the bucket has lost is over, also beside an old file of its size', async () => {
  const ada = await open()
  ada.put('log.bin', 4)
  const { prefix } = await ada.folder()
  const key = `${prefix}/files/log.bin`
  const begin = async () => {
    const { id } = await ada.begin('log.bin', 4)
    const uploadId = ada.memory.begun().at(-1) ?? ''
    ada.memory.putPart(uploadId, 1, 4)
    ada.clock.ms++
    return { id, uploadId }
  }
  const lost = await begin()
  await ada.ctx.bucket.abortParts(key, lost.uploadId)
  await expect(completeParts(ada.ctx, ada.userId, lost.id)).rejects.toMatchObject({ code: 'not_found' })
  // The bucket made the file, and its answer was lost.
  const done = await begin()
  const replaced = await ada.ctx.bucket.find(key)
  await ada.ctx.bucket.completeParts(key, done.uploadId, [], replaced?.etag ?? null)
  expect(await completeParts(ada.ctx, ada.userId, done.id)).toEqual({ path: 'log.bin', size: 4 })
})

test('parts that a program sends to an upload of ours count beyond what it began with', async () => {
  const ada = await open()
  await openQuery(ada.ctx, ada.userId, ada.clock.ms)
  await ada.begin('own', 1)
  const [uploadId = ''] = ada.memory.begun()
  ada.memory.putPart(uploadId, 1, 1)
  ada.clock.ms += MINUTE
  await countChanged(ada.ctx)
  expect((await ada.folder()).partsBytes).toBe(0)
  for (let part = 1; part <= 4; part++) ada.memory.putPart(uploadId, part, 500 * MB)
  await openQuery(ada.ctx, ada.userId, ada.clock.ms)
  ada.clock.ms += MINUTE
  await countChanged(ada.ctx)
  expect(await ada.folder()).toMatchObject({ usedBytes: 0, partsBytes: 2000 * MB - 1 })
  expect(await filesModeOf(ada.ctx, ada.userId)).toMatchObject({ mode: 'read', why: 'full' })
  await expect(ada.link('b', 1)).rejects.toMatchObject({ code: 'invalid' })
  expect(await ada.mails()).toEqual(['Your files are full'])
  ada.takeLines()
  ada.memory.putPart(uploadId, 4, 500 * MB + 1)
  await openQuery(ada.ctx, ada.userId, ada.clock.ms)
  ada.clock.ms += MINUTE
  await countChanged(ada.ctx)
  expect(ada.takeLines()).toMatchObject([{ event: 'alert', matter: `files_over:${ada.userId}:200` }])
})

test('what unfinished uploads in parts may bring is not there for credentials and servers', async () => {
  const ada = await open()
  const mode = async (bytes: number) => {
    ada.put('a', bytes)
    ada.clock.ms += MINUTE
    await openQuery(ada.ctx, ada.userId, ada.clock.ms)
    ada.clock.ms += 1
    return filesModeOf(ada.ctx, ada.userId)
  }
  const { id } = await beginParts(ada.ctx, ada.userId, { path: 'b', size: 600 * MB, version: '1' })
  expect(await mode(400 * MB - 1)).toMatchObject({ mode: 'write' })
  expect(await mode(400 * MB)).toMatchObject({ mode: 'read', why: 'full' })
  await abortParts(ada.ctx, ada.userId, id)
  expect(await mode(400 * MB)).toMatchObject({ mode: 'write' })
})

test('an upload that another program ended takes no other file of its size for its own', async () => {
  const ada = await open()
  const { prefix } = await ada.folder()
  const { id } = await beginParts(ada.ctx, ada.userId, { path: 'f', size: 4, version: '1' })
  await ada.memory.bucket.abortParts(`${prefix}/files/f`, ada.memory.begun()[0] ?? '')
  ada.put('f', 4)
  await expect(completeParts(ada.ctx, ada.userId, id)).rejects.toMatchObject({ code: 'not_found' })
})

test('thousands of uploads that programs begin hide none behind them, and go', async () => {
  const ada = await open()
  const { prefix } = await ada.folder()
  const begin = (name: string) => ada.memory.bucket.startParts(`${prefix}/files/${name}`, '')
  for (let i = 0; i < 2_500; i++) await begin(`a${String(i).padStart(4, '0')}`)
  ada.clock.ms++
  ada.memory.putPart(await begin('z'), 1, 700 * MB)
  await openQuery(ada.ctx, ada.userId, ada.clock.ms)
  for (const left of [1501, 501, 100]) {
    ada.clock.ms += MINUTE
    await countChanged(ada.ctx)
    expect(ada.memory.begun()).toHaveLength(left)
    // What may be behind them counts as the largest file, until all are looked at.
    expect((await ada.folder()).partsBytes).toBe(700 * MB + (left > 100 ? MAX_FILE_BYTES : 0))
    expect((await filesModeOf(ada.ctx, ada.userId)).mode).toBe(left > 100 ? 'read' : 'write')
  }
  for (let i = 0; i < 2_500; i++) await begin(`b${i}`)
  await ada.ctx.db.update(users).set({ closedAt: ada.clock.ms }).where(eq(users.id, ada.userId))
  await endFilesWithPlans(ada.ctx)
  await continueRemovals(ada.ctx)
  expect(ada.memory.begun()).toEqual([])
})

test('accounts that cost many calls leave the rest of their trigger enough, and everyone has a turn', async () => {
  const accounts = await Promise.all(Array.from({ length: 12 }, () => open()))
  const [ada] = accounts as [(typeof accounts)[0], ...typeof accounts]
  ada.clock.ms += 1e7
  for (const one of accounts) {
    const { prefix } = await one.folder()
    for (let i = 0; i < 1_100; i++) await ada.memory.bucket.startParts(`${prefix}/files/${i}`, '')
    ada.memory.put(`${prefix}/files/a`, 7)
    await openQuery(ada.ctx, one.userId, ada.clock.ms)
    ada.clock.ms++
  }
  for (let triggers = 0; triggers < 3; triggers++) {
    const before = ada.memory.calls()
    ada.clock.ms += MINUTE
    await countChanged(ada.ctx)
    expect(ada.memory.calls() - before).toBeLessThan(5_000 + 4 * 2_000)
  }
  for (const one of accounts) expect((await one.folder()).usedBytes).toBe(7)
})

test('no upload makes more than 12 calls to the bucket, however deep its path', async () => {
  for (const files of [0, 3_000]) {
    const ada = await open()
    for (let i = 0; i < files; i++) ada.put(`runs/${String(i).padStart(4, '0')}`, 1)
    const path = `${'d/'.repeat(32)}a`
    for (const kept of ['', 'd/d/d/x', `${'d/'.repeat(31)}x`, `${'d/'.repeat(32)}x`]) {
      if (kept) ada.put(kept, 1)
      await openQuery(ada.ctx, ada.userId, ada.clock.ms)
      const before = ada.memory.calls()
      await ada.link(path, 1)
      expect(ada.memory.calls() - before, `beside ${kept}`).toBeLessThanOrEqual(12)
    }
    for (const depth of [1, 2, 5, 31]) {
      const bob = await open()
      bob.put(`${'d/'.repeat(depth - 1)}d`, 1)
      await expect(bob.link(path, 1)).rejects.toMatchObject({ message: /is a file, not a folder/ })
    }
  }
})

test('beginning, completing, listing, deleting, and counting make at most 12 calls to the bucket each', async () => {
  const ada = await open('premium')
  const { bucket } = ada.memory
  let pages = 0
  ada.ctx.bucket = {
    ...bucket,
    async listParts(key, uploadId) {
      const parts = await bucket.listParts(key, uploadId)
      pages += pagesOf(parts?.length ?? 0) - 1
      return parts
    },
    remove(keys) {
      pages += callsFor(keys) - 1
      return bucket.remove(keys)
    },
  }
  const calls = async (what: string, work: () => Promise<unknown>) => {
    await openQuery(ada.ctx, ada.userId, ada.clock.ms)
    const before = ada.memory.calls() + pages
    await work().catch(({ code }) => expect(code).toBe('conflict'))
    expect(ada.memory.calls() + pages - before, what).toBeLessThanOrEqual(12)
    ada.clock.ms += MINUTE
  }
  for (let i = 0; i < 1_900; i++) ada.put(`runs/${i}`, 1)
  ada.put('d/d/d/x', 1)
  const path = `${'d/'.repeat(32)}a`
  for (const end of ['as it began', 'replaced', 'being deleted']) {
    if (end === 'being deleted') ada.put(path, 1)
    const { id, parts } = await ada.begin(path, MAX_FILE_BYTES, end)
    await calls(`begin again, ${end}`, () => ada.begin(path, MAX_FILE_BYTES, end))
    const row = (await ada.rows()).find((one) => one.id === id)
    for (let part = 1; part <= parts; part++)
      ada.memory.putPart(row?.uploadId ?? '', part, lengthOfPart(MAX_FILE_BYTES, part))
    if (end === 'replaced') ada.put(path, 2)
    await calls(`complete, ${end}`, () => completeParts(ada.ctx, ada.userId, id))
  }
  await calls('begin', () => ada.begin(path, 1))
  await calls('list', () => listFiles(ada.ctx, ada.userId, { path: 'runs', after: null }))
  for (let i = 0; i < 9_000; i++) ada.put(`many/${i}${i % 2_000 ? '' : ' '}`, 1)
  await calls('size', () => sizeUpFolder(ada.ctx, ada.userId, 'many'))
  await calls('delete', () => deleteFiles(ada.ctx, ada.userId, { path: 'many/' }))
})

test('as many rows go as come, and one upload that cannot be ended keeps no other', async () => {
  const ada = await open('premium')
  const eve = await open('premium')
  await eve.begin('stuck', 1)
  for (let i = 0; i < 100; i++) await ada.begin(`${i}`, 1)
  const now = ada.clock.ms
  await ada.ctx.db.insert(fileUploads).values(
    Array.from({ length: 300 }, (_, i) => ({
      id: `${ada.userId}${i}`,
      userId: ada.userId,
      path: `old/${i}`,
      size: 1,
      createdAt: now,
      expiresAt: now,
    })),
  )
  ada.memory.failBelow((await eve.folder()).prefix)
  ada.clock.ms += 8 * DAY
  await expect(dropStaleUploads(ada.ctx)).rejects.toThrow('lost this folder')
  expect(await ada.rows()).toEqual([])
  expect(ada.memory.begun()).toEqual([])
  expect(await eve.rows()).toMatchObject([{ path: 'stuck' }])
})

test.each([
  ['heldAt', 'held'],
  ['suspendedAt', 'suspended'],
] as const)('an account with %s reads and deletes its files, and adds none', async (column, code) => {
  const ada = await openFilesAccount('premium')
  ada.put('a', 1)
  const wish = { path: 'b', size: 4, version: '1' }
  const { id } = await beginParts(ada.ctx, ada.userId, wish)
  await ada.ctx.db
    .update(users)
    .set({ [column]: ada.clock.ms })
    .where(eq(users.id, ada.userId))
  await expect(requestUpload(ada.ctx, ada.userId, wish)).rejects.toMatchObject({ code })
  await expect(beginParts(ada.ctx, ada.userId, { ...wish, path: 'c' })).rejects.toMatchObject({ code })
  await expect(signParts(ada.ctx, ada.userId, id, [1])).rejects.toMatchObject({ code })
  await expect(giveCredentials(ada.ctx, ada.userId, 'write')).rejects.toMatchObject({ code: 'conflict' })
  expect((await giveCredentials(ada.ctx, ada.userId, 'read')).mode).toBe('read')
  expect(await linkToFile(ada.ctx, ada.userId, 'a')).toContain('a')
  await endFilesWithPlans(ada.ctx)
  expect(await ada.mails()).toEqual([])
  await deleteFiles(ada.ctx, ada.userId, { path: 'a' })
  expect(ada.keys()).toEqual([])
  await ada.ctx.db
    .update(users)
    .set({ [column]: null })
    .where(eq(users.id, ada.userId))
  expect((await giveCredentials(ada.ctx, ada.userId, 'write')).mode).toBe('write')
})
