import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { coming } from '../../../../src/server/http/middleware/held-bodies.ts'
import { BUCKET, openPage, openSite, SITE, type Site } from '../../../../testing/stack/site.ts'

const site = await openSite()
const send = (bytes: number) =>
  site.request('/users/confirmation', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: SITE },
    // Whitespace around JSON is still JSON.
    body: JSON.stringify({ user: { email: 'nobody' } }).padEnd(bytes),
  })

test('only a form that brings a file may be larger, and only where a route takes one', async () => {
  const { cookie } = await site.signInAs('user')
  const post = async (path: string, type: string, body: string) => {
    const headers = { 'Content-Type': type, Origin: SITE, Cookie: cookie, Accept: 'application/json' }
    return (await site.request(path, { method: 'POST', headers, body })).status
  }
  const large = 'x'.repeat(64 * 1024 + 1)
  const form = `--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n${large}\r\n--b--\r\n`
  expect(await post('/files', 'multipart/form-data; boundary=b', form)).not.toBe(413)
  for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain'])
    expect(await post('/files', type, large)).toBe(413)
  expect(await post('/api/v1/contact_sales', 'multipart/form-data; boundary=b', form)).toBe(413)
})

test('reads 64 KiB, and refuses one byte more with 413', async () => {
  expect((await send(64 * 1024)).status).toBe(422)
  const refused = await send(64 * 1024 + 1)
  expect([refused.status, await refused.json()]).toMatchObject([413, { error: 'The request is larger than 64 KiB.' }])
})

test.each([
  ['a byte at a time, of what we would take', 1, 60_000, 413, 2_100],
  ['a byte at a time, of what is too large as well', 1, 600_000, 413, 2_100],
  ['as many small ones as an API call may have', 64, 60_000, 422, 940],
  ['as slow lines bring them', 512, 600_000, 413, 1_180],
])('reads no endless number of pieces: %s', async (_, piece, bytes, status, most) => {
  let reads = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        reads++
        if (reads * piece < bytes) return controller.enqueue(new Uint8Array(piece).fill(0x20))
        controller.enqueue(new TextEncoder().encode('{"user":{"email":"nobody"}}'))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const headers = { 'Content-Type': 'application/json', Origin: SITE }
  const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
  expect((await site.request('/users/confirmation', init)).status).toBe(status)
  expect(reads).toBeLessThan(most)
})

test.each([1, 64 * 1024 + 1])('a sender who goes away after %i bytes is no failure of ours', async (bytes) => {
  const quiet = await openSite()
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new Uint8Array(bytes)),
    pull: (controller) => controller.error(new Error('Network connection lost.')),
  })
  const headers = { 'Content-Type': 'application/json', Origin: SITE }
  const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
  expect((await quiet.request('/users/confirmation', init)).status).toBe(400)
  expect(quiet.takeLines()).toEqual([])
})

test("reads no file that a foreign page or nobody's browser sends, however long it is kept open", async () => {
  const files = await openSite(BUCKET)
  /** How much of a form of 9 MB was read, if it never ends. */
  const readOf = async (headers: Record<string, string>) => {
    let read = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        read += 65_536
        if (read < 9_000_000) controller.enqueue(new Uint8Array(65_536))
      },
    })
    const answer = files.request('/files', {
      method: 'POST',
      headers: { 'Content-Type': 'multipart/form-data; boundary=x', ...headers },
      body,
      duplex: 'half',
    } as RequestInit)
    return { status: (await answer).status, read }
  }
  const foreign = await readOf({ Origin: 'https://elsewhere.example' })
  expect(foreign.status).toBe(403)
  expect(foreign.read).toBeLessThan(1_000_000)
  expect((await readOf({})).status).toBe(403)
})

/** Begins a request whose body stops after its first byte, or later. @param pull called once that is read */
function begin(to: Site, path: string, headers: Record<string, string>, bytes = 1, pull?: (more: () => void) => void) {
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new Uint8Array(bytes)),
    pull: (controller) => pull?.(() => controller.enqueue(new Uint8Array(1))),
  })
  const all = { Origin: SITE, 'Content-Type': 'application/json', ...headers }
  return to.request(path, { method: 'POST', headers: all, body, duplex: 'half' } as RequestInit)
}

