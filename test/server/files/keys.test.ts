import { createServer } from 'node:http'
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../db/schema/accounts.ts'
import { deleteFiles } from '../../../src/server/files/delete.ts'
import { linkToFile } from '../../../src/server/files/download.ts'
import { listFiles } from '../../../src/server/files/list-files.ts'
import { filesModeOf } from '../../../src/server/files/mode.ts'
import { endFilesWithPlans } from '../../../src/server/files/plan-end.ts'
import { continueRemovals } from '../../../src/server/files/removals.ts'
import { s3Bucket } from '../../../src/server/files/s3-bucket.ts'
import { countChanged, openQuery } from '../../../src/server/files/usage.ts'
import type { Bucket } from '../../../src/server/ports/bucket.ts'
import { atEnd } from '../../../testing/stack/at-end.ts'
import { openFilesAccount } from '../../../testing/stack/files-account.ts'

const DOTS = ['.', '..', './a', '../a', 'a/.', 'a/..', 'a/./b', 'a/../b', '../..', 'a/../../../../b']
const ODD = [
  ' a',
  'a ',
  'a\tb',
  'a\nb',
  '\u0001',
  'a//b',
  'a/',
  '...',
  'a/.b',
  '%2e%2e/a',
  '%2F',
  `'"`,
  'a+b&c',
  'a\\..\\b',
  '👩‍🚀',
  'e\u0301',
]

/** A bucket that keeps what it was asked as it came: it resolves no dots. */
async function recorder(now = Date.now, answer: (path: string) => string = () => '<ETag>x</ETag>') {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    await request.toArray()
    asked.push(`${request.method} ${request.url}`)
    response
      .writeHead(200, { 'content-type': 'application/xml' })
      .end(`<AnyResult>${answer(request.url ?? '')}</AnyResult>`)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  atEnd(() => void server.close())
  const endpoint = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const keys = { accessKeyId: 'a', secretAccessKey: 'b', stsUrl: null }
  const settings = { endpoint, origin: endpoint, bucket: 'files', region: 'auto', ...keys }
  return { asked, bucket: s3Bucket(settings, now) }
}

/** All that names one key. */
const CALLS: Record<string, (bucket: Bucket, key: string) => Promise<unknown>> = {
  find: (bucket, key) => bucket.find(key),
  remove: (bucket, key) => bucket.remove([key]),
  signDownload: (bucket, key) => bucket.signDownload(key, { seconds: 60, fileName: 'a' }),
  signUpload: (bucket, key) => bucket.signUpload(key, { seconds: 60, size: 1, type: 'a/b', replaces: null }),
  startParts: (bucket, key) => bucket.startParts(key, 'a/b'),
  signPart: (bucket, key) => bucket.signPart(key, 'u', { part: 1, size: 1, seconds: 60 }),
  listParts: (bucket, key) => bucket.listParts(key, 'u'),
  completeParts: (bucket, key) => bucket.completeParts(key, 'u', [], null),
  abortParts: (bucket, key) => bucket.abortParts(key, 'u'),
}

test.each(Object.entries(CALLS))('%s makes no address of a key with a segment of dots', async (name, call) => {
  const { asked, bucket } = await recorder()
  for (const key of DOTS) {
    const given = await call(bucket, `p/files/${key}`).catch((error: Error) => error)
    if (name !== 'find' && name !== 'remove') expect(given, key).toBeInstanceOf(Error)
  }
  for (const one of asked) expect(one).toMatch(/^(GET|POST) \/files\?(list-type|delete)=/)
})

test.each(Object.entries(CALLS))('%s names any other key by its bytes', async (name, call) => {
  const { asked, bucket } = await recorder()
  for (const key of ODD) {
    asked.length = 0
    const given = await call(bucket, `p/files/${key}`)
    const link = typeof given === 'string' ? given : ((given as { url?: string } | undefined)?.url ?? '')
    const path = name.startsWith('sign') ? new URL(link).pathname : (asked[0]?.split(/[ ?]/)[1] ?? '')
    if (name !== 'remove' || path !== '/files') expect(decodeURIComponent(path), key).toBe(`/files/p/files/${key}`)
  }
})

test('a key with a segment of dots is listed, marked, and deleted, and its download is the command that fetches it', async () => {
  const ada = await openFilesAccount()
  const { prefix } = await ada.folder()
  for (const key of ['a/..', "a/./it's", 'a/plain']) ada.put(key, 1)
  const { files } = await listFiles(ada.ctx, ada.userId, { path: 'a', after: null })
  expect(files).toEqual([
    expect.objectContaining({ name: '..', unaddressable: true }),
    expect.not.objectContaining({ unaddressable: true }),
  ])
  const download = (path: string) =>
    linkToFile(ada.ctx, ada.userId, path).catch(({ code, message }) => `${code} ${message}`)
  expect(await download('a/plain')).toBe(`memory:${prefix}/files/a/plain`)
  expect(await download('a/..')).toContain(`--key '${prefix}/files/a/..' file`)
  expect(await download("a/./it's")).toMatch(
    /^unaddressable .*aws s3api get-object .* --key '[^ ]*\/a\/\.\/it'\\''s' file$/,
  )
  expect(await download('a/../b')).toMatch(/^not_found/)
  for (const path of ['a/..', "a/./it's"]) await deleteFiles(ada.ctx, ada.userId, { path })
  expect(ada.keys()).toEqual(['files/a/plain'])
})

test("a program's uploads in parts whose keys have dots make us ask, and end, nothing else", async () => {
  const ada = await openFilesAccount()
  const { prefix } = await ada.folder()
  const listed = DOTS.map(
    (key, i) =>
      `<Upload><Key>${prefix}/files/${key}</Key><UploadId>u${i}</UploadId><Initiated>2020-01-01T00:00:00Z</Initiated></Upload>`,
  )
  const { asked, bucket } = await recorder(
    () => ada.clock.ms,
    (path) => (path.includes('uploads=') ? listed.join('') : ''),
  )
  ada.ctx.bucket = bucket
  await openQuery(ada.ctx, ada.userId, ada.clock.ms)
  ada.clock.ms += 60_000
  await countChanged(ada.ctx)
  // Nobody can say what they have, so nothing can be added.
  expect(await ada.folder()).toMatchObject({ usedBytes: 0, partsBytes: 5_000_000_000_000 })
  expect(await filesModeOf(ada.ctx, ada.userId)).toMatchObject({ mode: 'read', why: 'full' })
  // The account of the test before may be due as well.
  const mine = ada.takeLines().filter(({ userId }) => userId === ada.userId)
  expect(mine).toMatchObject([{ event: 'alert', matter: `files_over:${ada.userId}:409600` }])
  await ada.ctx.db.update(users).set({ closedAt: ada.clock.ms }).where(eq(users.id, ada.userId))
  await endFilesWithPlans(ada.ctx)
  await continueRemovals(ada.ctx)
  expect(asked.filter((one) => one.includes('uploads=')).length).toBeGreaterThan(1)
  for (const one of asked) expect(one).toMatch(/^GET \/files\?(uploads|list-type)=/)
  expect(ada.takeLines()).toEqual([])
})
