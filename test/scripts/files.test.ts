import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Stack, startStack } from '../../dev/stack.ts'
import { checkFiles } from '../../scripts/doctor/files.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { quickHasher } from '../../testing/stack/quick-hasher.ts'
import { serve } from '../../testing/stack/serve.ts'

let stack: Stack
let settings: Record<string, string | undefined> = {}
beforeAll(async () => {
  stack = await startStack({ dataDir: temporaryFolder('doctor-files'), log: () => {}, ...quickHasher })
  settings = { ...stack.services.vars, SITE_ORIGINS: stack.url }
})
afterAll(() => stack?.close())

type Change = (answer: Response, request: Request) => Response | Promise<Response>

/** What the doctor says of the local bucket, if its answers are changed on the way. */
async function found(more: Record<string, string> = {}, change: Change = (answer) => answer): Promise<string[]> {
  const ask = async (to: Parameters<typeof fetch>[0], init?: RequestInit) => {
    const request = new Request(to as Request, init)
    return change(await fetch(request.clone()), request)
  }
  const findings = await checkFiles({ ...settings, ...more }, ask as typeof fetch)
  return findings.map(({ state, check, says }) => `${state} ${check}: ${says}`)
}

const wrong = async (...given: Parameters<typeof found>) => (await found(...given)).filter((line) => !/^ok/.test(line))

/** The same answer without this word in a header. */
const without = (name: string, word: string) => (answer: Response) => {
  const headers = new Headers(answer.headers)
  headers.set(
    name,
    (headers.get(name) ?? '')
      .split(/, */)
      .filter((one) => one !== '*' && one.toLowerCase() !== word.toLowerCase())
      .join(', '),
  )
  return new Response(answer.body, { status: answer.status === 204 ? 200 : answer.status, headers })
}

test('passes a bucket that is set up', async () => {
  expect(await found()).toEqual([
    'ok files: the bucket takes a file, gives it back, and removes it',
    'ok files credentials: they open one folder and no other, and a link one file',
    'ok files conditions: an upload in parts replaces nothing newer',
    `ok files CORS: pages of ${stack.url} may upload`,
    'ok files rule: unfinished uploads end after 8 days',
  ])
})

const rule =
  (text: string): Change =>
  (answer, request) =>
    request.url.endsWith('?lifecycle') ? new Response(text, { status: text ? 200 : 404 }) : answer
const aborts = (days: number, filter = '<Prefix></Prefix>', status = 'Enabled') =>
  `<Rule><Filter>${filter}</Filter><Status>${status}</Status><AbortIncompleteMultipartUpload><DaysAfterInitiation>${days}</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>`

