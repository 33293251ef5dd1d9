import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import { join } from 'node:path'
import { text as read } from 'node:stream/consumers'
import { AwsClient, AwsV4Signer } from 'aws4fetch'
import { Faults } from '../stand-in/faults.ts'
import { closeAll, listenAgain, type StandInOptions } from '../stand-in/server.ts'
import { Store } from '../stand-in/store.ts'
import { allows, type Credentials, readSession, type Wish } from './credentials.ts'
import { isSignedWith, readSignature, signedAt } from './signature.ts'
import { Uploads } from './uploads.ts'

export const BUCKET = 'files'
/** Where Miniflare serves its buckets over the S3 protocol. */
const UPSTREAM_PATH = '/cdn-cgi/local/r2/s3'
/** As docs/operations.md tells operators to set it. */
const LIFECYCLE =
  '<LifecycleConfiguration><Rule><ID>unfinished</ID><Filter><Prefix></Prefix></Filter><Status>Enabled</Status><AbortIncompleteMultipartUpload><DaysAfterInitiation>8</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule></LifecycleConfiguration>'

/** What the bucket itself must see. Everything else is for us, or about the connection. */
const PASSED =
  /^(content-(type|length|md5|disposition|encoding|language)|cache-control|expires|range|if-.+|x-amz-(meta-.+|copy-source.*|metadata-directive))$/

type Fault = { fault: 'error' | 'timeout' }

export type FilesStandIn = {
  endpoint: string
  accessKeyId: string
  secretAccessKey: string
  /** Miniflare's bucket, once workerd is up. */
  connect(origin: string): void
  inject(fault: Fault['fault'], times: number): void
  heal(): void
  close(): Promise<void>
}

/**
 * Stands in front of Miniflare's bucket, and adds what R2 has and Miniflare lacks: CORS, rules, temporary credentials
 * for a prefix, the list of an upload's parts and its condition, and the stack's own clock for what expires.
 */
