import { AwsV4Signer } from 'aws4fetch'
import type { BucketSettings } from '../bucket-settings.ts'
import type { CredentialsMode, TemporaryCredentials } from '../ports/bucket.ts'
import { unreachable } from './folder.ts'
import { amzDate } from './s3-request.ts'
import { readElement } from './s3-xml.ts'

type Wanted = { prefix: string; mode: CredentialsMode; seconds: number; withinMs: number }

/** Credentials that end by themselves. Neither provider can end them earlier, so ask for short ones. */
export async function temporaryCredentials(
  settings: BucketSettings,
  now: () => number,
  wanted: Wanted,
): Promise<TemporaryCredentials> {
  try {
    return await (settings.credentialsToken ? fromCloudflare : fromSts)(settings, now, wanted)
  } catch (cause) {
    throw unreachable(cause)
  }
}

/** R2's own call. It scopes by prefix itself. */
async function fromCloudflare(
  { credentialsUrl, credentialsToken, bucket, accessKeyId }: BucketSettings,
  now: () => number,
  { prefix, mode, seconds, withinMs }: Wanted,
): Promise<TemporaryCredentials> {
  const response = await fetch(credentialsUrl, {
    method: 'POST',
    headers: { Authorization: `Bearer ${credentialsToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      bucket,
      parentAccessKeyId: accessKeyId,
      permission: mode === 'read' ? 'object-read-only' : 'object-read-write',
      ttlSeconds: seconds,
      prefixes: [prefix],
    }),
    redirect: 'manual',
    signal: AbortSignal.timeout(withinMs),
  })
  const answer = (await response.json()) as { result?: Partial<TemporaryCredentials> | null }
  const { accessKeyId: id, secretAccessKey, sessionToken } = answer.result ?? {}
  if (!id || !secretAccessKey || !sessionToken)
    throw new Error(`Cloudflare answered ${response.status} without credentials`)
  return { accessKeyId: id, secretAccessKey, sessionToken, expiresAt: now() + seconds * 1000 }
}

/** GetFederationToken: what the policy and the key's own user both allow, for 15 minutes or longer. */
async function fromSts(
  { credentialsUrl, region, accessKeyId, secretAccessKey, bucket }: BucketSettings,
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
    url: credentialsUrl,
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body,
    accessKeyId,
    secretAccessKey,
    region,
    service: 'sts',
    datetime: amzDate(now()),
  })
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
}

function policyFor(bucket: string, prefix: string, mode: CredentialsMode) {
  const objects = mode === 'read' ? ['s3:GetObject'] : ['s3:GetObject', 's3:PutObject', 's3:DeleteObject']
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
    ],
  }
}
