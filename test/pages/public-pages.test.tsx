import { gzipSync } from 'node:zlib'
import type { ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { CONTACT_RECEIVED } from '../../src/domain/contact.ts'
import { ContactSales } from '../../src/pages/ContactSales.tsx'
import { Help } from '../../src/pages/Help.tsx'
import { Landing } from '../../src/pages/Landing.tsx'
import { Layout } from '../../src/pages/Layout.tsx'
import { NotFound } from '../../src/pages/NotFound.tsx'
import { Pricing } from '../../src/pages/Pricing.tsx'
import { Privacy } from '../../src/pages/Privacy.tsx'
import { Security } from '../../src/pages/Security.tsx'
import { Terms } from '../../src/pages/Terms.tsx'

const PAGES: [path: string, body: ReactNode][] = [
  ['/', <Landing key="landing" />],
  ['/pricing', <Pricing key="pricing" filesStay />],
  ['/contact_sales', <ContactSales key="contact" csrfToken="token" success={CONTACT_RECEIVED} />],
  ['/help', <Help key="help" csrfToken="token" user={null} />],
  ['/privacy', <Privacy key="privacy" hasFiles />],
  [
    '/security',
    <Security key="security" contact="mailto:a@example.com" restoreRehearsed={null} hasPayments filesAt={null} />,
  ],
  ['/terms_of_service', <Terms key="terms" hasFiles />],
  ['/nowhere', <NotFound key="nowhere" path="/<nowhere>" signedIn={false} back={null} />],
]

const render = (path: string, body: ReactNode) =>
  renderToString(
    <Layout
      user={null}
      path={path}
      title="A page"
      origin="https://example.test"
      csrfToken="token"
      theme={null}
      assets={{ styles: ['/app.css'], scripts: ['/public.js'] }}
      hasFiles
    >
      {body}
    </Layout>,
  )

test.each(PAGES)('%s needs nothing that the content security policy forbids', (path, body) => {
  const html = render(path, body)
  expect(html).not.toMatch(/\sstyle="|\son[a-z]+="|javascript:/)
  for (const [script] of html.matchAll(/<script[^>]*>/g)) expect(script).toMatch(/src=|type="application\/json"/)
})

test.each(PAGES)('%s uses each id once, and labels point at ids that exist', (path, body) => {
  const html = render(path, body)
  const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)
  expect(ids).toEqual([...new Set(ids)])
  for (const [, names] of html.matchAll(/\s(?:for|aria-labelledby|aria-describedby|popoverTarget)="([^"]+)"/gi)) {
    for (const name of names?.split(' ') ?? []) expect(ids).toContain(name)
  }
})

test.each(PAGES)('%s leaves room for the style sheet in 14 KB', (path, body) => {
  expect(gzipSync(render(path, body), { level: 9 }).length).toBeLessThan(7_500)
})

test('the bar links to pricing and the documentation, and marks the current page', () => {
  const linksAt = (path: string) => {
    const bar = /<nav class="site".*?<\/nav>/.exec(render(path, null))?.[0] ?? ''
    return [...bar.matchAll(/<a href="([^"]+)"(?: aria-current="(\w+)")?/g)].map(([, ...link]) => link)
  }
  const linked = (docs?: string) => [
    ['/pricing', undefined],
    ['/docs', docs],
    ['/sign_in', undefined],
  ]
  expect(linksAt('/docs')).toEqual(linked('page'))
  expect(linksAt('/docs/api')).toEqual(linked('true'))
  expect(linksAt('/docsuche')).toEqual(linked())
})

test('every button on the pricing page leads to contact sales', () => {
  const html = render('/pricing', <Pricing filesStay />)
  const buttons = [...html.matchAll(/<a href="([^"]+)" class="btn[^>]*>/g)].map(([, href]) => href)
  expect(buttons).toEqual(['/contact_sales', '/contact_sales', '/contact_sales'])
  for (const figure of ['$25', '$250', '5 hours', '30 hours', '$1.75/h', '$0.0004861', 'Most Popular', '15 days'])
    expect(html.replaceAll('<!-- -->', '')).toContain(figure)
})

test('the contact form returns with what was typed and what is wrong', () => {
  const html = renderToString(
    <ContactSales csrfToken="token" values={{ name: 'Ada <3' }} errors={{ email: 'Email is required' }} />,
  )
  expect(html).toContain('value="Ada &lt;3"')
  expect(html).toMatch(/id="email"[^>]*aria-invalid="true" aria-describedby="email-error"/)
  expect(html).toContain('Email is required')
})

test('the not-found page shows its path as text', () => {
  const html = renderToString(<NotFound path="/<b>" signedIn back="/pricing" />)
  expect(html).toContain('Oops—page not found')
  expect(html).toContain('<code>/&lt;b&gt;</code>')
  expect(html).toContain('href="/pricing"')
  expect(html).toContain('Dashboard')
  expect(html).not.toContain('Sign In')
})
