import { expect, test } from 'vitest'
import { app } from '../../../../src/server/app.ts'
import { openPage, openSite } from '../../../../testing/stack/site.ts'

const site = await openSite()

const routes = app.routes.filter(({ method }) => method !== 'ALL')
const paths = [...new Set(routes.map(({ path }) => path))]
const methodsOf = (path: string) => [
  ...new Set(routes.filter((route) => route.path === path).map(({ method }) => method)),
]
const listed = (header: string | null) => header?.split(', ').sort()

test.each(paths)('%s refuses all methods but its own, and names them', async (path) => {
  const own = methodsOf(path)
  const allow = [...own, ...(own.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort()
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].filter((one) => !own.includes(one))) {
    const refused = await site.request(path, { method })
    expect([method, refused.status, listed(refused.headers.get('Allow'))]).toEqual([method, 405, allow])
    expect(await refused.json()).toMatchObject({ code: 'method_not_allowed' })
  }
  const options = await site.request(path, { method: 'OPTIONS', headers: { Origin: 'https://other.example' } })
  expect([options.status, listed(options.headers.get('Allow'))]).toEqual([204, allow])
  const head = await site.request(path, { method: 'HEAD' })
  expect(head.status === 405, path).toBe(!own.includes('GET'))
})

test.each([
  ['PUT', '/api/v1/servers/get_servers', 'GET, HEAD, OPTIONS'],
  ['GET', '/webhooks/stripe', 'POST, OPTIONS'],
])('%s %s belongs to the path that has this name, not to one with a parameter', async (method, path, allow) => {
  const refused = await site.request(path, { method })
  expect([refused.status, refused.headers.get('Allow')]).toEqual([405, allow])
})

test('an API token gets the same answer', async () => {
  const { userId } = await site.signInAs('user')
  const { headers } = await site.tokenOf(userId, 'read')
  const refused = await site.request('/api/v1/aws/start', { headers })
  expect([refused.status, refused.headers.get('Allow')]).toEqual([405, 'POST, OPTIONS'])
})

test("a person gets a page, and a form's method counts", async () => {
  const { cookie, token } = await openPage(site)
  const form = (path: string, fields: Record<string, string>) =>
    site.request(path, {
      method: 'POST',
      headers: {
        Accept: 'text/html',
        Cookie: cookie,
        'Sec-Fetch-Site': 'same-origin',
        'Content-Type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ authenticity_token: token, ...fields }),
    })
  for (const refused of [
    await site.request('/users', { headers: { Accept: 'text/html' } }),
    await form('/users', { _method: 'patch' }),
    await form('/pricing', {}),
  ]) {
    expect([refused.status, refused.headers.get('Content-Type')]).toEqual([405, 'text/html; charset=UTF-8'])
    expect(await refused.text()).toContain('doesn&#x27;t work at this address')
  }
  expect((await form('/users/sign_out', { _method: 'delete' })).status).toBe(303)
})

test('an unknown path stays unknown, whatever the method', async () => {
  for (const method of ['GET', 'OPTIONS']) {
    const lost = await site.request('/api/v1/nope', { method })
    expect([lost.status === 405, lost.headers.has('Allow')]).toEqual([false, false])
  }
})
