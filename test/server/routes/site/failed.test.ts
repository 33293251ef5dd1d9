import { expect, test } from 'vitest'
import { NO_ANSWER } from '../../../../db/client.ts'
import { openSite } from '../../../../testing/stack/site.ts'

test('without the database, a person gets a page that says so, and a call gets JSON', async () => {
  const { cookie } = await (await openSite()).signInAs('user')
  const away = await openSite({ LIBSQL_URL: 'http://127.0.0.1:1' })
  const page = await away.request('/dashboard', { headers: { Cookie: cookie } })
  expect([page.status, page.headers.get('Content-Type')]).toEqual([503, 'text/html; charset=UTF-8'])
  const html = await page.text()
  expect(html.replaceAll('&#x27;', "'")).toContain(NO_ANSWER)
  expect(html).toContain('href="/dashboard"')
  // Who asks is unknown, so the bar doesn't take them for a visitor.
  expect(html).not.toContain('Interested?')
  expect(html).not.toContain('href="/sign_in"')
  const call = await away.request('/api/v1/servers/get_servers', { headers: { Cookie: cookie } })
  expect([call.status, await call.json()]).toEqual([
    503,
    { code: 'unavailable', error: NO_ANSWER, message: NO_ANSWER, errors: [NO_ANSWER] },
  ])
})

test('its Try again link never leads to another site', async () => {
  const { cookie } = await (await openSite()).signInAs('user')
  const away = await openSite({ LIBSQL_URL: 'http://127.0.0.1:1' })
  const html = await (await away.request('//evil.example/dashboard', { headers: { Cookie: cookie } })).text()
  expect(html).toContain('Try again')
  expect(html).not.toContain('href="//')
})