export async function startFiles({
  dataDir,
  now = Date.now,
  origins,
}: StandInOptions & { origins: string[] }): Promise<FilesStandIn> {
  const store = new Store(join(dataDir, 'files.jsonl'))
  const own = ownCredentials(store)
  const uploads = new Uploads(store)
  const faults = new Faults<Fault>(store)
  let upstream = ''

  const server = createServer((req, res) => {
    answer(req, res).catch((error) => {
      if (res.headersSent) res.destroy()
      else refuse(res, 500, 'InternalError', String(error))
    })
  })
  const { url: endpoint } = await listenAgain(server, store)

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', endpoint)
    setCors(req, res)
    if (req.method === 'OPTIONS') return void res.writeHead(204).end()
    const fault = faults.take()
    if (fault?.fault === 'timeout') return
    if (fault) return refuse(res, 503, 'ServiceUnavailable')
    const [, bucket, ...rest] = url.pathname.split('/')
    if (bucket !== BUCKET) return refuse(res, 404, 'NoSuchBucket')
    const key = rest.length && rest.join('/') !== '' ? decodeURIComponent(rest.join('/')) : null
    // We would check the first and pass on the second.
    if (new Set(url.searchParams.keys()).size < url.searchParams.size) return refuse(res, 400, 'InvalidArgument')
    const signed = readSignature(req, url)
    if (!signed) return refuse(res, 403, 'AccessDenied', 'The request is not signed.')
    if (signed.accessKeyId !== own.accessKeyId) return refuse(res, 403, 'InvalidAccessKeyId')
    const { sessionToken } = signed
    const credentials = sessionToken === null ? own : await readSession(own, sessionToken, url.host)
    if (!credentials) return refuse(res, 403, 'InvalidToken')
    const unsigned = Object.keys(req.headers).find(
      (name) => name.startsWith('x-amz-') && name !== 'x-amz-content-sha256' && !signed.signedHeaders.includes(name),
    )
    if (unsigned)
      return refuse(
        res,
        403,
        'AccessDenied',
        `There were headers present in the request which were not signed: ${unsigned}`,
      )
    if (!isSignedWith(credentials.secretAccessKey, signed, req, url)) return refuse(res, 403, 'SignatureDoesNotMatch')
    if (credentials.scope && now() >= credentials.scope.expiresAt) return refuse(res, 403, 'ExpiredToken')
    if (signed.expires !== null && !(now() < signedAt(signed) + signed.expires * 1000))
      return refuse(res, 403, 'AccessDenied', 'Request has expired.')
    const body = url.searchParams.has('delete') ? await read(req) : null
    const deleted = [...(body?.matchAll(/<Key>(.*?)<\/Key>/gs) ?? [])].map(([, found = '']) => found)
    if (deleted.length !== (body?.match(/<Key\b/g)?.length ?? 0)) return refuse(res, 400, 'MalformedXML')
    const wish: Wish = {
      method: req.method ?? 'GET',
      key,
      url,
      source: sourceOf(req),
      deleted,
    }
    if (credentials.scope && !allows(credentials.scope, wish)) return refuse(res, 403, 'AccessDenied')
    await serve(req, res, wish, body)
  }

  async function serve(req: IncomingMessage, res: ServerResponse, { method, key, url }: Wish, body: string | null) {
    const uploadId = url.searchParams.get('uploadId')
    if (key === null && url.searchParams.has('lifecycle'))
      return void res.writeHead(200, { 'content-type': 'application/xml' }).end(LIFECYCLE)
    if (method === 'GET' && key === null && url.searchParams.has('uploads')) {
      const [prefix = '', after = '', id = ''] = ['prefix', 'key-marker', 'upload-id-marker'].map(
        (name) => url.searchParams.get(name) ?? '',
      )
      const page = uploads.listBelow(prefix, { key: after, id })
      return void res.writeHead(200, { 'content-type': 'application/xml' }).end(page)
    }
    if (method === 'GET' && uploadId && key !== null) {
      const parts = uploads.list(uploadId, key)
      if (parts === null) return refuse(res, 404, 'NoSuchUpload')
      return void res.writeHead(200, { 'content-type': 'application/xml' }).end(parts)
    }
    if (method === 'POST' && uploadId && !(await allowsIt(req, url))) return refuse(res, 412, 'PreconditionFailed')
    const begins = method === 'POST' && url.searchParams.has('uploads')
    const ends = uploadId !== null && (method === 'POST' || method === 'DELETE')
    const part = method === 'PUT' && uploadId ? url.searchParams.get('partNumber') : null
    await passOn(req, res, url, body, (status, headers, text) => {
      if (status >= 300) return
      if (begins && key !== null) uploads.begin(/<UploadId>(.*?)</.exec(text)?.[1] ?? '', key, now())
      if (ends) uploads.end(uploadId)
      const etag = String(headers.etag ?? /<ETag>(.*?)</.exec(text)?.[1]?.replaceAll('&quot;', '"') ?? '')
      if (part && uploadId) uploads.addPart(uploadId, part, sizeOfPart(req), etag)
    })
  }

  /** Whether a multipart upload, when it is completed, may replace what it finds: Miniflare's bucket doesn't check. */
  async function allowsIt({ headers }: IncomingMessage, { pathname }: URL): Promise<boolean> {
    const [match, noneMatch] = [headers['if-match'], headers['if-none-match']]
    if (!match && !noneMatch) return true
    const bucket = new AwsClient(upstreamKeys(own))
    const found = await bucket.fetch(`${upstream}${UPSTREAM_PATH}${pathname}`, { method: 'HEAD' })
    return noneMatch ? !found.ok : found.ok && (match === '*' || found.headers.get('etag') === match)
  }

  /** Signed again, as the bucket's owner. Reads small answers before passing them on. */
  async function passOn(
    req: IncomingMessage,
    res: ServerResponse,
    url: URL,
    body: string | null,
    done: (status: number, headers: IncomingMessage['headers'], text: string) => void,
  ): Promise<void> {
    const target = new URL(`${upstream}${UPSTREAM_PATH}${url.pathname}`)
    for (const [name, value] of url.searchParams)
      if (!/^(x-amz-|x-id$|response-)/i.test(name)) target.searchParams.set(name, value)
    const passed = Object.entries(req.headers).filter(([name]) => PASSED.test(name)) as [string, string][]
    const signer = new AwsV4Signer({
      ...upstreamKeys(own),
      url: target.href,
      method: req.method ?? 'GET',
      headers: passed,
    })
    const { headers } = await signer.sign()
    const given = { ...Object.fromEntries(headers), ...Object.fromEntries(passed) }
    await new Promise<void>((resolve, reject) => {
      const onward = send(target, { method: req.method ?? 'GET', headers: given }, (got) => {
        const status = got.statusCode ?? 502
        const { connection: _, 'transfer-encoding': __, ...kept } = got.headers
        const overrides = [...url.searchParams].filter(([name]) => name.startsWith('response-'))
        for (const [name, value] of overrides) kept[name.slice('response-'.length)] = value
        if (req.method === 'GET' || req.method === 'HEAD') {
          res.writeHead(status, kept)
          got.pipe(res).on('finish', resolve).on('close', resolve)
          return
        }
        read(got).then((text) => {
          done(status, got.headers, text)
          res.writeHead(status, kept).end(text)
          resolve()
        }, reject)
      })
      onward.on('error', reject)
      // A caller that hangs up midway must leave nothing behind.
      res.on('close', () => res.writableFinished || onward.destroy())
      if (body === null) req.pipe(onward)
      else onward.end(body)
    })
  }

  function setCors(req: IncomingMessage, res: ServerResponse): void {
    const { origin } = req.headers
    if (!origin || !origins.includes(origin)) return
    res.setHeader('access-control-allow-origin', origin)
    res.setHeader('access-control-allow-methods', 'GET, HEAD, PUT')
    res.setHeader('access-control-allow-headers', 'content-type, if-match, if-none-match')
    res.setHeader('access-control-expose-headers', 'etag')
    res.setHeader('vary', 'origin')
  }

  return {
    endpoint,
    accessKeyId: own.accessKeyId,
    secretAccessKey: own.secretAccessKey,
    connect: (origin) => {
      upstream = origin
    },
    inject: (fault, times) => faults.add({ fault }, times),
    heal: () => faults.heal(),
    close: () => closeAll(server),
  }
}

