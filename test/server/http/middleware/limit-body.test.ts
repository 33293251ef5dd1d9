import { expect, test } from 'vitest'
import { openSite, SITE } from '../../../../testing/stack/site.ts'

const site = openSite()
const send = (bytes: number) =>
  site.request('/users/confirmation', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: SITE },
    // Spaces around a body of JSON are JSON, too.
    body: JSON.stringify({ user: { email: 'nobody' } }).padEnd(bytes),
  })

test('64 KiB is read, a byte more is 413', async () => {
  expect((await send(64 * 1024)).status).toBe(422)
  const refused = await send(64 * 1024 + 1)
  expect([refused.status, await refused.json()]).toMatchObject([413, { error: 'The request is larger than 64 KiB.' }])
})
