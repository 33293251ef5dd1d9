import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { fileDeletions, fileMoves } from '../../../db/schema.ts'
import { deleteFiles } from '../../../src/server/files/delete.ts'
import { listFiles } from '../../../src/server/files/list-files.ts'
import { continueMoves } from '../../../src/server/files/moves.ts'
import { purgeDeletions } from '../../../src/server/files/purge.ts'
import { requestUpload } from '../../../src/server/files/upload.ts'
import { openFilesAccount } from '../../../testing/stack/files-account.ts'

const DAY = 86_400_000
const LEASE = 5 * 60_000 + 1

test('deletes 10,000 files, most of them after the answer, and shows none of them meanwhile', async () => {
  const ada = await openFilesAccount('premium')
  for (let i = 0; i < 10_000; i++) ada.put(`runs/${i}.csv`, 10)
  ada.put('runs.txt', 1)
  ada.put('runs2/a.csv', 1)
  const { id } = await deleteFiles(ada.ctx, ada.userId, 'runs')
  expect(ada.keys().filter((key) => key.startsWith('files/runs/'))).toHaveLength(9_800)
  const listed = await listFiles(ada.ctx, ada.userId, { path: '', after: null })
  expect(listed).toMatchObject({ folders: [{ name: 'runs2' }], files: [{ name: 'runs.txt' }] })
  expect((await listFiles(ada.ctx, ada.userId, { path: 'runs', after: null })).files).toEqual([])
  await expect(requestUpload(ada.ctx, ada.userId, { path: 'runs/new.csv', size: 1 })).rejects.toMatchObject({
    code: 'conflict',
  })
  for (let i = 0; i < 5; i++) {
    ada.clock.ms++
    await continueMoves(ada.ctx)
  }
  expect(ada.keys().filter((key) => key.startsWith('files/'))).toEqual(['files/runs.txt', 'files/runs2/a.csv'])
  expect(ada.keys().filter((key) => key.startsWith(`trash/${id}/`))).toHaveLength(10_000)
  expect((await ada.ctx.db.select().from(fileMoves).where(eq(fileMoves.userId, ada.userId)))[0]).toMatchObject({
    movedFiles: 10_000,
    movedBytes: 100_000,
    doneAt: expect.any(Number),
  })
  expect((await requestUpload(ada.ctx, ada.userId, { path: 'runs/new.csv', size: 1 })).path).toBe('runs/new.csv')
})

test('a deletion that dies at any call is finished by a trigger, and no file is lost', async () => {
  const paths = ['a/1', 'a/2', 'a/b/3', 'a/4']
  for (let calls = 0; ; calls++) {
    const ada = await openFilesAccount()
    for (const path of paths) ada.put(path, 10)
    ada.memory.dieAfter(calls)
    const answered = await deleteFiles(ada.ctx, ada.userId, 'a').catch(() => null)
    ada.memory.dieAfter(null)
    const has = (path: string) => ada.keys().some((key) => key === `files/${path}` || key.endsWith(path.slice(1)))
    expect(paths.every(has), `after ${calls} calls`).toBe(true)
    if (answered === null) continue
    ada.clock.ms += LEASE
    await continueMoves(ada.ctx)
    expect(ada.keys()).toEqual(['1', '2', '4', 'b/3'].map((name) => `trash/${answered.id}/${name}`))
    const [move] = await ada.ctx.db.select().from(fileMoves).where(eq(fileMoves.userId, ada.userId))
    // The whole of it, without a failure.
    if (move?.doneAt !== null && ada.takeLines().length === 0) return
  }
})

test('removes for good what nobody took back in 7 days', async () => {
  const ada = await openFilesAccount()
  ada.put('a.txt', 10)
  const { undoUntil } = await deleteFiles(ada.ctx, ada.userId, 'a.txt')
  expect(undoUntil).toBe(ada.clock.ms + 7 * DAY)
  ada.clock.ms = undoUntil - 1
  await purgeDeletions(ada.ctx)
  await continueMoves(ada.ctx)
  expect(ada.keys()).toHaveLength(1)
  ada.clock.ms = undoUntil
  await purgeDeletions(ada.ctx)
  await continueMoves(ada.ctx)
  expect(ada.keys()).toEqual([])
})

test('what is deleted may have as much as the plan includes: the oldest goes first, the last one stays', async () => {
  const ada = await openFilesAccount()
  const remove = async (path: string, size: number) => {
    ada.put(path, size)
    ada.clock.ms++
    return (await deleteFiles(ada.ctx, ada.userId, path)).id
  }
  const first = await remove('a', 600_000_000)
  const second = await remove('b', 400_000_000)
  const open = async () => {
    const rows = await ada.ctx.db.select().from(fileDeletions).where(eq(fileDeletions.userId, ada.userId))
    return rows.filter(({ endedAt }) => endedAt === null).map(({ id }) => id)
  }
  expect((await open()).sort()).toEqual([first, second].sort())
  const third = await remove('c', 1)
  expect((await open()).sort()).toEqual([second, third].sort())
  const huge = await remove('d', 3_000_000_000)
  expect(await open()).toEqual([huge])
})

test('of two deletions at once, one has every file, and the other finds nothing', async () => {
  const ada = await openFilesAccount()
  for (let i = 0; i < 10; i++) ada.put(`a/${i}`, 10)
  const both = await Promise.allSettled([1, 2].map(() => deleteFiles(ada.ctx, ada.userId, 'a')))
  const won = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []))
  expect(won).toHaveLength(1)
  expect(ada.keys()).toEqual(Array.from({ length: 10 }, (_, i) => `trash/${won[0]}/${i}`))
})

test('what still moves to the trash is not emptied halfway', async () => {
  const ada = await openFilesAccount()
  for (let i = 0; i < 300; i++) ada.put(`a/${i}`, 10)
  const { undoUntil } = await deleteFiles(ada.ctx, ada.userId, 'a')
  ada.clock.ms = undoUntil
  await purgeDeletions(ada.ctx)
  await continueMoves(ada.ctx)
  expect(ada.keys()).toHaveLength(300)
  await purgeDeletions(ada.ctx)
  await continueMoves(ada.ctx)
  expect(ada.keys()).toEqual([])
})
