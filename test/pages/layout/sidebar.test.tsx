import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Sidebar } from '../../../src/pages/layout/Sidebar.tsx'

test.each([
  ['/dashboard', 'Dashboard', 'page'],
  ['/billing_history?month=2026-10', 'Billing', 'page'],
  ['/billing_history/bill_1', 'Billing', 'true'],
  ['/account_overview', 'Settings', 'page'],
  ['/devices', 'Settings', 'true'],
  ['/settings/developers', 'Settings', 'true'],
  ['/api_tokens', 'Settings', 'true'],
  ['/close_account', 'Settings', 'true'],
  ['/console', 'Console', 'page'],
  ['/admin/people', 'Console', 'true'],
  ['/pricing', null, null],
])('on %s, the current link is %s', (path, label, value) => {
  const html = renderToStaticMarkup(<Sidebar path={path} hasFiles isAdmin theme="dark" csrfToken={null} />)
  const current = [...html.matchAll(/aria-current="(\w+)".*?<\/svg>(\w+)/g)].map(([, how, text]) => [text, how])
  expect(current).toEqual(label ? [[label, value]] : [])
})

test('only admins see the console', () => {
  const html = renderToStaticMarkup(
    <Sidebar path="/dashboard" hasFiles isAdmin={false} theme="dark" csrfToken={null} />,
  )
  expect(html).toContain('/billing_history')
  expect(html).not.toContain('/console')
})
