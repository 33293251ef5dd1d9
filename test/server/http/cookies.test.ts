import { expect, test } from 'vitest'
import { openSite } from '../../../testing/stack/site.ts'

const setCookie = async (origin: string) => {
  const site = await openSite({ SITE_ORIGINS: origin })
  const page = await site.request('/sign_in')
  return page.headers.getSetCookie().map((line) => line.replace(/=[^;]*/, '='))
}

test('on https, every cookie is bound to this host and to encrypted connections', async () => {
  const [cookie = '', ...others] = await setCookie('https://proving-ground.example')
  expect(others).toEqual([])
  expect(cookie.split('; ').filter((part) => !part.startsWith('Max-Age'))).toEqual(
    expect.arrayContaining(['__Host-browser=', 'Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax']),
  )
})

test('on your own machine, cookies work without https', async () => {
  const [cookie = ''] = await setCookie('http://localhost:8787')
  expect(cookie).toMatch(/^browser=/)
  expect(cookie).not.toContain('Secure')
})
