import { AwsV4Signer } from 'aws4fetch'
import { isAddressable } from '../../domain/file-keys.ts'
import type { TemporaryCredentials } from '../ports/bucket.ts'
import type { BucketSettings } from '../settings/bucket-settings.ts'
import { unreachable } from './folder.ts'

export type S3Request = {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  key?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: string
  withinMs: number
}

/**
 * The bucket's address for a key, or its own without one.
 * @throws for a key with a segment of dots: its address would be another key's, or the bucket's own
 */
export function addressOf(
  { endpoint, bucket }: Pick<BucketSettings, 'endpoint' | 'bucket'>,
  { key, query = {} }: Pick<S3Request, 'key' | 'query'>,
): URL {
  if (key !== undefined && !isAddressable(key)) throw new Error('No address can hold this key')
  const path = key === undefined ? '' : `/${key.split('/').map(encodeSegment).join('/')}`
  const url = new URL(`${endpoint}/${bucket}${path}`)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url
}

/** Also encodes the characters that encodeURIComponent leaves: S3 signs them encoded. */
export function encodeSegment(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

/**
 * Sends one request and reads its whole answer, within a time limit.
 * @param expected statuses that the caller handles; 200 and 204 always are
 * @throws unavailable for every other answer, and for none
 */
export async function askBucket(
  settings: BucketSettings,
  now: () => number,
  request: S3Request,
  expected: number[] = [],
): Promise<{ status: number; headers: Headers; text: string }> {
  const { method, headers = {}, body, withinMs } = request
  const signer = new AwsV4Signer({
    ...credentialsOf(settings),
    url: addressOf(settings, request).href,
    method,
    headers,
    datetime: amzDate(now()),
  })
  try {
    const signed = await signer.sign()
    const response = await fetch(signed.url, {
      method,
      headers: signed.headers,
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(withinMs),
    })
    const { status } = response
    const text = await response.text()
    // S3 may begin a 200 while it copies, and end it with an error. A proxy's page isn't an empty list.
    const isAnswer = !text.includes('<Error>') && (/<\w+Result\b/.test(text) || !['GET', 'POST'].includes(method))
    if ((status === 200 && isAnswer) || status === 204 || expected.includes(status))
      return { status, headers: response.headers, text }
    throw new Error(`${method} was answered with ${status} ${/<Code>(\w+)</.exec(text)?.[1] ?? ''}`)
  } catch (cause) {
    throw unreachable(cause)
  }
}

/**
 * A link that works for anyone, any number of times, until it or the credentials that sign it expire. Its user must
 * send exactly these headers.
 */
export async function presign(
  settings: BucketSettings,
  now: number,
  { accessKeyId, secretAccessKey, sessionToken, expiresAt }: TemporaryCredentials,
  { method, headers = {}, seconds, ...rest }: Omit<S3Request, 'body' | 'withinMs'> & { seconds: number },
): Promise<{ url: string; expiresAt: number }> {
  const url = addressOf(settings, rest)
  const until = Math.min(now + seconds * 1000, expiresAt)
  url.searchParams.set('X-Amz-Expires', String(Math.floor((until - now) / 1000)))
  const signer = new AwsV4Signer({
    ...{ accessKeyId, secretAccessKey, sessionToken, region: settings.region, service: 's3' },
    url: url.href,
    method,
    headers,
    datetime: amzDate(now),
    signQuery: true,
    // Otherwise, it leaves out the content's length and type, which a link must fix.
    allHeaders: true,
  })
  return { url: (await signer.sign()).url.href, expiresAt: until }
}

function credentialsOf({ accessKeyId, secretAccessKey, region }: BucketSettings) {
  return { accessKeyId, secretAccessKey, region, service: 's3' }
}

export function amzDate(ms: number): string {
  return new Date(ms).toISOString().replace(/[:-]|\.\d{3}/g, '')
}
