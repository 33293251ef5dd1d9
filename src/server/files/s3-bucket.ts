import { createHash } from 'node:crypto'
import { AppError } from '../../domain/error.ts'
import { isAddressable, removalOf } from '../../domain/file-keys.ts'
import type { Bucket, Part } from '../ports/bucket.ts'
import { fourAtOnce } from '../runtime/four-at-once.ts'
import type { BucketSettings } from '../settings/bucket-settings.ts'
import { askBucket, encodeSegment, presign, type S3Request } from './s3-request.ts'
import { readElement, readList, readParts, readUploads, writeDeletion, writeParts } from './s3-xml.ts'
import { credentialsOfLink, type LinkAction, temporaryCredentials } from './temporary-credentials.ts'

/** The bucket works through many files, or large ones, before it answers. */
const SLOW_MS = 60_000
const TIMEOUT_MS = 10_000

/**
 * Any bucket that speaks the S3 protocol, with addresses like `endpoint/bucket/key`.
 * @param timeoutMs for one request; a few may take longer
 */
export function s3Bucket(settings: BucketSettings, now: () => number, { timeoutMs = TIMEOUT_MS } = {}): Bucket {
  const ask = (request: Omit<S3Request, 'withinMs'> & { withinMs?: number }, expected?: number[]) =>
    askBucket(settings, now, { withinMs: timeoutMs, ...request }, expected)
  /** Never with the bucket owner's credentials: what we hand out reaches only the one key, or where STS signs, the account's folder. */
  const sign = async (action: LinkAction, request: Parameters<typeof presign>[3] & { key: string }) => {
    const at = now()
    const { key, seconds } = request
    const mode = action === 'GetObject' ? 'read' : 'write'
    const credentials =
      settings.stsUrl === null
        ? await credentialsOfLink(settings, { key, action, from: at, until: at + seconds * 1000 })
        : await temporary(key.slice(0, key.indexOf('/') + 1), mode, seconds)
    return presign(settings, at, credentials, request)
  }
  const temporary: Bucket['temporaryCredentials'] = (prefix, mode, seconds) =>
    temporaryCredentials(settings, now, { prefix, mode, seconds, withinMs: timeoutMs })

  const list: Bucket['list'] = async ({ prefix, delimiter, after, startAfter, most = 1000 }) => {
    const query = {
      'list-type': '2',
      'encoding-type': 'url',
      prefix,
      'max-keys': String(most),
      ...(delimiter ? { delimiter } : {}),
      ...(after ? { 'continuation-token': after } : {}),
      ...(startAfter ? { 'start-after': startAfter } : {}),
    }
    const { status, text, headers } = await ask({ method: 'GET', query }, after ? [400] : [])
    if (status === 400) throw new AppError('invalid', 'There is no such page. Begin with the first one.')
    return { ...readList(text), at: Date.parse(headers.get('date') ?? '') || now() }
  }

  return {
    list,

    async find(key) {
      const asked = isAddressable(key) ? await ask({ method: 'HEAD', key }, [400, 404]) : null
      // 400: a program encrypted it with its own key, and S3 only says so to someone who has the key.
      if (asked === null || asked.status === 400) {
        // The key itself comes before all that begin with it.
        const { files } = await list({ prefix: key, most: 1 })
        return files.find((file) => file.key === key) ?? null
      }
      const { status, headers } = asked
      if (status === 404) return null
      return {
        key,
        size: Number(headers.get('content-length')),
        modifiedAt: Date.parse(headers.get('last-modified') ?? ''),
        etag: headers.get('etag') ?? '',
      }
    },

    async remove(keys) {
      const as = (way: ReturnType<typeof removalOf>) => keys.filter((key) => removalOf(key) === way)
      await fourAtOnce(as('alone'), (key) => ask({ method: 'DELETE', key }, [404]))
      const together = as('together')
      if (together.length === 0) return
      const body = writeDeletion(together)
      const md5 = createHash('md5').update(body).digest('base64')
      const headers = { 'Content-Type': 'application/xml', 'Content-MD5': md5 }
      await ask({ method: 'POST', query: { delete: '' }, headers, body, withinMs: SLOW_MS })
    },

    async signDownload(key, { seconds, fileName }) {
      // From another origin than ours, and still nothing that a browser opens as a page.
      const query = {
        'response-content-disposition': asAttachment(fileName),
        'response-cache-control': 'private, no-store',
      }
      return (await sign('GetObject', { method: 'GET', key, query, seconds })).url
    },

    async signUpload(key, { seconds, size, type, replaces }) {
      const given = {
        'Content-Type': type,
        ...onlyOver(replaces),
      }
      const headers = { ...given, 'Content-Length': String(size) }
      return { ...(await sign('PutObject', { method: 'PUT', key, headers, seconds })), method: 'PUT', headers: given }
    },

    async startParts(key, type) {
      const headers = { 'Content-Type': type }
      const { text } = await ask({ method: 'POST', key, query: { uploads: '' }, headers })
      return readElement(text, 'UploadId') ?? ''
    },

    async signPart(key, uploadId, { part, size, seconds }) {
      const query = { partNumber: String(part), uploadId }
      const headers = { 'Content-Length': String(size) }
      return {
        ...(await sign('UploadPart', { method: 'PUT', key, query, headers, seconds })),
        method: 'PUT',
        headers: {},
      }
    },

    async listParts(key, uploadId) {
      const parts: Part[] = []
      for (let marker: string | null = '0'; marker !== null; ) {
        const query: Record<string, string> = { uploadId, 'part-number-marker': marker }
        const { status, text } = await ask({ method: 'GET', key, query }, [404])
        if (status === 404) return null
        const page = readParts(text)
        parts.push(...page.parts)
        marker = page.next
      }
      return parts
    },

    async completeParts(key, uploadId, parts, replaces) {
      const request = { key, query: { uploadId }, headers: onlyOver(replaces), body: writeParts(parts) }
      // S3 answers 404 for a file that is gone. 409 says nothing yet: something is being written there, maybe by an
      // earlier try of this call, which may take minutes.
      const { status } = await ask({ method: 'POST', ...request, withinMs: SLOW_MS }, [404, 412])
      return status === 200
    },

    async abortParts(key, uploadId) {
      await ask({ method: 'DELETE', key, query: { uploadId } }, [404])
    },

    async listUploads(prefix, after) {
      const from = after && { 'key-marker': after.key, 'upload-id-marker': after.uploadId }
      const { text } = await ask({ method: 'GET', query: { uploads: '', prefix, 'encoding-type': 'url', ...from } })
      return readUploads(text)
    },

    temporaryCredentials: temporary,
  }
}

/** The condition of a write: what is there must not have changed. */
function onlyOver(replaces: string | null): Record<string, string> {
  return replaces === null ? { 'If-None-Match': '*' } : { 'If-Match': replaces }
}

/** As a disk allows. A longer name would make a link that is too long for servers. */
const MOST_NAME_BYTES = 255

/** Both spellings (RFC 6266): old programs read only ASCII. */
function asAttachment(name: string): string {
  const bytes = new TextEncoder().encode(name).slice(-MOST_NAME_BYTES)
  // Without the rest of a letter that this cuts.
  const fileName = new TextDecoder().decode(bytes).replace(/^\ufffd+/, '')
  const ascii = fileName.replace(/[^\x20-\x7e]|["\\]/g, '_')
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encodeSegment(fileName)}`
}