test('stalled bodies keep no one out: the oldest of an address ends first, then the oldest of all', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const from = (n: number) => ({ 'CF-Connecting-IP': `203.0.113.${n}` })
  const send = async (n: number) => {
    const headers = { 'Content-Type': 'application/json', Origin: SITE, 'Content-Length': '40', ...from(n) }
    const body = JSON.stringify({ user: { email: 'nobody' } })
    return (await site.request('/users/confirmation', { method: 'POST', headers, body })).status
  }
  const announced = { 'Content-Length': '65536' }
  const slow = (n: number) =>
    Array.from({ length: 64 }, () => begin(site, '/users/confirmation', { ...announced, ...from(n) }))
  const ended = async (requests: Promise<Response>[]) => {
    const states = await Promise.all(requests.map((one) => Promise.race([one, Promise.resolve(null)])))
    return states.map((answer) => answer?.status ?? null)
  }
  const first = slow(1)
  expect(await send(1)).toBe(422)
  // Its own oldest made room, and no other.
  await vi.waitFor(async () => expect(await ended(first)).toEqual([408, ...Array(63).fill(null)]))
  const others = Array.from({ length: 7 }, (_, n) => slow(n + 2)).flat()
  expect(await send(98)).toBe(422)
  expect(await ended(others)).toEqual(Array(448).fill(null))
  // What has come counts, not what is announced.
  const more = begin(site, '/users/confirmation', { ...announced, ...from(97) }, 60_000)
  await vi.waitFor(async () => expect((await ended(first)).slice(0, 5)).toEqual([408, 408, 408, 408, null]))
  expect((await site.request('/pricing')).status).toBe(200)
  await vi.advanceTimersByTimeAsync(20_000)
  const all = await Promise.all([...first, ...others, more])
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([408]))
})

test("machines' calls and Stripe's events don't wait behind others of their address", async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const from = { 'CF-Connecting-IP': '198.51.100.7' }
  const idle = Array.from({ length: 300 }, () => begin(site, '/machines/key', { 'Content-Length': '100', ...from }))
  const signedAt = (s: number) => ({ 'Stripe-Signature': `t=${s},v1=${'a'.repeat(64)}`, ...from })
  const now = Math.floor(Date.now() / 1000)
  const events = Array.from({ length: 20 }, () =>
    begin(site, '/webhooks/stripe', { 'Content-Length': '1048576', ...signedAt(now) }),
  )
  const post = async (path: string, headers: Record<string, string>) =>
    (await site.request(path, { method: 'POST', headers: { ...from, ...headers }, body: '{}' })).status
  expect(await post('/machines/key', { 'Content-Type': 'application/json', 'Content-Length': '2' })).toBe(403)
  expect(await post('/webhooks/stripe', signedAt(now))).toBe(400)
  // An event that was signed long ago is none of Stripe's: it may be as large as any other text.
  const large = { method: 'POST', headers: signedAt(now - 301), body: 'x'.repeat(64 * 1024 + 1) }
  expect((await site.request('/webhooks/stripe', large)).status).toBe(413)
  await vi.advanceTimersByTimeAsync(20_000)
  const states = (await Promise.all([...idle, ...events])).map(({ status }) => status)
  expect(new Set(states)).toEqual(new Set([408]))
})

test('a plain form that stops on its way is answered by a page', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const form = { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'text/html' }
  const slow = begin(site, '/users/password', form)
  await vi.advanceTimersByTimeAsync(20_000)
  expect([(await slow).status, sentenceOf(await slow)]).toEqual([303, expect.stringContaining('too long to arrive')])
})

/** What the next page says. */
function sentenceOf(answer: Response): string {
  const flash = /flash=([^.;]+)/.exec(answer.headers.getSetCookie().join())?.[1] ?? ''
  return Buffer.from(flash, 'base64url').toString()
}

