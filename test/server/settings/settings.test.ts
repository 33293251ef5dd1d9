import { expect, test, vi } from 'vitest'
import { createContext } from '../../../src/server/runtime/create-context.ts'
import type { Env } from '../../../src/server/settings/env.ts'
import { recordLog } from '../../../testing/stack/recorded-log.ts'
import { openSite } from '../../../testing/stack/site.ts'

const { log } = recordLog()
const SENTENCE = "This site isn't set up correctly. The operator can find the reason in the log."

const MALFORMED: [keyof Env, string][] = [
  ['SITE_ORIGINS', ''],
  ['SITE_ORIGINS', ' , '],
  ['SITE_ORIGINS', 'example.com'],
  ['SITE_ORIGINS', 'https://example.com/site'],
  ['SITE_ORIGINS', 'https://example.com ftp://example.com'],
  ['SITE_ORIGINS', 'https://example.com,javascript:alert(1)'],
  ['SECRET_KEY', 'too-short-canary'],
  ['SECRET_KEY', 'a-secret-of-thirty-two-characters-or-more,'],
  ['PASSWORD_PEPPER', ' '],
  ['PASSWORD_PEPPER', 'canary, canary'],
  ['PASSWORD_PEPPER', 'canary,'],
  ['LIBSQL_URL', 'file:canary.db'],
  ['LIBSQL_URL', 'canary.turso.io'],
  ['LIBSQL_URL', 'wss://canary.turso.io'],
  ['LIBSQL_AUTH_TOKEN', 'canary\n'],
  ['AWS_REGION', 'us-east-1a-canary'],
  ['AWS_ACCESS_KEY_ID', 'canary\n'],
  ['AWS_SECRET_ACCESS_KEY', 'can ary'],
  ['AWS_ACCOUNT_ID', '12345678901'],
  ['AWS_IDENTITY_CERTIFICATE', 'canary'],
  ['EC2_LAUNCH_TEMPLATE', ''],
  ['EC2_ENDPOINT', 'canary'],
  ['STRIPE_SECRET_KEY', 'pk_live_canary'],
  ['STRIPE_WEBHOOK_SECRET', 'we_canary'],
  ['STRIPE_WEBHOOK_SECRET', 'whsec_canary,we_canary'],
  ['STRIPE_API_BASE', 'canary'],
  ['STRIPE_CHECKOUT_ORIGIN', 'https://canary.example/pay'],
  ['PLANS_FOR_SALE', 'yes'],
  ['SELLER_NAME', 'canary\n'],
  ['SELLER_ADDRESS', 'canary\nroad'],
  ['SELLER_TAX_ID', ' canary'],
  ['ADMIN_FACTOR', 'canary'],
  ['DOOR_ONLY', 'canary'],
  ['MAIL_FROM', 'Canary'],
  ['MAIL_FROM', 'Canary <canary>'],
  ['OPERATOR_EMAIL', 'Op <canary@example.com>'],
  ['SECURITY_CONTACT', 'canary'],
  ['SECURITY_CONTACT', 'http://canary.example'],
  ['RESTORE_REHEARSED', 'canary'],
  ['RESTORE_REHEARSED', '2026-02-30'],
  ['METRICS_TOKEN', 'canary'],
  ['METRICS_TOKEN', 'a-token-of-thirty-two-characters-or-more,canary'],
  ['VERSION', 'can ary'],
]
const OPTIONAL = new Set([
  'LIBSQL_AUTH_TOKEN',
  'EC2_LAUNCH_TEMPLATE',
  'EC2_ENDPOINT',
  'STRIPE_API_BASE',
  'STRIPE_CHECKOUT_ORIGIN',
  'PLANS_FOR_SALE',
  'SELLER_NAME',
  'SELLER_ADDRESS',
  'SELLER_TAX_ID',
  'ADMIN_FACTOR',
  'DOOR_ONLY',
  'SECURITY_CONTACT',
  'RESTORE_REHEARSED',
  'METRICS_TOKEN',
  'VERSION',
])
const NEEDED = [...new Set(MALFORMED.map(([name]) => name))].filter((name) => !OPTIONAL.has(name))

test('asks admins for a second factor everywhere but on its own machine, where it may', async () => {
  const asks = async (vars: Partial<Env>) =>
    (await createContext({ ...(await openSite()).env, ...vars } as Env, () => {}, log)).config.adminFactor
  const deployed = { SITE_ORIGINS: 'https://example.com' }
  expect(await asks({})).toBe(false)
  expect(await asks({ ADMIN_FACTOR: 'off' })).toBe(false)
  expect(await asks({ ADMIN_FACTOR: 'on' })).toBe(true)
  expect(await asks(deployed)).toBe(true)
  await expect(asks({ ...deployed, ADMIN_FACTOR: 'off' })).rejects.toThrow(SENTENCE)
})

