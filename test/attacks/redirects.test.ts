import { expect, test } from 'vitest'
import { app } from '../../src/server/app.ts'
import { openPage, openSite, SITE } from '../../testing/stack/site.ts'

const EVIL = 'https://evil.example/x'
/** What other products call a parameter that says where to go next. */
const NAMES = 'return_to returnTo redirect redirect_to redirect_uri next url continue goto r'.split(' ')
const evilFields = NAMES.map((name) => `${name}=${encodeURIComponent(EVIL)}`).join('&')
const routes = [...new Set(app.routes.filter((r) => r.method !== 'ALL').map((r) => `${r.method} ${r.path}`))]
const site = await openSite()

/** A path on this site that no browser takes for another site. */
function expectOwn(location: string | null, what: string): void {
  if (location === null) return
  expect(new URL(location, SITE).origin, what).toBe(SITE)
  expect(location, what).toMatch(/^\/(?![/\\])/)
  expect(location, what).not.toContain('evil.example')
}

test('no parameter, header, or field decides where a route redirects', async () => {
  const evilHeaders = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', Referer: EVIL, Accept: 'text/html' }
  const page = await openPage(site)
  let redirects = 0
  for (const role of ['visitor', 'user'] as const)
    for (const route of routes) {
      // A change may end the sign-in that makes it.
      const Cookie = [page.cookie, (await site.signInAs(role)).cookie].filter(Boolean).join('; ')
      const [method = '', pattern = ''] = route.split(' ')
      const path = `${pattern.replace(':id', 'in_nobody')}?${evilFields}`
      const form = { authenticity_token: page.token, ...(method === 'POST' ? {} : { _method: method.toLowerCase() }) }
      const response =
        method === 'GET'
          ? await site.request(path, { headers: { ...evilHeaders, Cookie } })
          : await site.request(path, {
              method: 'POST',
              headers: {
                ...evilHeaders,
                Origin: SITE,
                'Content-Type': 'application/x-www-form-urlencoded',
                Cookie,
              },
              body: `${new URLSearchParams(form)}&theme=dark&${evilFields}`,
            })
      if (response.headers.has('Location')) redirects++
      expectOwn(response.headers.get('Location'), `${role}: ${route}`)
    }
  expect(redirects).toBeGreaterThan(30)
})

test('the theme switch returns to the page it was used on, and to no other site', async () => {
  const page = await openPage(site)
  const choose = async (Referer: string) => {
    const response = await site.request('/theme', {
      method: 'POST',
      headers: { Origin: SITE, Referer, 'Content-Type': 'application/x-www-form-urlencoded', Cookie: page.cookie },
      body: new URLSearchParams({ theme: 'dark', authenticity_token: page.token }).toString(),
    })
    expectOwn(response.headers.get('Location'), Referer)
    return response.headers.get('Location')
  }
  expect(await choose(`${SITE}/pricing?a=b`)).toBe('/pricing?a=b#theme')
  for (const Referer of [
    EVIL,
    `${SITE}.evil.example/`,
    `${SITE}//evil.example`,
    `${SITE}/\\evil.example`,
    'javascript:alert(1)',
    '',
  ])
    expect(await choose(Referer), Referer).toBe('/#theme')
})

test('the 404 page links back to our own pages only', async () => {
  for (const Referer of [EVIL, `${SITE}.evil.example/`, `${SITE}//evil.example/`, 'javascript:alert(1)']) {
    const html = await (await site.request('/no/such/page', { headers: { Referer } })).text()
    expect(html).not.toMatch(/evil\.example|javascript:/)
  }
})
