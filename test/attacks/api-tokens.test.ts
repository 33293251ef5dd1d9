import { eq } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { apiTokens, users } from '../../db/schema/accounts.ts'
import type { ApiToken } from '../../src/domain/wire/accounts.ts'
import { openAccount, PASSWORD, signedInUser } from '../../testing/people/sign-up.ts'
import { change, openSite, SITE } from '../../testing/stack/site.ts'

const site = await openSite()
const WHO = '/api/v1/users/get_session'
const START = '/api/v1/aws/auto_cloud_start_request'
const CI = { name: 'CI', scope: 'operate', days: 30, current_password: PASSWORD }

const who = async (headers: Record<string, string>) => (await site.request(WHO, { headers })).status

test('a token works without a cookie, an origin, or a CSRF token, and only as itself', async () => {
  const [ada, eve] = [await site.signInAs('user'), await site.signInAs('user')]
  const { headers } = await site.tokenOf(ada.userId, 'read')
  for (const Cookie of ['', eve.cookie, 'sign_in=forged']) {
    const response = await site.request(WHO, { headers: { ...headers, Cookie, Origin: 'https://evil.example' } })
    expect(((await response.json()) as { Body: { id: string } }).Body.id).toBe(ada.userId)
    expect(response.headers.getSetCookie()).toEqual([])
    expect(response.headers.get('X-CSRF-Token')).toBeNull()
  }
})

test('a cookie never helps an invalid token, nor gets past the origin check', async () => {
  const { cookie } = await site.signInAs('user')
  for (const Authorization of ['Bearer', 'Bearer ', 'Bearer x', 'bearer x', 'BEARER  x', `Bearer ${'\t'}x`]) {
    expect(await who({ Authorization, Cookie: cookie }), Authorization).toBe(401)
    const post = await site.request('/users/sign_out', { method: 'DELETE', headers: { Authorization, Cookie: cookie } })
    expect(post.status, Authorization).toBe(401)
  }
  expect(await who({ Cookie: cookie })).toBe(200)
})

test('refuses tokens that are forged, revoked, or expired, or whose account is closed or unconfirmed', async () => {
  const { userId } = await site.signInAs('user')
  const live = await site.tokenOf(userId, 'read')
  expect(await who(live.headers)).toBe(200)
  const unknown = await site.tokenOf(userId, 'read')
  await site.db.delete(apiTokens).where(eq(apiTokens.id, unknown.id))
  const dead = [
    { headers: { Authorization: `Bearer ${live.token.slice(0, -1)}` } },
    { headers: { Authorization: `Bearer ${live.token.toLowerCase()}` } },
    { headers: { Authorization: `Bearer ${live.id}` } },
    unknown,
    await site.tokenOf(userId, 'read', { revokedAt: Date.now() }),
    await site.tokenOf(userId, 'read', { expiresAt: Date.now() }),
    await site.tokenOf((await site.signInAs('unconfirmed')).userId, 'read'),
  ]
  for (const { headers } of dead) {
    const response = await site.request(WHO, { headers })
    expect(response.status).toBe(401)
    expect(response.headers.get('WWW-Authenticate')).toBe('Bearer error="invalid_token"')
  }
  await site.db.update(users).set({ closedAt: Date.now() }).where(eq(users.id, userId))
  expect(await who(live.headers)).toBe(401)
})

test('a token that may only read starts nothing, and says what it lacks', async () => {
  const { userId } = await site.signInAs('user')
  const { headers } = await site.tokenOf(userId, 'read')
  const response = await site.request(START, { method: 'POST', headers })
  expect([response.status, response.headers.get('WWW-Authenticate')]).toEqual([
    403,
    'Bearer error="insufficient_scope", scope="operate"',
  ])
})

test('an admin’s token has no admin rights, and even public pages and forms refuse it', async () => {
  const admin = await site.signInAs('admin')
  const { headers } = await site.tokenOf(admin.userId, 'operate')
  const json = { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: '{}' }
  for (const [path, init] of [
    ['/api/v1/instances', { headers }],
    ['/console', { headers }],
    ['/', { headers }],
    ['/api_tokens', { headers }],
    ['/api_tokens', json],
    ['/users/sign_in', json],
    ['/api/v1/subscriptions/create_checkout_session', json],
  ] as const) {
    const response = await site.request(path, init)
    expect([response.status, response.headers.get('Content-Type')], path).toEqual([403, 'application/json'])
  }
  // Cached for visitors: a token must not get it, even if a visitor came first.
  expect((await site.request('/pricing')).status).toBe(200)
  expect((await site.request('/pricing', { headers })).status).toBe(403)
})

test('a program sends JSON or nothing', async () => {
  const { userId } = await site.signInAs('user')
  await site.giveEndedTrial(userId)
  const { headers } = await site.tokenOf(userId, 'operate')
  const send = async (type: string) =>
    (await site.request(START, { method: 'POST', headers: { ...headers, 'Content-Type': type }, body: '{}' })).status
  for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x'])
    expect(await send(type), type).toBe(400)
  expect(await send('application/json')).toBe(503)
})

test('nobody else can revoke a token, or tell whether it exists', async () => {
  const [ada, eve] = [await site.signInAs('user'), await site.signInAs('user')]
  const { id, headers } = await site.tokenOf(ada.userId, 'read')
  const answers = []
  for (const other of [id, 'tok_nobody']) {
    const response = await change(site, 'DELETE', `/api_tokens/${other}`, eve.cookie)
    answers.push([response.status, await response.json()])
  }
  expect(answers[0]).toEqual(answers[1])
  expect(answers[0]?.[0]).toBe(404)
  expect(await who(headers)).toBe(200)
  expect((await change(site, 'DELETE', `/api_tokens/${id}`, ada.cookie)).status).toBe(200)
  expect(await who(headers)).toBe(401)
})