test('needs no Stripe until plans are for sale', async () => {
  const without = { STRIPE_SECRET_KEY: undefined, STRIPE_WEBHOOK_SECRET: undefined } as unknown as Partial<Env>
  const free = await openSite({ ...without, PLANS_FOR_SALE: 'false' })
  expect((await free.request('/healthz')).status).toBe(200)
  const event = await free.request('/webhooks/stripe', { method: 'POST', body: '{}' })
  expect(event.status).toBe(400)
  const selling = await openSite({ ...without, PLANS_FOR_SALE: 'true' })
  expect((await selling.request('/healthz')).status).toBe(503)
  expect(selling.takeLines()).toMatchObject([
    { event: 'settings_wrong', message: 'STRIPE_SECRET_KEY is missing. STRIPE_WEBHOOK_SECRET is missing.' },
  ])
})

test.each([...MALFORMED, ...NEEDED.map((name) => [name, undefined] as const)])(
  '%s = %j is reported by the first request, trigger, or object, by name only',
  async (name, value) => {
    const { env, request, takeLines } = await openSite({ [name]: value } as Partial<Env>)
    for (const path of ['/', '/dashboard', '/api/v1/users/get_session']) {
      const response = await request(path)
      const requestId = response.headers.get('X-Request-Id')
      expect(response.status).toBe(503)
      expect(await response.json()).toMatchObject({ error: SENTENCE, errors: [SENTENCE] })
      const message = expect.stringMatching(
        new RegExp(`^${name} ${value === undefined ? 'is missing' : 'must .*'}\\.$`),
      )
      const lines = takeLines()
      expect(lines).toEqual([{ event: 'settings_wrong', requestId, message }])
      expect(JSON.stringify(lines).toLowerCase()).not.toContain('canary')
    }
    // How triggers and objects begin.
    const own = recordLog()
    await expect(createContext(env, () => {}, own.log)).rejects.toThrow(SENTENCE)
    expect(own.takeLines()).toMatchObject([{ event: 'settings_wrong' }])
  },
)

test('reports everything that is wrong at once', async () => {
  const { request, takeLines } = await openSite({ MAIL_FROM: undefined, AWS_REGION: 'moon' } as unknown as Partial<Env>)
  await request('/')
  const message = 'AWS_REGION must be a region like us-east-1. MAIL_FROM is missing.'
  expect(takeLines()).toMatchObject([{ event: 'settings_wrong', message }])
})

test('reads origins the way browsers write them', async () => {
  const { env, request } = await openSite({ SITE_ORIGINS: ' HTTPS://Example.COM:443/ ,, http://localhost:8787/\n' })
  const { config } = await createContext(env, () => {}, log)
  expect(config.origins).toEqual(['https://example.com', 'http://localhost:8787'])
  for (const [origin, status] of [
    ['https://example.com', 422],
    ['http://localhost:8787', 422],
    ['https://example.com.evil.example', 403],
  ] as const) {
    const headers = { Origin: origin, 'Content-Type': 'application/json' }
    const body = JSON.stringify({ user: { email: 'nobody' } })
    expect((await request('/users/confirmation', { method: 'POST', headers, body })).status, origin).toBe(status)
  }
})

test('reads the settings once, not on every request', async () => {
  const { env } = await openSite()
  await createContext(env, () => {}, log)
  const read = vi.fn()
  const watched = new Proxy(env, {
    get: (target, name) => {
      if (name === 'SECRET_KEY') read()
      return Reflect.get(target, name)
    },
  })
  await createContext(watched, () => {}, log)
  const first = read.mock.calls.length
  await createContext(watched, () => {}, log)
  expect(first).toBeGreaterThan(0)
  expect(read.mock.calls.length).toBe(first)
})

test('machines get files only where nobody reaches them but through the door, as on this machine', async () => {
  const onlyAt = async (env: Partial<Env>) => {
    const { env: own } = await openSite()
    return (await createContext({ ...own, ...env } as Env, () => {}, log)).config.doorOnly
  }
  const deployed = {
    SITE_ORIGINS: 'https://example.com',
    DOOR_DOMAIN: 'door.example',
    FLEET: {} as NonNullable<Env['FLEET']>,
  }
  expect(await onlyAt({ SITE_ORIGINS: 'http://localhost:8787' })).toBe(true)
  expect(await onlyAt(deployed)).toBe(false)
  expect(await onlyAt({ ...deployed, DOOR_ONLY: 'false' })).toBe(false)
  expect(await onlyAt({ ...deployed, DOOR_ONLY: 'true' })).toBe(true)
  const { DOOR_DOMAIN: _, ...doorless } = deployed
  await expect(onlyAt({ ...doorless, DOOR_ONLY: 'true' })).rejects.toThrow(SENTENCE)
})
