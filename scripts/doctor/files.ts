import { randomUUID } from 'node:crypto'
import { AwsClient } from 'aws4fetch'
import { readElement, writeParts } from '../../src/server/files/s3-xml.ts'
import { UPLOAD_DAYS } from '../../src/server/files/unfinished.ts'
import { type BucketSettings, bucketSettingsOf } from '../../src/server/settings/bucket-settings.ts'
import type { Env } from '../../src/server/settings/env.ts'
import type { Settings } from '../environment.ts'
import { words } from '../failure.ts'
import { type Finding, fail, ok, skip } from './check.ts'
import { checkReach } from './files-reach.ts'

/** What a page sends to the bucket. */
const HEADERS = ['content-type', 'if-match', 'if-none-match']
const SET_UP = 'docs/operations.md, "Files", says how to set it up.'

type Key = { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
export type Send = (method: string, path?: string, headers?: Record<string, string>, body?: string) => Promise<Response>
export type Sender = (key: Key) => Send

/** Writes an empty file into the bucket, and removes it. */
export async function checkFiles(settings: Settings, ask: typeof fetch = fetch): Promise<Finding[]> {
  const bucket = bucketSettingsOf(settings as unknown as Env)
  if (!bucket) return [skip('files', 'FILES_ENDPOINT is not set, so nobody has files.')]
  const send = sender(bucket, bucket, ask)
  try {
    const found = await checkKey(send)
    if (found.state === 'fail') return [found]
    const origins = (settings.SITE_ORIGINS ?? '').split(',').map((origin) => origin.trim())
    return [
      found,
      await checkTemporary(bucket, send, ask),
      await checkConditions(send),
      await checkCors(bucket, send, ask, origins),
      await checkRule(send),
    ]
  } catch (error) {
    return [fail('files', `The bucket doesn't answer (${words(error)}). Check FILES_ENDPOINT.`)]
  }
}

function sender({ endpoint, bucket, region }: BucketSettings, key: Key, ask: typeof fetch): Send {
  const { accessKeyId, secretAccessKey, sessionToken } = key
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    ...(sessionToken && { sessionToken }),
    region,
    service: 's3',
  })
  return async (method, path = '', headers = {}, body) => {
    const signed = await client.sign(`${endpoint}/${bucket}${path}`, { method, headers, ...(body && { body }) })
    return ask(signed, { signal: AbortSignal.timeout(15_000) })
  }
}

async function checkKey(send: Send): Promise<Finding> {
  const path = `/doctor/${randomUUID()}`
  for (const method of ['PUT', 'GET', 'DELETE']) {
    const answer = await send(method, path)
    if (answer.ok) continue
    const code = readElement(await answer.text(), 'Code') ?? answer.status
    const what = answer.status === 404 ? 'FILES_BUCKET' : 'FILES_ACCESS_KEY_ID and FILES_SECRET_ACCESS_KEY'
    return fail('files', `The bucket refuses a ${method} (${code}). Check ${what}.`)
  }
  return ok('files', 'the bucket takes a file, gives it back, and removes it')
}

/** What machines and people's own tools get must reach only one folder. */
async function checkTemporary(bucket: BucketSettings, send: Send, ask: typeof fetch): Promise<Finding> {
  try {
    return await checkReach(bucket, { owner: send, sender: (key) => sender(bucket, key, ask), ask })
  } catch (error) {
    return fail('files credentials', `Nobody can get any (${words(error)}). Check FILES_STS_URL. ${SET_UP}`)
  }
}

/** An upload that finishes later must not replace a newer file. */
async function checkConditions(send: Send): Promise<Finding> {
  const name = 'files conditions'
  const path = `/doctor/${randomUUID()}`
  let query = ''
  try {
    await send('PUT', path, {}, 'newer')
    const upload = readElement(await (await send('POST', `${path}?uploads`)).text(), 'UploadId') ?? ''
    query = `uploadId=${encodeURIComponent(upload)}`
    const etag = (await send('PUT', `${path}?partNumber=1&${query}`, {}, 'older')).headers.get('etag') ?? ''
    const body = writeParts([{ part: 1, size: 5, etag }])
    for (const condition of ['If-None-Match', 'If-Match']) {
      const value = condition === 'If-Match' ? '"0"' : '*'
      const { status } = await send('POST', `${path}?${query}`, { [condition]: value }, body)
      if (status !== 412)
        return fail(
          name,
          `An upload in parts ignores ${condition} (${status}), so it may replace a newer file. Use a bucket that heeds it, as R2 and S3 do.`,
        )
    }
  } finally {
    if (query) await send('DELETE', `${path}?${query}`)
    await send('DELETE', path)
  }
  return ok(name, 'an upload in parts replaces nothing newer')
}

/** Browsers ask before they send. */
async function checkCors({ endpoint, bucket }: BucketSettings, send: Send, ask: typeof fetch, origins: string[]) {
  for (const origin of origins) {
    const headers = {
      Origin: origin,
      'Access-Control-Request-Method': 'PUT',
      'Access-Control-Request-Headers': HEADERS.join(','),
    }
    const { headers: allowed } = await ask(`${endpoint}/${bucket}/doctor/x`, { method: 'OPTIONS', headers })
    const { headers: given } = await send('GET', '?list-type=2&max-keys=1', { Origin: origin })
    const missing = [
      ...(has(allowed, 'origin', origin) ? [] : ['this origin']),
      ...(has(allowed, 'methods', 'PUT') ? [] : ['PUT']),
      ...HEADERS.filter((name) => !has(allowed, 'headers', name)),
    ]
    const what = [
      ...(missing.length ? [`doesn't allow ${missing.join(', ')}`] : []),
      ...(has(given, 'expose', 'etag') ? [] : ["doesn't expose etag"]),
    ]
    if (what.length) return fail('files CORS', `For pages of ${origin}, the bucket ${what.join(' and ')}. ${SET_UP}`)
  }
  return ok('files CORS', `pages of ${origins.join(', ')} may upload`)
}

function has(headers: Headers, what: 'origin' | 'methods' | 'headers' | 'expose', wanted: string): boolean {
  const name = what === 'expose' ? 'access-control-expose-headers' : `access-control-allow-${what}`
  const given = (headers.get(name) ?? '').split(',').map((one) => one.trim().toLowerCase())
  return given.includes('*') || given.includes(wanted.toLowerCase())
}

/** People may continue an upload for days, but abandoned ones must not stay, and cost, forever. */
async function checkRule(send: Send): Promise<Finding> {
  const name = 'files rule'
  const least = UPLOAD_DAYS + 1
  const answer = await send('GET', '?lifecycle')
  if (answer.status === 403)
    return skip(name, `The key may not read it. Look yourself: unfinished uploads must end after ${least} days.`)
  const rules = (await answer.text()).match(/<Rule>.*?<\/Rule>/gs) ?? []
  const days = rules
    // A rule for only some files leaves the others.
    .filter((rule) => /<Status>Enabled</.test(rule) && !/<(Prefix>[^<]|Tag>|ObjectSize)/.test(rule))
    .map((rule) => Number(readElement(rule, 'DaysAfterInitiation') ?? 0))
    .filter((count) => count > 0)
  const set = `Add a rule that aborts unfinished uploads after ${least} days.`
  if (days.length === 0) return fail(name, `Unfinished uploads stay, and cost, forever. ${set}`)
  const first = Math.min(...days)
  if (first < least)
    return fail(name, `Unfinished uploads end after ${first} days, while people still continue them. ${set}`)
  return ok(name, `unfinished uploads end after ${first} days`)
}
