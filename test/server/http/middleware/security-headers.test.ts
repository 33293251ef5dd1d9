import { Hono } from 'hono'
import { expect, test } from 'vitest'
import type { AppEnv } from '../../../../src/server/http/app-env.ts'
import { contentSecurityPolicy, securityHeaders } from '../../../../src/server/http/middleware/security-headers.ts'
import { openSite } from '../../../../testing/stack/site.ts'

const site = await openSite()

test('the policy allows no inline script, no inline style, nothing foreign', () => {
  const policy = contentSecurityPolicy(false)
  expect(policy).not.toMatch(/unsafe|\*|http:|https:|data:(?!;|$)/)
  for (const directive of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"])
    expect(policy).toContain(directive)
})

test.each(['/', '/sign_in', '/dashboard', '/api/v1/users/get_session', '/api/nothing', '/nothing'])(
  '%s carries every header',
  async (path) => {
    for (const { cookie } of [await site.signInAs('visitor'), await site.signInAs('user')]) {
      const { headers } = await site.request(path, { headers: { Cookie: cookie } })
      expect(headers.get('Strict-Transport-Security')).toMatch(/max-age=31536000/)
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
      expect(headers.get('Cross-Origin-Opener-Policy')).toBe('same-origin')
      expect(headers.get('Referrer-Policy')).toBe('same-origin')
      expect(headers.get('Content-Security-Policy')).toContain("script-src 'self'")
      if (cookie) expect(headers.get('Cache-Control')).toBe('private, no-store')
    }
  },
)

test('an answer made elsewhere gets every header and keeps its own', async () => {
  const app = new Hono<AppEnv>()
    .use(securityHeaders({ dev: false }))
    .get('/', () => new Response('made elsewhere', { headers: { 'Cache-Control': 'public, max-age=60' } }))
  const { headers } = await app.request('/')
  expect(headers.get('Content-Security-Policy')).toContain("script-src 'self'")
  expect(headers.get('X-Frame-Options')).toBe('DENY')
  expect(headers.get('Cache-Control')).toBe('public, max-age=60')
})

test("a form may lead only to the site, and to Stripe's checkout where plans are sold", async () => {
  const { cookie } = await site.signInAs('user')
  const formAction = async (path: string, forSale: string) => {
    const response = await (await openSite({ PLANS_FOR_SALE: forSale })).request(path, { headers: { Cookie: cookie } })
    return /form-action ([^;]*)/.exec(response.headers.get('Content-Security-Policy') ?? '')?.[1]
  }
  expect(await formAction('/subscriptions', 'true')).toBe("'self' https://checkout.stripe.com")
  expect(await formAction('/subscriptions', 'false')).toBe("'self'")
  for (const path of ['/', '/account_overview', '/billing_history', '/nothing'])
    expect(await formAction(path, 'true'), path).toBe("'self'")
})

test('a refusal carries them, and nothing from Host or forwarded headers appears in it', async () => {
  const headers = {
    Host: 'evil.example',
    'X-Forwarded-Host': 'evil.example',
    'X-Forwarded-Proto': 'https',
    Forwarded: 'host=evil.example',
  }
  for (const path of ['/', '/sign_in', '/confirm_email', '/nothing', '/dashboard']) {
    const response = await site.request(path, { headers })
    expect(response.headers.get('X-Frame-Options')).toBe('DENY')
    expect(await response.text()).not.toContain('evil.example')
    expect(JSON.stringify([...response.headers])).not.toContain('evil.example')
  }
})

test('refuses more than 64 KiB with 413, with or without a Content-Length', async () => {
  const own = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' }
  const big = `{"user":{"email":"${'a'.repeat(65_536)}"}}`
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(big))
      controller.close()
    },
  })
  const told = await site.request('/users', {
    method: 'POST',
    headers: { ...own, 'Content-Length': String(big.length) },
    body: big,
  })
  const untold = await site.request('/users', {
    method: 'POST',
    headers: own,
    body: stream,
    duplex: 'half',
  } as RequestInit)
  for (const response of [told, untold])
    expect([response.status, await response.json()]).toEqual([
      413,
      expect.objectContaining({ error: 'The request is larger than 64 KiB.' }),
    ])
})
