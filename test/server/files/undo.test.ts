import { eq } from 'drizzle-orm'
import { expect, inject, test } from 'vitest'
import { openDatabase } from '../../../db/client.ts'
import { fileFolders } from '../../../db/schema.ts'
import type { FileDeletion } from '../../../src/domain/wire.ts'
import { type Client, newPerson } from '../../../testing/people/client.ts'
import { namesIn, upload } from '../../../testing/people/file-owner.ts'

const url = inject('url')
const db = openDatabase(inject('databaseUrl'))

const remove = async (person: Client, path: string) =>
  (await person.request('DELETE', `/api/v1/files?path=${path}`)).body.deletion.id as string

async function undo(person: Client, id: string): Promise<[number, string]> {
  const { status, body } = await person.post(`/api/v1/files/deletions/${id}/undo`)
  return [status, body.error ?? body.message]
}

const deleted = async (person: Client) =>
  (await person.request<{ deletions: FileDeletion[] }>('GET', '/api/v1/files/deletions')).body.deletions

test('restores a file and a folder, once, and keeps what took their place', async () => {
  const ada = await newPerson(url)
  await upload(ada, 'a.txt', 'first')
  await upload(ada, 'runs/2026/b.txt')
  const [file, folder] = [await remove(ada, 'a.txt'), await remove(ada, 'runs')]
  expect(await namesIn(ada)).toEqual([])
  expect((await deleted(ada)).map(({ path }) => path).toSorted()).toEqual(['a.txt', 'runs'])
  await upload(ada, 'a.txt', 'second')
  expect(await undo(ada, file)).toEqual([200, 'Restored a (restored).txt.'])
  expect(await undo(ada, folder)).toEqual([200, 'Restored runs.'])
  expect(await undo(ada, folder)).toEqual([404, 'This can no longer be undone.'])
  expect(await namesIn(ada)).toEqual(['runs/', 'a (restored).txt', 'a.txt'])
  expect(await namesIn(ada, 'runs/2026')).toEqual(['b.txt'])
  expect(await deleted(ada)).toEqual([])
})

test("nobody restores or sees somebody else's deletion", async () => {
  const [ada, eve] = [await newPerson(url), await newPerson(url)]
  await upload(ada, 'a.txt')
  const id = await remove(ada, 'a.txt')
  expect((await undo(eve, id))[0]).toBe(404)
  expect(await deleted(eve)).toEqual([])
  expect((await undo(ada, id))[0]).toBe(200)
})

test('restores only what still fits', async () => {
  const ada = await newPerson(url)
  await upload(ada, 'a.txt', 'hello')
  const id = await remove(ada, 'a.txt')
  // As if counted a moment ago.
  const full = { usedBytes: 999_999_996, countedAt: Date.now() + 3_600_000, openUntil: 0 }
  await db.update(fileFolders).set(full).where(eq(fileFolders.userId, ada.id))
  const [status, words] = await undo(ada, id)
  expect([status, words]).toEqual([422, expect.stringContaining('There is no room to restore this: it has 5 bytes')])
  await db.update(fileFolders).set({ usedBytes: 999_999_995 }).where(eq(fileFolders.userId, ada.id))
  expect(await undo(ada, id)).toEqual([200, 'Restored a.txt.'])
})