test('limits each token on its own and tells it how much is left', async () => {
  const { userId } = await site.signInAs('user')
  const [busy, idle] = [await site.tokenOf(userId, 'read'), await site.tokenOf(userId, 'read')]
  const first = await site.request(WHO, { headers: busy.headers })
  expect(first.headers.get('RateLimit-Policy')).toBe('"token";q=300;w=60')
  expect(first.headers.get('RateLimit')).toBe('"token";r=299;t=1')
  let response = first
  for (let i = 0; i < 500 && response.status === 200; i++) response = await site.request(WHO, { headers: busy.headers })
  expect(response.status).toBe(429)
  expect(response.headers.get('RateLimit')).toMatch(/^"token";r=0;t=\d+$/)
  expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0)
  expect((await site.request(WHO, { headers: idle.headers })).headers.get('RateLimit')).toBe('"token";r=299;t=1')
})

describe('over the wire', () => {
  async function world() {
    const account = openAccount()
    const { app, browser } = account
    const { email, id } = await signedInUser(browser, account)
    const made = await browser.json('POST', '/api_tokens', CI)
    expect(made.status).toBe(201)
    const token = (await made.json()) as ApiToken & { token: string }
    const headers = { Authorization: `Bearer ${token.token}`, 'CF-Connecting-IP': '203.0.113.9' }
    const use = async () => (await app.request(WHO, { headers })).status
    await account.settle()
    return { ...account, email, userId: id, token, use }
  }
  type World = Awaited<ReturnType<typeof world>>
  const anew = { password: 'a new one', password_confirmation: 'a new one' }
  const endings: [string, (w: World) => Promise<Response>][] = [
    ['revoking it', (w) => w.browser.json('DELETE', `/api_tokens/${w.token.id}`)],
    [
      'a new password',
      (w) => w.browser.json('PUT', '/users', { user: { name: 'A', current_password: PASSWORD, ...anew } }),
    ],
    [
      'a forgotten password',
      async (w) => {
        await w.browser.json('POST', '/users/password', { user: { email: w.email } })
        await w.settle()
        const token = /reset_password_token=([\w-]+)/.exec(w.sent.at(-1)?.text ?? '')?.[1]
        return w.browser.json('PUT', '/users/password', { user: { reset_password_token: token, ...anew } })
      },
    ],
    ['closing the account', (w) => w.browser.json('DELETE', '/users', { user: { current_password: PASSWORD } })],
  ]

  test.each(endings)('%s ends a token and its sockets', async (_, end) => {
    const w = await world()
    expect(await w.use()).toBe(200)
    expect((await end(w)).status).toBe(200)
    await w.settle()
    expect(await w.use()).toBe(401)
    expect(w.disconnected.some((one) => one === 'all' || one === w.token.id)).toBe(true)
  })

  test('signing out everywhere leaves tokens and their sockets', async () => {
    const w = await world()
    expect((await w.browser.json('DELETE', '/api/v1/users/sign_ins')).status).toBe(200)
    await w.settle()
    expect(await w.use()).toBe(200)
    expect(w.disconnected).not.toContain('all')
    expect(w.disconnected).not.toContain(w.token.id)
  })

  test.each(endings.slice(1))(
    '%s leaves no token that someone creates meanwhile with the old password',
    async (_, end) => {
      const w = await world()
      const { counter } = w.ctx
      let ended: Response | undefined
      // Between the password check and the insert of the new token.
      w.ctx.counter = (name) => ({
        ...counter(name),
        async forgive() {
          w.ctx.counter = counter
          ended = await end(w)
        },
      })
      const late = await w.browser.json('POST', '/api_tokens', { ...CI, name: 'late' })
      expect(ended?.status).toBe(200)
      expect(late.status).toBe(422)
      expect(await w.ctx.db.$count(apiTokens, eq(apiTokens.name, 'late'))).toBe(0)
    },
  )

  test('only someone who knows the password creates a token; guesses count, and the owner gets an email', async () => {
    const w = await world()
    const mail = w.sent.find(({ subject }) => subject === 'You have a new API token')
    expect(mail).toMatchObject({ to: w.email })
    expect(mail?.text).not.toContain(w.token.token)
    expect(mail?.text).not.toContain('CI')
    const statuses = []
    for (let i = 0; i < 6; i++)
      statuses.push(
        (await w.browser.json('POST', '/api_tokens', { ...CI, name: 'x', current_password: `${i}` })).status,
      )
    expect(statuses).toEqual([422, 422, 422, 422, 422, 429])
    expect(await w.ctx.db.$count(apiTokens, eq(apiTokens.userId, w.userId))).toBe(1)
  })

  test('the database has no token, and no page shows one again', async () => {
    const w = await world()
    const rows = await w.ctx.db.select().from(apiTokens).where(eq(apiTokens.userId, w.userId))
    expect(JSON.stringify(rows)).not.toContain(w.token.token.slice(3, 20))
    for (const path of ['/settings/developers', '/api/v1/users/export']) {
      const text = await (await w.browser.request(path)).text()
      expect(text, path).toContain(w.token.id)
      expect(text, path).not.toContain(w.token.token.slice(3, 20))
      expect(text, path).not.toContain(rows[0]?.hash)
    }
  })
})

test('no answer to a token opens the site to another origin', async () => {
  const { userId } = await site.signInAs('user')
  const { headers } = await site.tokenOf(userId, 'read')
  const response = await site.request(WHO, { headers: { ...headers, Origin: SITE } })
  expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
})
