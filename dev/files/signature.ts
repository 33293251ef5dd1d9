import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { encodeSegment } from '../../src/server/files/s3-request.ts'

/** A request as S3's Signature Version 4 signs it, in its headers or in its address. */
export type Signed = {
  accessKeyId: string
  scope: string
  signedHeaders: string[]
  signature: string
  /** YYYYMMDDTHHMMSSZ */
  date: string
  payloadHash: string
  sessionToken: string | null
  /** For a link: how many seconds it works. */
  expires: number | null
}

/** Null if it isn't signed. */
export function readSignature({ headers }: IncomingMessage, url: URL): Signed | null {
  const query = url.searchParams
  if (query.has('X-Amz-Signature')) {
    const [accessKeyId = '', ...scope] = (query.get('X-Amz-Credential') ?? '').split('/')
    return {
      accessKeyId,
      scope: scope.join('/'),
      signedHeaders: (query.get('X-Amz-SignedHeaders') ?? '').split(';'),
      signature: query.get('X-Amz-Signature') ?? '',
      date: query.get('X-Amz-Date') ?? '',
      payloadHash: String(headers['x-amz-content-sha256'] ?? 'UNSIGNED-PAYLOAD'),
      sessionToken: query.get('X-Amz-Security-Token'),
      expires: Number(query.get('X-Amz-Expires')),
    }
  }
  const found = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), *SignedHeaders=([^,]+), *Signature=(\w+)$/.exec(
    headers.authorization ?? '',
  )
  if (!found) return null
  const [, accessKeyId = '', scope = '', signedHeaders = '', signature = ''] = found
  return {
    accessKeyId,
    scope,
    signedHeaders: signedHeaders.split(';'),
    signature,
    date: String(headers['x-amz-date'] ?? ''),
    payloadHash: String(headers['x-amz-content-sha256'] ?? ''),
    sessionToken: headers['x-amz-security-token']?.toString() ?? null,
    expires: null,
  }
}

/** Whether the owner of this secret signed exactly this request. */
export function isSignedWith(secret: string, signed: Signed, { method, headers }: IncomingMessage, url: URL): boolean {
  const path = url.pathname.split('/').map((part) => encodeSegment(decodeURIComponent(part)))
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map((pair) => pair.map(encodeSegment).join('='))
    .sort()
  const canonical = [
    method,
    path.join('/'),
    query.join('&'),
    ...signed.signedHeaders.map(
      (name) =>
        `${name}:${String(headers[name] ?? '')
          .trim()
          .replace(/\s+/g, ' ')}`,
    ),
    '',
    signed.signedHeaders.join(';'),
    signed.payloadHash,
  ].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', signed.date, signed.scope, sha256(canonical)].join('\n')
  const key = signed.scope.split('/').reduce<Buffer | string>((from, part) => hmac(from, part), `AWS4${secret}`)
  const right = hmac(key, toSign)
  const given = Buffer.from(signed.signature, 'hex')
  return given.length === right.length && timingSafeEqual(given, right)
}

/** ms since 1970; NaN if malformed. */
export function signedAt({ date }: Signed): number {
  return Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest()
