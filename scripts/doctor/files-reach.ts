import { createHash, createHmac, randomUUID } from 'node:crypto'
import { request as sendHttp } from 'node:http'
import { request as sendHttps } from 'node:https'
import { s3Bucket } from '../../src/server/files/s3-bucket.ts'
import { amzDate } from '../../src/server/files/s3-request.ts'
import { temporaryCredentials } from '../../src/server/files/temporary-credentials.ts'
import type { TemporaryCredentials } from '../../src/server/ports/bucket.ts'
import type { BucketSettings } from '../../src/server/settings/bucket-settings.ts'
import { type Finding, fail, ok } from './check.ts'
import type { Send, Sender } from './files.ts'

const NAME = 'files credentials'
const SECRET = 'nobody-else-may-read-this'

/** Tries what an account's credentials and links must not allow, with files in two folders that it removes afterward. */
export async function checkReach(
  bucket: BucketSettings,
  { owner, sender, ask }: { owner: Send; sender: Sender; ask: typeof fetch },
): Promise<Finding> {
  const [own, theirs] = [`doctor/${randomUUID()}/`, `doctor/${randomUUID()}/`]
  const give = (mode: 'read' | 'write') =>
    temporaryCredentials(bucket, Date.now, { prefix: own, mode, seconds: 900, withinMs: 15_000 })
  const [reader, writer] = [await give('read'), await give('write')]
  const [read, write] = [sender(reader), sender(writer)]
  const listOf = (prefix: string) => `?list-type=2&prefix=${encodeURIComponent(prefix)}`
  const source = { 'x-amz-copy-source': `/${bucket.bucket}/${theirs}secret` }
  const holds = async (key: string) => (await (await owner('GET', `/${key}`)).text()) === SECRET
  const tries: [what: string, isAllowed: () => Promise<boolean>][] = [
    ['the list of everything', async () => (await read('GET', listOf(''))).ok],
    ["the list of another folder's files", async () => (await write('GET', listOf(theirs))).ok],
    ["another folder's file", async () => (await write('GET', `/${theirs}secret`)).ok],
    ['writing, although they may only read', async () => (await read('PUT', `/${own}x`)).ok],
    ["writing another folder's file", async () => (await write('PUT', `/${theirs}x`)).ok],
    [
      "a copy of another folder's file",
      async () => {
        await write('PUT', `/${own}copy`, source)
        return holds(`${own}copy`)
      },
    ],
    [
      "another folder's file by a path with dots",
      async () => (await getByDots(bucket, writer, `${own}../../${theirs}secret`)).includes(SECRET),
    ],
    [
      'a copy source that a link does not sign',
      async () => {
        const to = { seconds: 900, size: 0, type: 'text/plain', replaces: null }
        const { url, headers } = await s3Bucket(bucket, Date.now).signUpload(`${own}link`, to)
        await ask(url, { method: 'PUT', headers: { ...headers, ...source } })
        return holds(`${own}link`)
      },
    ],
  ]
  await owner('PUT', `/${theirs}secret`, {}, SECRET)
  try {
    const list = await read('GET', listOf(own))
    if (!list.ok) return fail(NAME, `They don't open their own folder (${list.status}).`)
    for (const [what, isAllowed] of tries)
      if (await isAllowed()) return fail(NAME, `They allow ${what}. Take FILES_ENDPOINT away until you know why.`)
  } finally {
    for (const key of [`${theirs}secret`, `${theirs}x`, ...['x', 'copy', 'link'].map((name) => own + name)])
      await owner('DELETE', `/${key}`)
  }
  return ok(NAME, 'they open one folder and no other, and a link one file')
}

/** Signed and sent by hand: every URL class resolves dots, and S3 doesn't. */
async function getByDots({ endpoint, bucket, region }: BucketSettings, by: TemporaryCredentials, key: string) {
  const { hostname, host, port, protocol } = new URL(endpoint)
  const path = `/${bucket}/${key}`
  const date = amzDate(Date.now())
  const headers: Record<string, string> = {
    host,
    'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
    'x-amz-date': date,
    'x-amz-security-token': by.sessionToken,
  }
  const names = Object.keys(headers).join(';')
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}`)
  const canonical = ['GET', path, '', ...lines, '', names, 'UNSIGNED-PAYLOAD'].join('\n')
  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', date, scope, createHash('sha256').update(canonical).digest('hex')].join('\n')
  const hmac = (secret: Buffer | string, text: string) => createHmac('sha256', secret).update(text).digest()
  const secret = scope.split('/').reduce<Buffer | string>(hmac, `AWS4${by.secretAccessKey}`)
  const signature = hmac(secret, toSign).toString('hex')
  const authorization = `AWS4-HMAC-SHA256 Credential=${by.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`
  const send = protocol === 'https:' ? sendHttps : sendHttp
  return new Promise<string>((resolve, reject) => {
    const sent = send({ hostname, port, path, headers: { ...headers, authorization }, timeout: 15_000 }, (answer) => {
      answer.toArray().then((chunks) => resolve(Buffer.concat(chunks).toString()), reject)
    })
    sent.on('error', reject).end()
  })
}
