import { createHash } from 'node:crypto'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { startStack } from '../../dev/stack.ts'
import type { FileList, FilesAccess, FileUpload } from '../../src/domain/wire/files.ts'
import { s3Bucket } from '../../src/server/files/s3-bucket.ts'
import { encodeSegment } from '../../src/server/files/s3-request.ts'
import { type Client, newPerson } from '../../testing/people/client.ts'
import { atEnd, temporaryFolder } from '../../testing/stack/at-end.ts'
import { quickHasher } from '../../testing/stack/quick-hasher.ts'

const stack = await startStack({ dataDir: temporaryFolder('files'), ec2BootMs: 300, log: () => {}, ...quickHasher })
atEnd(() => stack.close())
const { url } = stack
const dev = (path: string, body: unknown) =>
  fetch(`${url}/dev/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
const advance = (seconds: number) => dev('clock', { advance_seconds: seconds })

async function linkFor(person: Client, path: string, size: number): Promise<FileUpload> {
  return (await person.post<{ upload: FileUpload }>('/api/v1/files', { path, size })).body.upload
}
const send = ({ url, method, headers }: FileUpload, body: string) => fetch(url, { method, headers, body })
const content = (person: Client, path: string) => person.get(`/api/v1/files/content?path=${encodeURIComponent(path)}`)

async function accessOf(person: Client, mode: 'read' | 'write'): Promise<FilesAccess> {
  return (await person.post<{ credentials: FilesAccess }>('/api/v1/files/credentials', { mode })).body.credentials
}

/** What a stolen set of credentials can do: the status of each call. */
function thief(access: FilesAccess) {
  const headers = { 'x-amz-security-token': access.session_token }
  const call = async (method: string, key: string, query = '', more: Record<string, string> = {}, body?: string) => {
    const { AwsV4Signer } = await import('aws4fetch')
    const { url, headers: signed } = await new AwsV4Signer({
      url: `${access.endpoint}/${access.bucket}${key}${query}`,
      method,
      headers: { ...headers, ...more },
      accessKeyId: access.access_key_id,
      secretAccessKey: access.secret_access_key,
      region: access.region,
      service: 's3',
    }).sign()
    const response = await fetch(url, { method, headers: signed, ...(body === undefined ? {} : { body }) })
    return { status: response.status, text: await response.text() }
  }
  return call
}

test('whatever key a program wrote is listed, downloaded, and deleted, and nothing else with it', async () => {
  const ada = await newPerson(url)
  const access = await accessOf(ada, 'write')
  const write = thief(access)
  const odd = [
    ' a',
    'a ',
    'a\tb',
    '\u0001',
    'a//b',
    'a/',
    '%2F',
    '%2e%2e',
    `'"`,
    'a+b&c',
    '👩‍🚀',
    'e\u0301',
    '<a>',
    'x'.repeat(900),
  ]
  const address = (key: string) => `/${access.prefix}${key.split('/').map(encodeSegment).join('/')}`
  for (const key of odd) expect((await write('PUT', address(key), '', {}, `of ${key}`)).status, key).toBe(200)
  const listed = async () => {
    const names = async (path: string): Promise<string[]> => {
      const { body } = await ada.get<FileList>(`/api/v1/files?path=${encodeURIComponent(path)}`)
      const below = await Promise.all(body.folders.map(({ name }) => names(`${path}${name}/`)))
      return [...body.files.map(({ name }) => path + name), ...below.flat()]
    }
    return (await names('')).sort()
  }
  const left = new Set(odd)
  expect(await listed()).toEqual([...left].sort())
  for (const key of odd) {
    const text = await (await fetch((await content(ada, key)).headers.get('location') ?? '')).text()
    expect(text, key).toBe(`of ${key}`)
    const { status } = await ada.request('DELETE', `/api/v1/files?only=file&path=${encodeURIComponent(key)}`)
    left.delete(key)
    expect([key, status, await listed()]).toEqual([key, 200, [...left].sort()])
  }
})

test('a link is refused once its time is over', async () => {
  const ada = await newPerson(url)
  const [early, late] = [await linkFor(ada, 'early.txt', 5), await linkFor(ada, 'late.txt', 5)]
  expect((await send(early, 'hello')).status).toBe(200)
  const download = (await content(ada, 'early.txt')).headers.get('location') ?? ''
  expect((await fetch(download)).status).toBe(200)
  await advance(61)
  expect((await fetch(download)).status).toBe(403)
  await advance(15 * 60)
  expect((await send(late, 'hello')).status).toBe(403)
})

