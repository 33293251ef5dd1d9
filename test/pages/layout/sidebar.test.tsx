import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Sidebar } from '../../../src/pages/layout/Sidebar.tsx'

test.each([
  ['/dashboard', 'Dashboard', 'page'],
  ['/billing_history?month=2026-10', 'Billing', 'page'],
  ['/billing_history/bill_1', 'Billing', 'true'],
  ['/account_overview', 'Settings', 'page'],
  ['/devices', 'Settings', 'true'],
  ['/close_account', 'Settings', 'true'],
  ['/console', null, null],
])('on %s, the current link is %s', (path, label, value) => {
  const html = renderToStaticMarkup(<Sidebar path={path} hasFiles theme="dark" csrfToken={null} />)
  const current = [...html.matchAll(/aria-current="(\w+)".*?<\/svg>(\w+)/g)].map(([, how, text]) => [text, how])
  expect(current).toEqual(label ? [[label, value]] : [])
})
