import { expect, test } from 'vitest'
import { openAccount, signedInUser } from '../../../../testing/people/sign-up.ts'

const { account, browser } = openAccount()
await signedInUser(browser, account)
const html = async (path: string) => (await browser.request(path)).text()
/** What the settings' navigation marks: the link, and how. */
const marked = (page: string) => {
  const [, nav = ''] = /<nav aria-label="Settings"[^>]*>(.*?)<\/nav>/s.exec(page) ?? []
  return [...nav.matchAll(/href="([^"]+)" aria-current="(\w+)"/g)].map(([, href, how]) => [href, how])
}

test.each([
  ['/api_tokens', '/settings/developers#api_tokens'],
  ['/webhooks', '/settings/developers#webhooks'],
  ['/secrets', '/settings/developers#secrets'],
  ['/registries', '/settings/developers#registries'],
  ['/idle', '/settings/servers#idle'],
  ['/environments', '/settings/servers#environments'],
  ['/budget', '/settings/billing#budget'],
])('%s leads to its section on another page', async (before, now) => {
  const response = await browser.request(before)
  expect([response.status, response.headers.get('Location')]).toEqual([302, now])
  const [page = '', id] = now.split('#')
  expect(await html(page)).toContain(`id="${id}"`)
})

test.each([
  ['/account_overview', '/account_overview', 'page'],
  ['/account_security', '/account_overview', 'true'],
  ['/devices', '/account_overview', 'true'],
  ['/activity', '/account_overview', 'true'],
  ['/mails', '/account_overview', 'true'],
  ['/close_account', '/account_overview', 'true'],
  ['/settings/billing', '/settings/billing', 'page'],
  ['/settings/developers', '/settings/developers', 'page'],
  ['/settings/servers', '/settings/servers', 'page'],
])('on %s, the navigation marks %s as %s', async (path, link, how) => {
  expect(marked(await html(path))).toEqual([[link, how]])
})

test('no two fields of a page share an id', async () => {
  for (const path of ['/account_overview', '/settings/billing', '/settings/developers', '/settings/servers']) {
    const ids = [...(await html(path)).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    expect(ids.length, path).toBeGreaterThan(10)
    expect(new Set(ids).size, path).toBe(ids.length)
  }
})

test('a refused form is open with what was typed, and says so in its own section', async () => {
  await browser.open('/settings/developers')
  await browser.form('/secrets', { about: 'secrets', name: 'KEY', value: 'x', current_password: 'wrong' })
  const section = async (id: string, page: string) => page.split('<section').find((part) => part.includes(`id="${id}"`))
  const page = await html('/settings/developers')
  const secrets = await section('secrets', page)
  expect(secrets).toMatch(/<details class="fold" open="">/)
  expect(secrets).toContain('Your current password is incorrect.')
  const tokens = await section('api_tokens', page)
  expect(tokens).toMatch(/<details class="fold">/)
  expect(tokens).not.toContain('incorrect')
})

test('a saved setting stays in its field beside the message', async () => {
  await browser.open('/settings/servers')
  await browser.form('/api/v1/idle', { about: 'idle', minutes: '45' })
  expect(await html('/settings/servers')).toMatch(/Saved\..*value="45"/s)
  await browser.open('/settings/billing')
  await browser.form('/api/v1/billings/budget', { about: 'budget', dollars: '30' })
  expect(await html('/settings/billing')).toMatch(/value="30"/)
})
