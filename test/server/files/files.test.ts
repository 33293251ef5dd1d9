import { expect, inject, test } from 'vitest'
import { type Client, newPerson, waitFor } from '../../../testing/people/client.ts'
import { listFolder, upload } from '../../../testing/people/file-owner.ts'

const url = inject('url')

type Upload = { path: string; url: string; method: string; headers: Record<string, string>; expires_at: string }

async function linkFor(person: Client, path: string, size: number): Promise<Upload> {
  const { status, body } = await person.request<{ upload: Upload }>('POST', '/api/v1/files', { path, size })
  expect([status, body]).toMatchObject([201, { upload: { path } }])
  return body.upload
}

const send = ({ url, method, headers }: Upload, content: BodyInit) => fetch(url, { method, headers, body: content })

const content = (person: Client, path: string) =>
  person.request('GET', `/api/v1/files/content?path=${encodeURIComponent(path)}`)

test('uploads straight to the bucket, lists, counts, downloads, and deletes', async () => {
  const ada = await newPerson(url)
  expect(await listFolder(ada)).toMatchObject({
    path: '',
    folders: [],
    files: [],
    used_bytes: 0,
    limit_bytes: 1_000_000_000,
  })
  await upload(ada, 'runs/flight 1.csv', 'time,height\n')
  await upload(ada, 'رحلة.txt', 'مرحبا')
  const root = await listFolder(ada)
  expect(root.folders).toEqual([{ name: 'runs' }])
  expect(root.files).toMatchObject([{ name: 'رحلة.txt', size: 10 }])
  expect(root.used_bytes).toBe(22)
  expect((await listFolder(ada, 'runs')).files).toMatchObject([{ name: 'flight 1.csv', size: 12 }])

  const link = await content(ada, 'runs/flight 1.csv')
  expect(link.status).toBe(302)
  // A page reads for the person it shows, although someone else may have signed in since.
  const shown = async (id: string) =>
    (await ada.request('GET', `/api/v1/files/content?path=runs/flight%201.csv&person=${id}`)).status
  const { id } = (await ada.get<{ Body: { id: string } }>('/api/v1/users/get_session')).body.Body
  expect([await shown(id), await shown('user_of_another')]).toEqual([302, 409])
  const downloaded = await fetch(link.headers.get('location') ?? '')
  expect(await downloaded.text()).toBe('time,height\n')
  expect(downloaded.headers.get('content-disposition')).toContain('attachment; filename="flight 1.csv"')
  expect(downloaded.headers.get('content-type')).toBe('text/csv; charset=utf-8')

  expect((await ada.request('GET', '/api/v1/files/size?path=runs/')).body).toMatchObject({ files: 1, bytes: 12 })
  const missed = await ada.request('DELETE', '/api/v1/files?path=runs')
  expect([missed.status, missed.body.error]).toEqual([404, "No file has this path. A folder's path ends in a slash."])
  const gone = await ada.request('DELETE', '/api/v1/files?path=runs/')
  expect([gone.status, gone.body]).toMatchObject([200, { message: 'Deleted runs/.', path: 'runs/', files_left: 0 }])
  expect(await listFolder(ada)).toMatchObject({ folders: [], files: [{ name: 'رحلة.txt' }], used_bytes: 10 })
  expect((await content(ada, 'runs/flight 1.csv')).status).toBe(404)
  expect((await ada.request('DELETE', '/api/v1/files?path=runs/')).status).toBe(404)
})

test('a link takes its own size and type, once', async () => {
  const ada = await newPerson(url)
  const link = await linkFor(ada, 'a.txt', 5)
  expect((await send(link, 'too long')).status).toBe(403)
  expect((await send({ ...link, headers: { ...link.headers, 'Content-Type': 'text/html' } }, 'hello')).status).toBe(403)
  expect((await send({ ...link, url: link.url.replace('a.txt', 'b.txt') }, 'hello')).status).toBe(403)
  const { 'If-None-Match': _, ...bare } = link.headers
  expect((await send({ ...link, headers: bare }, 'hello')).status).toBe(403)
  expect((await send(link, 'hello')).status).toBe(200)
  expect((await send(link, 'world')).status).toBe(412)
  const again = await linkFor(ada, 'a.txt', 5)
  expect((await send(again, 'world')).status).toBe(200)
  expect((await send(again, 'third')).status).toBe(412)
  const read = await content(ada, 'a.txt')
  expect(await (await fetch(read.headers.get('location') ?? '')).text()).toBe('world')
})