test('credentials reach their own files, in their mode, until they end', async () => {
  const [ada, eve] = [await newPerson(url), await newPerson(url)]
  await send(await linkFor(ada, 'a.txt', 5), 'hello')
  await send(await linkFor(eve, 'b.txt', 5), 'world')
  const [theirs, mine] = [await accessOf(ada, 'read'), await accessOf(eve, 'write')]
  expect(mine.prefix).not.toBe(theirs.prefix)
  const steal = thief(mine)
  const status = async (...call: Parameters<typeof steal>) => (await steal(...call)).status
  const own = `/${mine.prefix}b.txt`
  const foreign = `/${theirs.prefix}a.txt`
  expect(await status('GET', own)).toBe(200)
  expect((await steal('GET', '', `?list-type=2&prefix=${encodeURIComponent(mine.prefix)}`)).text).toContain('b.txt')
  const copy = { 'x-amz-copy-source': `/${mine.bucket}${foreign}` }
  const attacks: Parameters<typeof steal>[] = [
    ['GET', foreign],
    ['PUT', foreign, '', {}, 'eve'],
    ['DELETE', foreign],
    ['PUT', own, '', copy],
    ['GET', '', `?list-type=2&prefix=${encodeURIComponent(theirs.prefix)}`],
    ['GET', '', '?list-type=2'],
    ['POST', '', '?delete=', {}, `<Delete><Object><Key>${theirs.prefix}a.txt</Key></Object></Delete>`],
    ['PUT', `/${mine.prefix}../../${theirs.prefix}a.txt`, '', {}, 'eve'],
  ]
  for (const attack of attacks) expect(await status(...attack), attack.join(' ')).toBe(403)
  const [mineFirst, theirsNext] = [mine.prefix, theirs.prefix].map(encodeURIComponent)
  const malformed: Parameters<typeof steal>[] = [
    ['GET', '', `?list-type=2&prefix=${mineFirst}&prefix=${theirsNext}`],
    ['POST', '', '?delete=', {}, `<Delete><Object><Key >${theirs.prefix}a.txt</Key></Object></Delete>`],
  ]
  for (const attack of malformed) expect(await status(...attack), attack.join(' ')).toBe(400)
  expect((await content(ada, 'a.txt')).status).toBe(302)
  const read = thief(await accessOf(eve, 'read'))
  expect((await read('GET', own)).status).toBe(200)
  expect((await read('PUT', own, '', {}, 'x')).status).toBe(403)
  expect((await read('DELETE', own)).status).toBe(403)
  expect((await thief({ ...mine, session_token: theirs.session_token })('GET', own)).status).toBe(403)
  await advance(3601)
  expect(await status('GET', own)).toBe(403)
})

test('credentials begin with the quarter hour, and a second request gets the same', async () => {
  const ada = await newPerson(url)
  for (const [mode, least] of [
    ['write', 15],
    ['read', 60],
  ] as const) {
    const [first, again] = [await accessOf(ada, mode), await accessOf(ada, mode)]
    const end = Date.parse(first.expires_at)
    expect(end % (15 * 60_000)).toBe(0)
    if (again.expires_at === first.expires_at) expect(again).toEqual(first)
    // As long as they promise, and no longer.
    const left = (end - stack.services.clock.now()) / 60_000
    expect([left > least - 1, left <= least + 15]).toEqual([true, true])
  }
})

test('someone who asks for credentials again and again has to wait', async () => {
  const ada = await newPerson(url)
  const answers = []
  for (let i = 0; i < 61; i++) answers.push(await ada.post('/api/v1/files/credentials', { mode: 'read' }))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(60)
  expect(answers.at(-1)).toMatchObject({ status: 429, body: { code: 'too_many' } })
  expect((await accessOf(await newPerson(url), 'read')).prefix).toBeTruthy()
})

test('a link reaches no other file, whatever is sent with it, or made of what it shows', async () => {
  const [ada, eve] = [await newPerson(url), await newPerson(url)]
  await send(await linkFor(ada, 'secret.txt', 6), 'secret')
  await send(await linkFor(eve, 'other.txt', 5), 'other')
  const theirs = await accessOf(ada, 'read')
  const mine = await accessOf(eve, 'read')
  const link = await linkFor(eve, 'x.txt', 0)
  const copy = { 'x-amz-copy-source': `/${mine.bucket}/${theirs.prefix}secret.txt` }
  expect((await send({ ...link, headers: { ...link.headers, ...copy } }, '')).status).toBe(403)
  expect((await content(eve, 'x.txt')).status).toBe(404)

  // R2's secret is the hash of the token that the link shows.
  const fromLink = (signed: string) => {
    const session_token = new URL(signed).searchParams.get('X-Amz-Security-Token') ?? ''
    const secret_access_key = createHash('sha256').update(atob(session_token).replace('jwt/', '')).digest('hex')
    return thief({ ...mine, session_token, secret_access_key })
  }
  const written = fromLink(link.url)
  const read = fromLink((await content(eve, 'other.txt')).headers.get('location') ?? '')
  const [x, other] = [`/${mine.prefix}x.txt`, `/${mine.prefix}other.txt`]
  for (const attack of [
    ['GET', other],
    ['PUT', other, '', {}, 'eve'],
    ['GET', x],
    ['DELETE', x],
    ['PUT', x, '', { 'x-amz-copy-source': `/${mine.bucket}${other}` }],
    ['POST', x, '?uploads='],
    ['GET', '', `?list-type=2&prefix=${encodeURIComponent(mine.prefix)}`],
  ] as Parameters<typeof written>[])
    expect((await written(...attack)).status, attack.join(' ')).toBe(403)
  for (const attack of [
    ['GET', `/${theirs.prefix}secret.txt`],
    ['PUT', other, '', {}, 'eve'],
    ['GET', '', `?list-type=2&prefix=${encodeURIComponent(mine.prefix)}`],
  ] as Parameters<typeof read>[])
    expect((await read(...attack)).status, attack.join(' ')).toBe(403)
  expect((await read('GET', other)).status).toBe(200)
  await advance(61)
  expect((await read('GET', other)).status).toBe(403)
})