test.each<[string, Record<string, string>, Change | undefined, RegExp]>([
  [
    'an address where nothing answers',
    { FILES_ENDPOINT: 'http://127.0.0.1:1' },
    undefined,
    /doesn't answer .*FILES_ENDPOINT/,
  ],
  ['another bucket', { FILES_BUCKET: 'elsewhere' }, undefined, /refuses a PUT \(NoSuchBucket\). Check FILES_BUCKET/],
  ['a wrong secret', { FILES_SECRET_ACCESS_KEY: 'x' }, undefined, /SignatureDoesNotMatch\). Check FILES_ACCESS_KEY_ID/],
  [
    'an STS that issues nothing',
    { FILES_STS_URL: 'http://127.0.0.1:1' },
    undefined,
    /^fail files credentials: Nobody can get any/,
  ],
  [
    'origins without CORS',
    { SITE_ORIGINS: 'https://a.example' },
    undefined,
    /CORS: For pages of https:\/\/a.example, .* this origin/,
  ],
  [
    'a header that pages may not send',
    {},
    without('access-control-allow-headers', 'if-match'),
    /doesn't allow if-match\. /,
  ],
  [
    'an upload in parts without conditions',
    {},
    (answer, { method, url }) => (method === 'POST' && url.includes('uploadId') ? new Response() : answer),
    /^fail files conditions: .* ignores If-None-Match \(200\)/,
  ],
  ['a method that pages may not use', {}, without('access-control-allow-methods', 'PUT'), /doesn't allow PUT\. /],
  ['a header that pages may not read', {}, without('access-control-expose-headers', 'etag'), /doesn't expose etag\. /],
  ['no rule', {}, rule(''), /^fail files rule: Unfinished uploads stay/],
  ['a rule that comes early', {}, rule(aborts(9) + aborts(7)), /^fail files rule: .* end after 7 days/],
  ['a rule for some files', {}, rule(aborts(8, '<Prefix>a/</Prefix>')), /^fail files rule: Unfinished uploads stay/],
  ['a rule that is off', {}, rule(aborts(8, '', 'Disabled')), /^fail files rule: Unfinished uploads stay/],
])('names %s, and nothing else', async (_, more, change, line) => {
  expect(await wrong(more, change)).toEqual([expect.stringMatching(line)])
})

test('names credentials that reach more than their folder, or not even that', async () => {
  const isTemporary = (request: Request) => request.headers.has('x-amz-security-token')
  const opens = (answer: Response, request: Request) => (isTemporary(request) ? new Response() : answer)
  const shuts = (answer: Response, request: Request) =>
    isTemporary(request) ? new Response('', { status: 403 }) : answer
  expect(await wrong({}, opens)).toEqual([
    expect.stringMatching(/^fail files credentials: They allow the list of everything/),
  ])
  expect(await wrong({}, shuts)).toEqual([expect.stringMatching(/^fail files credentials: They don't open/)])
})

test.each<[string, (request: Request, isTemporary: boolean) => boolean, string]>([
  ["the list of another folder's files", ({ url }, isTemporary) => isTemporary && /prefix=doctor%2F./.test(url), ''],
  [
    "another folder's file",
    ({ method, url }, isTemporary) => isTemporary && method === 'GET' && /secret$/.test(url),
    '',
  ],
  [
    'writing, although they may only read',
    ({ method, url }, isTemporary) => isTemporary && method === 'PUT' && /x$/.test(url),
    '',
  ],
  [
    "a copy of another folder's file",
    ({ method, url }) => method === 'GET' && /\/copy$/.test(url),
    'nobody-else-may-read-this',
  ],
  [
    'a copy source that a link does not sign',
    ({ method, url }) => method === 'GET' && /\/link$/.test(url),
    'nobody-else-may-read-this',
  ],
])('names a provider that allows %s', async (what, isIt, content) => {
  const allows: Change = (answer, request) =>
    isIt(request, request.headers.has('x-amz-security-token')) ? new Response(content) : answer
  expect(await wrong({}, allows)).toEqual([
    `fail files credentials: They allow ${what}. Take FILES_ENDPOINT away until you know why.`,
  ])
})

test("asks the operator to look where the key can't", async () => {
  const shut: Change = (answer, request) =>
    request.url.endsWith('?lifecycle') ? new Response('', { status: 403 }) : answer
  expect(await wrong({}, shut)).toEqual([expect.stringMatching(/^skip files rule: .* after 8 days\.$/)])
})

/** A bucket that checks where a path begins, and looks for the file where the path leads. */
async function bucketOfDots(isResolved: boolean): Promise<string> {
  const files = new Map<string, string>()
  return serve(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
    const [asked = ''] = (request.url ?? '').split('?')
    const key = isResolved ? pathname : asked
    const token = String(request.headers['x-amz-security-token'] ?? searchParams.get('X-Amz-Security-Token') ?? '')
    const { scope, paths } = token
      ? JSON.parse(Buffer.from(atob(token).split('.')[1] ?? '', 'base64url').toString())
      : { scope: 'object-read-write', paths: { prefixPaths: [''], objectPaths: [] } }
    const reached = [...paths.prefixPaths, ...paths.objectPaths].map((start) => `/files/${start}`)
    const isMine = (one: string) => reached.some((start) => one.startsWith(start))
    const isWrite = request.method !== 'GET'
    const prefix = `/files/${searchParams.get('prefix') ?? ''}`
    const isAllowed = isMine(pathname === '/files' ? prefix : asked) && !(isWrite && scope === 'object-read-only')
    if (isAllowed && isWrite) files.set(key, body)
    response.writeHead(isAllowed ? 200 : 403).end(isAllowed && !isWrite ? (files.get(key) ?? '') : '')
  })
}

test('names a bucket in which a path with dots leads to another folder', async () => {
  const says = async (isResolved: boolean) => {
    const findings = await checkFiles({ ...settings, FILES_ENDPOINT: await bucketOfDots(isResolved) })
    return findings.find(({ check }) => check === 'files credentials')
  }
  expect(await says(false)).toMatchObject({ state: 'ok' })
  expect(await says(true)).toMatchObject({
    state: 'fail',
    says: expect.stringMatching(/^They allow another folder's file by a path with dots\./),
  })
})
