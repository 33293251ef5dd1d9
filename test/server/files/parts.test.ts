import { eq } from 'drizzle-orm'
import { expect, inject, test } from 'vitest'
import { openDatabase } from '../../../db/client.ts'
import { fileFolders } from '../../../db/schema/files.ts'
import { lengthOfPart } from '../../../src/domain/file-parts.ts'
import type { FileList, PartLinks, PartsUpload, UnfinishedUpload } from '../../../src/domain/wire/files.ts'
import { type Client, newPerson } from '../../../testing/people/client.ts'

const url = inject('url')
const db = openDatabase(inject('databaseUrl'))
const MIB = 1024 * 1024
const SIZE = 33 * MIB

async function begin(person: Client, wish: { path?: string; size?: number; version?: string } = {}) {
  const json = { path: 'runs/long.bag', size: SIZE, version: '1', ...wish }
  const { status, body } = await person.request<{ upload: PartsUpload; error: string }>(
    'POST',
    '/api/v1/files/uploads',
    json,
  )
  return { status, error: body.error, ...body.upload }
}

const links = (person: Client, id: string, parts: number[]) =>
  person.request<PartLinks & { error: string }>('POST', `/api/v1/files/uploads/${id}/parts`, { parts })
const complete = (person: Client, id: string) => person.request('POST', `/api/v1/files/uploads/${id}/complete`)
const list = async (person: Client, path: string) =>
  (await person.request<FileList>('GET', `/api/v1/files?path=${path}`)).body.files
const unfinished = async (person: Client) =>
  (await person.request<{ uploads: UnfinishedUpload[] }>('GET', '/api/v1/files/uploads')).body.uploads

async function sendPart(person: Client, id: string, part: number, bytes = lengthOfPart(SIZE, part)): Promise<number> {
  const { body } = await links(person, id, [part])
  const link = body.parts[0]
  if (!link) throw new Error(body.error)
  return (await fetch(link.url, { method: link.method, headers: link.headers, body: Buffer.alloc(bytes, part) })).status
}

test('an upload that broke off continues with the parts that are missing', async () => {
  const ada = await newPerson(url)
  const first = await begin(ada)
  expect(first).toMatchObject({ status: 200, parts: 3, part_size: 16 * MIB, done: [] })
  expect(await sendPart(ada, first.id, 2)).toBe(200)
  expect(await sendPart(ada, first.id, 3)).toBe(200)
  expect(await unfinished(ada)).toMatchObject([{ id: first.id, path: 'runs/long.bag', size: SIZE, version: '1' }])
  expect(await list(ada, 'runs')).toEqual([])

  const again = await begin(ada)
  expect([again.id, again.done]).toEqual([first.id, [2, 3]])
  const tooEarly = await complete(ada, first.id)
  expect([tooEarly.status, tooEarly.body.error]).toEqual([422, '1 of 3 parts are missing. Send them first.'])
  expect(await sendPart(ada, first.id, 1)).toBe(200)
  for (let i = 0; i < 2; i++)
    expect((await complete(ada, first.id)).body).toMatchObject({ file: { path: 'runs/long.bag', size: SIZE } })
  expect(await list(ada, 'runs')).toMatchObject([{ name: 'long.bag', size: SIZE }])
  expect(await unfinished(ada)).toEqual([])
  expect((await links(ada, first.id, [1])).status).toBe(404)
})

test('never replaces what was written, or is gone, since it began', async () => {
  const ada = await newPerson(url)
  const path = 'runs/log.txt'
  const write = async (content: string) => {
    const link = await ada.post('/api/v1/files', { path, size: content.length })
    const { url, method, headers } = link.body.upload
    expect((await fetch(url, { method, headers, body: content })).status).toBe(200)
  }
  const begun = async () => {
    const { id } = await begin(ada, { path, size: 3 })
    const link = (await links(ada, id, [1])).body.parts[0]
    expect((await fetch(link?.url ?? '', { method: 'PUT', body: 'old' })).status).toBe(200)
    return id
  }
  const sentence = `${path} was changed or deleted after this upload began, so we didn't save your file. Upload it again to save it.`
  const refused = async (id: string) => {
    const { status, body } = await complete(ada, id)
    expect([status, body.code, body.error]).toEqual([409, 'conflict', sentence])
    expect(await unfinished(ada)).toEqual([])
    expect((await complete(ada, id)).status).toBe(404)
  }
  const overNothing = await begun()
  await write('newer')
  await refused(overNothing)
  const overSome = await begun()
  await write('newest')
  await refused(overSome)
  expect(await list(ada, 'runs')).toMatchObject([{ name: 'log.txt', size: 6 }])
  const overGone = await begun()
  expect((await ada.request('DELETE', `/api/v1/files?path=${path}`)).status).toBe(200)
  await refused(overGone)
  expect(await list(ada, 'runs')).toEqual([])
  expect((await complete(ada, await begun())).status).toBe(200)
})