test('the local bucket refuses what Amazon defines and nobody signed, as S3 does', async () => {
  const access = await accessOf(await newPerson(url), 'write')
  const { AwsV4Signer } = await import('aws4fetch')
  const signed = await new AwsV4Signer({
    url: `${access.endpoint}/${access.bucket}/${access.prefix}a.txt`,
    method: 'PUT',
    accessKeyId: access.access_key_id,
    secretAccessKey: access.secret_access_key,
    sessionToken: access.session_token,
    region: access.region,
    service: 's3',
    signQuery: true,
  }).sign()
  const put = async (headers: Record<string, string>) =>
    (await fetch(signed.url, { method: 'PUT', body: 'a', headers })).status
  expect(await put({ 'x-amz-meta-a': '1' })).toBe(403)
  expect(await put({})).toBe(200)
})

test('a page that someone uploads is a download elsewhere, never a page of ours', async () => {
  const ada = await newPerson(url)
  const page = '<script>alert(document.cookie)</script>'
  for (const path of ['evil.html', 'evil.svg', 'evil.xhtml', 'evil']) {
    const link = await linkFor(ada, path, page.length)
    expect(link.headers['Content-Type']).toBe('application/octet-stream')
    expect((await send(link, page)).status).toBe(200)
    const to = (await content(ada, path)).headers.get('location') ?? ''
    expect(new URL(to).origin).not.toBe(url)
    const headers = (await fetch(to)).headers
    expect(headers.get('content-type')).toBe('application/octet-stream')
    expect(headers.get('content-disposition')).toMatch(/^attachment;/)
  }
})

test('a name stays a name in the header of its download', async () => {
  const ada = await newPerson(url)
  const path = 'a"; filename="evil.exe\\\';%0d%0aSet-Cookie: x=1 é.txt'
  expect((await send(await linkFor(ada, path, 5), 'hello')).status).toBe(200)
  const { headers } = await fetch((await content(ada, path)).headers.get('location') ?? '')
  const [quoted = ''] = /"([^"]*)"/.exec(headers.get('content-disposition') ?? '') ?? []
  expect(headers.get('content-disposition')).toBe(
    `attachment; filename=${quoted}; filename*=UTF-8''${encodeURIComponent(path).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)}`,
  )
  expect(headers.get('set-cookie')).toBe(null)
})

test('two spellings of one name are one file', async () => {
  const ada = await newPerson(url)
  const [composed, apart] = ['\u00e9.txt', 'e\u0301.txt']
  expect((await send(await linkFor(ada, apart, 5), 'hello')).status).toBe(200)
  const again = await linkFor(ada, composed, 5)
  expect(again.headers['If-Match']).toBeDefined()
  expect(again.path).toBe(composed)
  expect((await ada.get<{ files: { name: string }[] }>('/api/v1/files')).body.files.map(({ name }) => name)).toEqual([
    composed,
  ])
})

test('a bucket that fails is a 503 with a sentence, and what it interrupts continues', async () => {
  const ada = await newPerson(url)
  await send(await linkFor(ada, 'a.txt', 5), 'hello')
  await dev('faults', { target: 'files', fault: 'error', times: 100 })
  for (const path of ['/api/v1/files', '/api/v1/files/content?path=a.txt']) {
    const { status, body, headers } = await ada.get(path)
    expect([status, body.error, headers.get('retry-after')]).toEqual([
      503,
      "We can't reach your files right now. They're safe. Please try again in a moment.",
      '5',
    ])
  }
  expect((await ada.get('/dashboard')).status).toBe(200)
  await fetch(`${url}/dev/faults`, { method: 'DELETE' })
  expect((await ada.get('/api/v1/files')).status).toBe(200)
})

test('a bucket that never answers is given up', async () => {
  const silent = createServer(() => {})
  await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening))
  atEnd(() => void silent.close())
  const { port } = silent.address() as { port: number }
  const endpoint = `http://127.0.0.1:${port}`
  const keys = { accessKeyId: 'a', secretAccessKey: 'b', stsUrl: endpoint }
  const settings = { endpoint, bucket: 'files', region: 'auto', ...keys }
  const bucket = s3Bucket(settings, Date.now, { timeoutMs: 50 })
  await expect(bucket.find('a')).rejects.toMatchObject({ code: 'unavailable', retryable: true })
  await expect(bucket.temporaryCredentials('a/', 'read', 60)).rejects.toMatchObject({ code: 'unavailable' })
})