function ownCredentials(store: Store): Credentials {
  const kept = store.get<Credentials>('settings', 'credentials')
  if (kept) return kept
  const [accessKeyId, secretAccessKey] = [randomBytes(16).toString('hex'), randomBytes(32).toString('hex')]
  const made: Credentials = { accessKeyId, secretAccessKey, scope: null }
  store.put('settings', 'credentials', made)
  store.commit()
  return made
}

const upstreamKeys = ({ accessKeyId, secretAccessKey }: Credentials) => ({
  accessKeyId,
  secretAccessKey,
  region: 'auto',
  service: 's3',
})

/** The key of `/bucket/key`. */
function sourceOf({ headers }: IncomingMessage): string | null {
  const source = headers['x-amz-copy-source']
  return source === undefined ? null : decodeURIComponent(String(source)).replace(/^\/?[^/]+\//, '')
}

function sizeOfPart({ headers }: IncomingMessage): number {
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(String(headers['x-amz-copy-source-range'] ?? '')) ?? []
  return start && end ? Number(end) - Number(start) + 1 : Number(headers['content-length'] ?? 0)
}

function refuse(res: ServerResponse, status: number, code: string, message = code): void {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`
  res.writeHead(status, { 'content-type': 'application/xml', connection: 'close' }).end(body)
}
