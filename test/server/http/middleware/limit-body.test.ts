import { expect, test } from 'vitest'
import { openSite, SITE } from '../../../../testing/stack/site.ts'

const site = await openSite()
const send = (bytes: number) =>
  site.request('/users/confirmation', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: SITE },
    // Whitespace around JSON is still JSON.
    body: JSON.stringify({ user: { email: 'nobody' } }).padEnd(bytes),
  })

test('reads 64 KiB, and refuses one byte more with 413', async () => {
  expect((await send(64 * 1024)).status).toBe(422)
  const refused = await send(64 * 1024 + 1)
  expect([refused.status, await refused.json()]).toMatchObject([413, { error: 'The request is larger than 64 KiB.' }])
})
