import { createHash } from 'node:crypto'
import { AwsV4Signer } from 'aws4fetch'
import { SignJWT } from 'jose'
import { MINUTE_MS } from '../../domain/instant.ts'
import type { CredentialsMode, TemporaryCredentials } from '../ports/bucket.ts'
import type { BucketSettings } from '../settings/bucket-settings.ts'
import { unreachable } from './folder.ts'
import { amzDate } from './s3-request.ts'
import { readElement } from './s3-xml.ts'

const WINDOW_MS = 15 * MINUTE_MS

type Wanted = { prefix: string; mode: CredentialsMode; seconds: number; withinMs: number }

/**
 * Credentials for keys that begin with a prefix. They last at least as long as requested, and expire on their own.
 * Neither provider can revoke them, so request short ones.
 */
export async function temporaryCredentials(
  settings: BucketSettings,
  now: () => number,
  { prefix, mode, seconds, withinMs }: Wanted,
): Promise<TemporaryCredentials> {
  const { from, until } = windowOf(now(), seconds)
  if (settings.stsUrl === null)
    return signR2(settings, { scope: SCOPES[mode], paths: { prefixPaths: [prefix], objectPaths: [] } }, from, until)
  const name = [settings.accessKeyId, prefix, mode, until].join('\n')
  const given = fromSts.get(name)
  if (given && given.expiresAt > now() + seconds * 1000) return given
  const asked = await askSts(settings, now, { prefix, mode, seconds: Math.ceil((until - now()) / 1000), withinMs })
  if (fromSts.size >= MOST_KEPT) fromSts.clear()
  fromSts.set(name, asked)
  return asked
}

/** STS's answers to this isolate, so that an upload of 2,000 files takes one or two calls. In memory, so that no secret is stored. */
const fromSts = new Map<string, TemporaryCredentials>()
const MOST_KEPT = 1_000

/**
 * When credentials begin and end. They begin on a quarter hour, so that a program that asks again soon gets the same
 * ones, and last a quarter hour longer than requested. AWS's programs ask again 15 minutes before the end, and then get
 * new ones.
 */
export function windowOf(now: number, seconds: number): { from: number; until: number } {
  const from = Math.floor(now / WINDOW_MS) * WINDOW_MS
  return { from, until: from + WINDOW_MS + seconds * 1000 }
}

const SCOPES = { read: 'object-read-only', write: 'object-read-write' } as const

/** What R2 lets credentials do: these operations, or any in their scope; on these keys. */
type Claims = {
  scope: (typeof SCOPES)[CredentialsMode]
  actions?: string[]
  paths: { prefixPaths: string[]; objectPaths: string[] }
}

export type LinkAction = 'GetObject' | 'PutObject' | 'UploadPart'

/**
 * Credentials for one operation on one key. A link reveals its session token, from which R2 derives the secret, so a
 * link's credentials must reach no further than the link itself.
 */
export function credentialsOfLink(
  settings: BucketSettings,
  { key, action, from, until }: { key: string; action: LinkAction; from: number; until: number },
): Promise<TemporaryCredentials> {
  const scope = action === 'GetObject' ? SCOPES.read : SCOPES.write
  return signR2(settings, { scope, actions: [action], paths: { prefixPaths: [], objectPaths: [key] } }, from, until)
}

/**
 * As Cloudflare documents it ("Authenticate against R2 with temporary credentials"): the bucket's owner signs what they
 * allow, and R2 checks it. No call, and nothing stored.
 */
async function signR2(
  { endpoint, bucket, accessKeyId, secretAccessKey }: BucketSettings,
  claims: Claims,
  from: number,
  until: number,
): Promise<TemporaryCredentials> {
  const { host } = new URL(endpoint)
  const jwt = await new SignJWT({ bucket, ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    // The account's ID is the first part of its endpoint.
    .setSubject(host.split('.')[0] ?? '')
    .setIssuer(accessKeyId)
    .setAudience(host)
    .setIssuedAt(new Date(from))
    .setExpirationTime(new Date(until))
    .sign(new TextEncoder().encode(secretAccessKey))
  return {
    accessKeyId,
    secretAccessKey: createHash('sha256').update(jwt).digest('hex'),
    sessionToken: btoa(`jwt/${jwt}`),
    expiresAt: until,
  }
}

/** GetFederationToken: what the policy and the key's own user both allow, for 15 minutes or longer. */
async function askSts(
  { stsUrl, region, accessKeyId, secretAccessKey, bucket }: BucketSettings,
  now: () => number,
  { prefix, mode, seconds, withinMs }: Wanted,
): Promise<TemporaryCredentials> {
  const body = new URLSearchParams({
    Action: 'GetFederationToken',
    Version: '2011-06-15',
    Name: 'files',
    DurationSeconds: String(Math.max(900, seconds)),
    Policy: JSON.stringify(policyFor(bucket, prefix, mode)),
  }).toString()
  const signer = new AwsV4Signer({
    url: stsUrl ?? '',
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body,
    accessKeyId,
    secretAccessKey,
    region,
    service: 'sts',
    datetime: amzDate(now()),
  })
  try {
    const { url, headers } = await signer.sign()
    const signal = AbortSignal.timeout(withinMs)
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    const xml = await response.text()
    const read = (name: string) => {
      const value = readElement(xml, name)
      if (!value) throw new Error(`STS answered ${response.status} without ${name}`)
      return value
    }
    return {
      accessKeyId: read('AccessKeyId'),
      secretAccessKey: read('SecretAccessKey'),
      sessionToken: read('SessionToken'),
      expiresAt: Date.parse(read('Expiration')),
    }
  } catch (cause) {
    throw unreachable(cause)
  }
}

const STORAGE_CLASS = 's3:x-amz-storage-class'

function policyFor(bucket: string, prefix: string, mode: CredentialsMode) {
  const objects = mode === 'read' ? ['s3:GetObject'] : ['s3:GetObject', 's3:PutObject', 's3:DeleteObject']
  // No address can hold these keys, so we couldn't count or end their multipart uploads.
  const withDots = ['/.', '/./*', '/..', '/../*'].map((end) => `arn:aws:s3:::${bucket}/${prefix.slice(0, -1)}*${end}`)
  const denials = [
    { Effect: 'Deny', Action: 's3:PutObject', Resource: withDots },
    // Other storage classes charge for each read, or for months. A denying condition also applies to requests that name
    // none.
    {
      Effect: 'Deny',
      Action: 's3:PutObject',
      Resource: '*',
      Condition: { StringNotEquals: { [STORAGE_CLASS]: 'STANDARD' }, Null: { [STORAGE_CLASS]: 'false' } },
    },
  ]
  const uploads = mode === 'read' ? [] : ['s3:AbortMultipartUpload', 's3:ListMultipartUploadParts']
  return {
    Version: '2012-10-17',
    Statement: [
      { Effect: 'Allow', Action: [...objects, ...uploads], Resource: `arn:aws:s3:::${bucket}/${prefix}*` },
      {
        Effect: 'Allow',
        Action: 's3:ListBucket',
        Resource: `arn:aws:s3:::${bucket}`,
        Condition: { StringLike: { 's3:prefix': `${prefix}*` } },
      },
      ...(mode === 'read' ? [] : denials),
    ],
  }
}
