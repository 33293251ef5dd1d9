import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { deriveKeys } from '../../../src/server/crypto/keys.ts'
import { openPage, openSite, SITE } from '../../../testing/stack/site.ts'

const site = await openSite()
const EVIL = 'Call 555-0100 to keep your account.'

/** The cookies that a refused form leaves for the next page. */
async function refused(message = ''): Promise<Map<string, string>> {
  const page = await openPage(site)
  const response = await site.request('/api/v1/contact_sales', {
    method: 'POST',
    headers: { Origin: SITE, 'Content-Type': 'application/x-www-form-urlencoded', Cookie: page.cookie },
    body: new URLSearchParams({ authenticity_token: page.token, name: 'Ada', message }).toString(),
  })
  expect([response.status, response.headers.get('Location')]).toEqual([303, '/contact_sales'])
  const lines = response.headers.getSetCookie().filter((line) => line.startsWith('flash'))
  return new Map(lines.map((line) => (line.split(';')[0] as string).split('=') as [string, string]))
}

function open(flash: Map<string, string>, headers = {}): Promise<Response> {
  const Cookie = [...flash].map(([name, value]) => `${name}=${value}`).join('; ')
  return Promise.resolve(site.request('/contact_sales', { headers: { ...headers, Cookie } }))
}

const shown = async (flash: Map<string, string>) => (await open(flash)).text()

test('a message and what was typed reach the next page, however long', async () => {
  const long = 'Grüße 🛰 '.repeat(220).trim()
  const flash = await refused(long)
  expect(flash.size).toBeGreaterThan(1)
  const html = await shown(flash)
  expect(html).toContain('Email is required, Please select an option')
  expect(html).toContain(long)
})

test('a page is not prefetched while a message waits for the page that is seen', async () => {
  const flash = await refused()
  expect((await open(new Map(), { 'Sec-Purpose': 'prefetch' })).status).toBe(200)
  const ahead = await open(flash, { 'Sec-Purpose': 'prefetch' })
  expect([ahead.status, await ahead.text()]).toEqual([503, ''])
  expect(ahead.headers.getSetCookie().filter((line) => line.startsWith('flash'))).toEqual([])
  expect(await shown(flash)).toContain('Email is required')
})

test('shows only messages we signed, for this purpose', async () => {
  const payload = Buffer.from(JSON.stringify({ kind: 'danger', message: EVIL, expires: Date.now() + 60_000 })).toString(
    'base64url',
  )
  const signed = (key: Uint8Array) => createHmac('sha256', key).update(payload).digest('base64url')
  const [own] = (await refused()).values()
  const signatures = [
    '',
    'x',
    own?.split('.')[1] ?? '',
    signed(new Uint8Array(32)),
    signed(deriveKeys(site.env.SECRET_KEY, 'csrf')[0].key),
  ]
  for (const signature of signatures)
    expect(await shown(new Map([['flash', `${payload}.${signature}`]])), signature).not.toContain(EVIL)
  const rightly = signed(deriveKeys(site.env.SECRET_KEY, 'flash')[0].key)
  expect(await shown(new Map([['flash', `${payload}.${rightly}`]]))).toContain(EVIL)
})