test('another version, size, or path begins anew', async () => {
  const ada = await newPerson(url)
  const first = await begin(ada)
  for (const other of [{ version: '2' }, { size: SIZE + 1 }, { path: 'other.bag' }])
    expect((await begin(ada, other)).id, JSON.stringify(other)).not.toBe(first.id)
})

test('a link takes one part of one length', async () => {
  const ada = await newPerson(url)
  const { id } = await begin(ada)
  expect(await sendPart(ada, id, 3, MIB + 1)).toBe(403)
  const { body } = await links(ada, id, [3])
  const other = (body.parts[0]?.url ?? '').replace('partNumber=3', 'partNumber=2')
  expect((await fetch(other, { method: 'PUT', body: Buffer.alloc(MIB) })).status).toBe(403)
  expect((await links(ada, id, [])).body.error).toBe('Name 1 to 100 parts.')
  expect((await links(ada, id, [4])).body.error).toBe('This upload has parts 1 to 3.')
  expect((await links(ada, id, [1.5])).status).toBe(422)
})

test('a file has only the parts that it began with, whatever a program adds', async () => {
  const ada = await newPerson(url)
  const { id } = await begin(ada, { size: MIB })
  const { body } = await links(ada, id, [1])
  const link = body.parts[0]?.url ?? ''
  expect((await fetch(link, { method: 'PUT', body: Buffer.alloc(MIB) })).status).toBe(200)
  const access = (await ada.post('/api/v1/files/credentials', { mode: 'write' })).body.credentials
  const { AwsClient } = await import('aws4fetch')
  const program = new AwsClient({
    accessKeyId: access.access_key_id,
    secretAccessKey: access.secret_access_key,
    sessionToken: access.session_token,
    region: access.region,
    service: 's3',
  })
  const { origin, pathname, searchParams } = new URL(link)
  const more = `${origin}${pathname}?partNumber=2&uploadId=${encodeURIComponent(searchParams.get('uploadId') ?? '')}`
  expect((await program.fetch(more, { method: 'PUT', body: Buffer.alloc(MIB) })).status).toBe(200)
  expect((await complete(ada, id)).status).toBe(200)
  expect(await list(ada, 'runs')).toMatchObject([{ size: MIB }])
})

test('what no longer fits at its end stays unfinished', async () => {
  const ada = await newPerson(url)
  const { id } = await begin(ada, { size: MIB })
  const { body } = await links(ada, id, [1])
  const link = body.parts[0]
  expect((await fetch(link?.url ?? '', { method: 'PUT', body: Buffer.alloc(MIB) })).status).toBe(200)
  // As if something else had come first, and was just counted.
  const full = { usedBytes: 1_000_000_000 - MIB + 1, countedAt: Date.now() + 3_600_000, openUntil: 0 }
  await db.update(fileFolders).set(full).where(eq(fileFolders.userId, ada.id))
  expect((await complete(ada, id)).status).toBe(422)
  expect(await list(ada, 'runs')).toEqual([])
  await db
    .update(fileFolders)
    .set({ usedBytes: full.usedBytes - 1 })
    .where(eq(fileFolders.userId, ada.id))
  expect((await complete(ada, id)).status).toBe(200)
})

test('what is larger than the plan is refused before the first byte', async () => {
  const ada = await newPerson(url)
  expect(await begin(ada, { size: 1_000_000_001 })).toMatchObject({
    status: 422,
    error: expect.stringContaining('more than the 1 GB you have left'),
  })
  expect((await begin(ada, { size: 1_000_000_000 })).status).toBe(200)
  expect((await begin(ada, { path: '../x' })).status).toBe(422)
  expect((await begin(ada, { size: 0 })).error).toBe('An empty file has no parts. Send it whole.')
  expect((await begin(ada, { size: 6_000_000_000_000 })).error).toBe('A file can have 5 TB.')
  expect((await begin(ada, { version: 'x'.repeat(101) })).status).toBe(400)
})

test("nobody continues, ends, or discards somebody else's upload", async () => {
  const [ada, eve] = [await newPerson(url), await newPerson(url)]
  const { id } = await begin(ada)
  expect((await links(eve, id, [1])).status).toBe(404)
  expect((await complete(eve, id)).status).toBe(404)
  expect((await eve.request('DELETE', `/api/v1/files/uploads/${id}`)).status).toBe(404)
  expect(await unfinished(eve)).toEqual([])
  expect((await ada.request('DELETE', `/api/v1/files/uploads/${id}`)).status).toBe(200)
  expect(await unfinished(ada)).toEqual([])
  expect((await complete(ada, id)).status).toBe(404)
})
