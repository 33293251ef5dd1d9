import { createServer, type IncomingHttpHeaders } from 'node:http'
import { expect, test } from 'vitest'
import { s3Bucket } from '../../../src/server/files/s3-bucket.ts'
import { atEnd } from '../../../testing/stack/at-end.ts'

/** An endpoint that gives one answer, and keeps what it was asked. */
async function endpoint(status: number, answer: string, now = Date.now, ofHead = status) {
  const asked: { url: string; body: string; headers: IncomingHttpHeaders }[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    asked.push({ url: request.url ?? '', body, headers: request.headers })
    response.writeHead(request.method === 'HEAD' ? ofHead : status, { 'content-type': 'application/xml' }).end(answer)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  atEnd(() => void server.close())
  const { port } = server.address() as { port: number }
  const origin = `http://127.0.0.1:${port}`
  const keys = { accessKeyId: 'a', secretAccessKey: 'b', stsUrl: origin }
  const settings = { endpoint: origin, origin, bucket: 'files', region: 'us-east-1', ...keys }
  return { asked, bucket: s3Bucket(settings, now) }
}

test('reads keys as S3 and R2 write them, and asks for the next page', async () => {
  const { asked, bucket } = await endpoint(
    200,
    `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b</NextContinuationToken>
    <Contents><Key>p/a+b%2Bc%C3%A9.txt</Key><LastModified>2026-11-25T00:00:00.000Z</LastModified><ETag>&quot;x&quot;</ETag><Size>7</Size><StorageClass>STANDARD_IA</StorageClass></Contents>
    <CommonPrefixes><Prefix>p/q%20r/</Prefix></CommonPrefixes></ListBucketResult>`,
  )
  expect(await bucket.list({ prefix: 'p/', delimiter: '/', after: 'c&d' })).toEqual({
    files: [{ key: 'p/a b+cé.txt', size: 7, modifiedAt: Date.UTC(2026, 10, 25), etag: '"x"' }],
    prefixes: ['p/q r/'],
    next: 'a&b',
    at: expect.any(Number),
    otherClass: 1,
  })
  expect(asked[0]?.url).toContain('continuation-token=c%26d')
})

test('a page that does not exist is a refusal, and any other 400 an outage', async () => {
  const { bucket } = await endpoint(400, '<Error><Code>InvalidArgument</Code></Error>')
  await expect(bucket.list({ prefix: 'p/', after: 'x' })).rejects.toMatchObject({ code: 'invalid' })
  await expect(bucket.list({ prefix: 'p/' })).rejects.toMatchObject({ code: 'unavailable' })
})

test('finds a file that a program encrypted with a key of its own, of which a bucket says only 400', async () => {
  const listed = (key: string) =>
    `<ListBucketResult><Contents><Key>${key}</Key><LastModified>2026-11-25T00:00:00.000Z</LastModified><ETag>&quot;x&quot;</ETag><Size>7</Size></Contents></ListBucketResult>`
  const { bucket } = await endpoint(200, listed('p/a'), Date.now, 400)
  expect(await bucket.find('p/a')).toMatchObject({ key: 'p/a', size: 7 })
  expect(await bucket.find('p/')).toBe(null)
})

test('asks for the next page of uploads in parts', async () => {
  const { asked, bucket } = await endpoint(
    200,
    `<ListMultipartUploadsResult><KeyMarker></KeyMarker><NextKeyMarker>p/a+b</NextKeyMarker><NextUploadIdMarker>u&amp;2</NextUploadIdMarker>
    <IsTruncated>true</IsTruncated><Upload><Key>p/a+b</Key><UploadId>u&amp;2</UploadId><Initiated>2026-11-25T00:00:00Z</Initiated></Upload></ListMultipartUploadsResult>`,
  )
  const next = { key: 'p/a b', uploadId: 'u&2' }
  const uploads = [{ ...next, begunAt: Date.UTC(2026, 10, 25) }]
  expect(await bucket.listUploads('p/', null)).toEqual({ uploads, next })
  await bucket.listUploads('p/', next)
  expect(asked[1]?.url).toContain('key-marker=p%2Fa+b&upload-id-marker=u%262')
})

test('a page of something in between is neither an empty list nor a success', async () => {
  const { bucket } = await endpoint(200, '<!doctype html><title>Blocked</title>')
  const outage = { code: 'unavailable' }
  await expect(bucket.list({ prefix: 'p/' })).rejects.toMatchObject(outage)
  await expect(bucket.listParts('a', 'u')).rejects.toMatchObject(outage)
  await expect(bucket.listUploads('p/', null)).rejects.toMatchObject(outage)
  await expect(bucket.remove(['a'])).rejects.toMatchObject(outage)
  await expect(bucket.startParts('a', 'text/plain')).rejects.toMatchObject(outage)
  await expect(bucket.completeParts('a', 'u', [], null)).rejects.toMatchObject(outage)
})

test('a deletion that fails after its 200 has failed', async () => {
  const { bucket } = await endpoint(200, '<DeleteResult><Error><Code>InternalError</Code></Error></DeleteResult>')
  await expect(bucket.remove(['a'])).rejects.toMatchObject({ code: 'unavailable' })
})

test.each([404, 412])('a completion carries its condition, and %s says that it is broken', async (status) => {
  const { asked, bucket } = await endpoint(status, '<Error><Code>PreconditionFailed</Code></Error>')
  expect(await bucket.completeParts('a', 'u', [], '"x"')).toBe(false)
  expect(await bucket.completeParts('a', 'u', [], null)).toBe(false)
  for (const [i, name, value] of [
    [0, 'if-match', '"x"'],
    [1, 'if-none-match', '*'],
  ] as const) {
    expect(asked[i]?.headers[name]).toBe(value)
    expect(asked[i]?.headers.authorization).toContain(name)
  }
})

test('a completion that meets a write under way, maybe its own earlier try, has not failed', async () => {
  const { bucket } = await endpoint(409, '<Error><Code>ConditionalRequestConflict</Code></Error>')
  const again = { code: 'unavailable', retryable: true }
  await expect(bucket.completeParts('a', 'u', [], null)).rejects.toMatchObject(again)
})

test('asks STS for credentials that its policy limits to the folder', async () => {
  const { asked, bucket } = await endpoint(
    200,
    `<GetFederationTokenResponse><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>s</SecretAccessKey>
    <SessionToken>t</SessionToken><Expiration>2026-11-25T01:00:00Z</Expiration></GetFederationTokenResponse>`,
  )
  expect(await bucket.temporaryCredentials('mine/', 'read', 60)).toEqual({
    accessKeyId: 'ASIA',
    secretAccessKey: 's',
    sessionToken: 't',
    expiresAt: Date.UTC(2026, 10, 25, 1),
  })
  const form = new URLSearchParams(asked[0]?.body)
  // AWS gives none for less.
  expect(form.get('Action')).toBe('GetFederationToken')
  expect(Number(form.get('DurationSeconds'))).toBeGreaterThanOrEqual(900)
  expect(JSON.parse(form.get('Policy') ?? '').Statement).toEqual([
    { Effect: 'Allow', Action: ['s3:GetObject'], Resource: 'arn:aws:s3:::files/mine/*' },
    {
      Effect: 'Allow',
      Action: 's3:ListBucket',
      Resource: 'arn:aws:s3:::files',
      Condition: { StringLike: { 's3:prefix': 'mine/*' } },
    },
  ])
  await bucket.temporaryCredentials('mine/', 'write', 3600)
  const policy = new URLSearchParams(asked[1]?.body).get('Policy') ?? ''
  // AWS takes no longer one.
  expect(policy.length).toBeLessThan(2048)
  const [objects, , denied, byClass] = JSON.parse(policy).Statement
  const key = 's3:x-amz-storage-class'
  expect(byClass).toEqual({
    ...{ Effect: 'Deny', Action: 's3:PutObject', Resource: '*' },
    Condition: { StringNotEquals: { [key]: 'STANDARD' }, Null: { [key]: 'false' } },
  })
  expect(objects.Action).toContain('s3:PutObject')
  expect(denied).toMatchObject({ Effect: 'Deny', Action: 's3:PutObject' })
  const isDenied = (key: string) =>
    denied.Resource.some((pattern: string) =>
      new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`).test(`arn:aws:s3:::files/mine/${key}`),
    )
  for (const key of ['.', '..', './a', '../a', 'a/.', 'a/..', 'a/./b', 'a/../b', '../..'])
    expect(isDenied(key), key).toBe(true)
  for (const key of ['a', '.a', '..a/b', 'a.', 'a../b', 'a/...', 'a//b', 'a/.b/c..'])
    expect(isDenied(key), key).toBe(false)
})

test('promises no link longer than what signed it lasts', async () => {
  const now = Date.UTC(2026, 10, 25)
  const { bucket } = await endpoint(
    200,
    `<Credentials><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>s</SecretAccessKey>
    <SessionToken>t</SessionToken><Expiration>2026-11-25T00:05:00Z</Expiration></Credentials>`,
    () => now,
  )
  const whole = { seconds: 900, size: 1, type: 'a/b', replaces: null }
  const links = [
    await bucket.signUpload('short/a', whole),
    await bucket.signPart('short/a', 'u', { part: 1, size: 1, seconds: 3600 }),
  ]
  const download = await bucket.signDownload('short/a', { seconds: 600, fileName: 'a' })
  for (const { expiresAt } of links) expect(expiresAt).toBe(now + 5 * 60_000)
  for (const url of [...links.map((link) => link.url), download])
    expect(new URL(url).searchParams.get('X-Amz-Expires')).toBe('300')
  const brief = await bucket.signUpload('short/a', { ...whole, seconds: 60 })
  expect(brief.expiresAt).toBe(now + 60_000)
})

test('a link names a file only as long as a disk could, with its ending', async () => {
  const { bucket } = await endpoint(
    200,
    `<Credentials><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>s</SecretAccessKey>
    <SessionToken>t</SessionToken><Expiration>2099-11-25T00:05:00Z</Expiration></Credentials>`,
  )
  const named = async (fileName: string) => {
    const link = await bucket.signDownload('p/a', { seconds: 60, fileName })
    return new URL(link).searchParams.get('response-content-disposition')
  }
  expect(await named(`${'\x01'.repeat(700)}.csv`)).toBe(
    `attachment; filename="${'_'.repeat(251)}.csv"; filename*=UTF-8''${'%01'.repeat(251)}.csv`,
  )
  expect(await named(`${'é'.repeat(300)}.csv`)).toBe(
    `attachment; filename="${'_'.repeat(125)}.csv"; filename*=UTF-8''${'%C3%A9'.repeat(125)}.csv`,
  )
})

test('asks STS once a quarter hour for the same folder, mode, and length', async () => {
  let now = Date.UTC(2026, 10, 25)
  const { asked, bucket } = await endpoint(
    200,
    `<Credentials><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>s</SecretAccessKey>
    <SessionToken>t</SessionToken><Expiration>2026-11-25T00:30:00Z</Expiration></Credentials>`,
    () => now,
  )
  const twice = async (prefix: string, mode: 'read' | 'write', seconds: number) => {
    for (const _ of [1, 2]) await bucket.temporaryCredentials(prefix, mode, seconds)
    return asked.length
  }
  expect(await twice('once/', 'write', 900)).toBe(1)
  now += 15 * 60_000 - 1
  expect(await twice('once/', 'write', 900)).toBe(1)
  expect(await twice('other/', 'write', 900)).toBe(2)
  expect(await twice('once/', 'read', 900)).toBe(3)
  now += 1
  // These would end too early: each call asks for its own.
  expect(await twice('once/', 'write', 900)).toBe(5)
})