test('a person sends one form with a file at a time, for five minutes at most, and a newer one replaces it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const files = await openSite(BUCKET)
  const form = { 'Content-Type': 'multipart/form-data; boundary=b', 'Content-Length': '9000000' }
  const [ada, ben, eve] = await Promise.all([files.signInAs('user'), files.signInAs('user'), files.signInAs('user')])
  const slow = ({ cookie }: typeof ada) => begin(files, '/files', { ...form, Cookie: cookie })
  const send = ({ cookie }: typeof ada, length = '2') => {
    const headers = { ...form, Origin: SITE, Cookie: cookie, 'Content-Length': length }
    return files.request('/files', { method: 'POST', headers, body: '--' })
  }
  const first = slow(ada)
  const ended = (one: Promise<Response>) => Promise.race([one, Promise.resolve(null)])
  await vi.waitFor(async () => {
    await send(ada)
    expect(await ended(first)).not.toBeNull()
  })
  expect(sentenceOf(await first)).toContain('You sent another file before this one had arrived.')
  const second = slow(ada)
  const other = slow(ben)
  await vi.waitFor(() => expect(coming.size).toBe(2))
  // What they announce keeps nobody out.
  expect(sentenceOf(await send(eve, '9000000'))).not.toContain('more than we can handle')
  await vi.advanceTimersByTimeAsync(299_000)
  expect(await ended(second)).toBeNull()
  await vi.advanceTimersByTimeAsync(1_000)
  expect([sentenceOf(await second), sentenceOf(await other)]).toEqual(
    Array(2).fill(expect.stringContaining('too long to arrive')),
  )
})

test('of more than 20 MB of forms with files, silent ones end first, then the slowest', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  onTestFinished(() => {
    vi.useRealTimers()
    coming.clear()
  })
  const files = await openSite(BUCKET)
  const form = { 'Content-Type': 'multipart/form-data; boundary=b', 'Content-Length': '10000000' }
  const [ada, ben, eve] = await Promise.all([files.signInAs('user'), files.signInAs('user'), files.signInAs('user')])
  const send = async ({ cookie }: typeof ada, bytes: number) => {
    let read = Promise.withResolvers<() => void>()
    const answer = begin(files, '/files', { ...form, Cookie: cookie }, bytes, (more) => read.resolve(more))
    const one = {
      answer: null as Response | null,
      async more() {
        const more = await read.promise
        read = Promise.withResolvers()
        more()
        await read.promise
      },
    }
    void answer.then((is) => {
      one.answer = is
    })
    await Promise.race([read.promise, answer])
    await files.request('/pricing')
    return one
  }
  const said = ({ answer }: { answer: Response | null }) => answer && sentenceOf(answer)
  const slow = await send(ada, 9_999_000)
  vi.advanceTimersByTime(100_000)
  const silent = await send(ben, 9_999_000)
  vi.advanceTimersByTime(25_000)
  await slow.more()
  const third = await send(eve, 1)
  expect([slow, silent, third].map(said)).toEqual([null, expect.stringContaining('too long'), null])
  vi.advanceTimersByTime(10_000)
  const fast = await send(ben, 9_999_000)
  expect([slow, third, fast].map(said)).toEqual([null, expect.stringContaining('too long'), null])
  const newer = await send(ben, 9_999_000)
  expect(said(fast)).toContain('You sent another file')
  // What still comes of the older one counts no more.
  await fast.more()
  await files.request('/pricing')
  expect([slow, newer].map(said)).toEqual([null, null])
  // What is being stored ends for no one.
  const stored = { name: 'file', who: 'x', bytes: 20_000_000, isHere: true, heardAt: 0, until: Infinity } as const
  coming.add({ ...stored, end: () => {} })
  const headers = { ...form, Origin: SITE, Cookie: eve.cookie }
  const refused = await files.request('/files', { method: 'POST', headers, body: '--' })
  expect(sentenceOf(refused)).toContain('more than we can handle')
  expect([slow, newer].map(said)).toEqual([null, null])
})

test('a file counts until it is stored', async () => {
  const asked = Promise.withResolvers<void>()
  const answers: ServerResponse[] = []
  const bucket = createServer((_, answer) => asked.resolve(void answers.push(answer))).listen(0)
  onTestFinished(() => void bucket.close())
  await once(bucket, 'listening')
  const files = await openSite({
    ...BUCKET,
    FILES_ENDPOINT: `http://127.0.0.1:${(bucket.address() as AddressInfo).port}`,
  })
  const { cookie, token } = await openPage(files, (await files.signInAs('user')).cookie)
  const send = async () => {
    const body = new FormData()
    body.set('authenticity_token', token)
    body.set('file', new File(['x'], 'a.txt'))
    const answer = await files.request('/files', { method: 'POST', headers: { Origin: SITE, Cookie: cookie }, body })
    return sentenceOf(answer)
  }
  const first = send()
  await asked.promise
  expect(await send()).toContain("We're still saving your last file.")
  for (const answer of answers) answer.writeHead(403).end()
  expect(await first).not.toContain('still saving')
  expect(await Promise.race([send(), asked.promise.then(() => 'asks the bucket')])).toBe('asks the bucket')
})