test('refuses paths that lead elsewhere, and what is larger than the rest of the plan', async () => {
  const ada = await newPerson(url)
  const refused = async (path: string, size = 1) => {
    const { status, body } = await ada.request('POST', '/api/v1/files', { path, size })
    return [status, body.error]
  }
  for (const path of [
    '../a',
    'a/../b',
    '/a',
    'a\n',
    'a\u0000',
    '',
    'a//b',
    'a/',
    './a',
    'a\u202Etxt.exe',
    'é'.repeat(257),
    `${'d/'.repeat(33)}a`,
    `a${'\u0301'.repeat(30_000)}`,
  ])
    expect(await refused(path), path).toMatchObject([422, expect.any(String)])
  // Programs may have written it, so people may look for it.
  for (const path of ['../a', '/a', 'a\u0007'])
    expect((await ada.request('GET', `/api/v1/files?path=${encodeURIComponent(path)}`)).status, path).toBe(200)
  expect((await ada.request('GET', `/api/v1/files?path=${'a'.repeat(1025)}`)).status).toBe(422)
  await upload(ada, 'a.txt', 'hello')
  expect(await refused('b.bin', 1_000_000_000)).toEqual([
    422,
    'This upload is 1 GB, more than the 999.9 MB you have left: your files use 5 bytes of the 1 GB in your plan. Delete files, or choose a larger plan.',
  ])
  expect(await refused('b.bin', -1)).toMatchObject([422, 'The size must be a whole number of bytes.'])
})

test('nobody sees or reaches the files of others', async () => {
  const [ada, eve] = [await newPerson(url), await newPerson(url)]
  await upload(ada, 'secret.txt', 'hello')
  expect((await listFolder(eve)).files).toEqual([])
  expect((await content(eve, 'secret.txt')).status).toBe(404)
  expect((await eve.request('DELETE', '/api/v1/files?path=secret.txt')).status).toBe(404)
  expect((await eve.request('GET', '/api/v1/files/size?path=')).status).toBe(404)
  expect((await eve.request('DELETE', '/api/v1/files?path=/')).status).toBe(404)
  const link = await linkFor(eve, 'secret.txt', 5)
  const theirs = (await content(ada, 'secret.txt')).headers.get('location') ?? ''
  const forged = link.url.replace(new URL(link.url).pathname, new URL(theirs).pathname)
  expect((await send({ ...link, url: forged }, 'eve!!')).status).toBe(403)
  await waitFor(async () => (await listFolder(ada)).used_bytes === 5)
})

test('what there was once says where it went, for one release', async () => {
  const ada = await newPerson(url)
  const answers = [
    await ada.request('POST', '/api/v1/files/moves', { path: 'a', to: 'b' }),
    await ada.request('POST', '/api/v1/files/folders', { path: 'a' }),
    await ada.request('GET', '/api/v1/files/deletions'),
    await ada.request('POST', '/api/v1/files/deletions/del_1/undo'),
  ]
  expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
    [410, "A bucket can't rename. Rename or move files in /data on a server, or with rclone."],
    [410, 'A folder exists once it has a file. Upload a file into it.'],
    [410, "Deleted files are gone for good. You can't undo this."],
    [410, "Deleted files are gone for good. You can't undo this."],
  ])
})

test('lets a name be either a file or a folder, as on a disk', async () => {
  const ada = await newPerson(url)
  await upload(ada, 'notes', 'a file')
  await upload(ada, 'runs/a.csv', 'a')
  const refused = async (method: 'POST', path: string, body: object) => {
    const answer = await ada.request<{ error: string }>(method, path, body)
    return [answer.status, answer.body.error]
  }
  const isFile = 'notes is a file, not a folder. Choose another folder.'
  const isFolder = 'runs is a folder, not a file. Choose another name.'
  expect(await refused('POST', '/api/v1/files', { path: 'notes/b/c.csv', size: 1 })).toEqual([422, isFile])
  expect(await refused('POST', '/api/v1/files', { path: 'runs', size: 1 })).toEqual([422, isFolder])
  const parts = { size: 1, version: '1' }
  expect(await refused('POST', '/api/v1/files/uploads', { path: 'notes/b.csv', ...parts })).toEqual([422, isFile])
  expect(await refused('POST', '/api/v1/files/uploads', { path: 'runs', ...parts })).toEqual([422, isFolder])

  // Names that only begin alike are others'.
  await upload(ada, 'notes.txt', 'a file')
  await upload(ada, 'run', 'a file')
  await upload(ada, 'notes', 'replaced')
})
