import { expect, test } from 'vitest'
import { BUCKET, openSite, SITE } from '../../../../testing/stack/site.ts'

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
