import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { users } from '../../db/schema/accounts.ts'
import { ownDatabase } from '../../testing/stack/own-database.ts'
import { openPage, openSite, SITE } from '../../testing/stack/site.ts'

/** Nothing personal reaches the log. */
const printed = (['log', 'info', 'warn', 'error'] as const).map((name) => vi.spyOn(console, name))
afterEach(() => expect(printed.flatMap(({ mock }) => mock.calls)).toEqual([]))

const healthy = await openSite({}, await ownDatabase())
const [ADDRESS, AGENT, NAME, PASSWORD] = ['203.0.113.77', 'canary-agent/1.0', 'Canary Pilot', 'canary and her password']
const EMAIL = 'canary@example.com'

type Fault = 'breaks off' | 'HTTP 500' | 'refuses'

/** A proxy to the database: it carries this many calls of a request and fails the rest. */
const line = { carries: Number.POSITIVE_INFINITY, fault: 'breaks off' as Fault }
const proxy = createServer(async (request, response) => {
  const body = await read(request)
  if (line.carries-- <= 0) {
    if (line.fault === 'breaks off') return response.destroy()
    response.writeHead(line.fault === 'HTTP 500' ? 500 : 400, { 'Content-Type': 'application/json' })
    return response.end(JSON.stringify({ message: 'The stream has expired', code: 'STREAM_EXPIRED' }))
  }
  const answer = await fetch(healthy.env.LIBSQL_URL + request.url, { method: request.method ?? 'POST', body })
  response.writeHead(answer.status, { 'Content-Type': answer.headers.get('Content-Type') ?? '' })
  response.end(Buffer.from(await answer.arrayBuffer()))
})
await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening))
afterAll(() => void proxy.close())

async function read(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts)
}

/** Calls the app through that proxy, as our own pages do. @returns the answer and the request's log lines */
async function call(method: string, path: string, body: unknown, cookie = '') {
  // A new site each time, because five an hour would soon run out.
  const site = await openSite({ LIBSQL_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` })
  const page = await openPage(healthy, cookie)
  const response = await site.request(path, {
    method,
    headers: {
      'Content-Type': 'application/json',
      Origin: SITE,
      'X-CSRF-Token': page.token,
      Cookie: page.cookie,
      'User-Agent': AGENT,
      'CF-Connecting-IP': ADDRESS,
    },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  })
  await site.settle()
  return { response, lines: site.takeLines() }
}

const account = {
  name: NAME,
  email: EMAIL,
  password: PASSWORD,
  password_confirmation: PASSWORD,
  terms_of_service: true,
}
expect((await call('POST', '/users', { user: account })).response.status).toBe(201)
await healthy.db.update(users).set({ confirmedAt: Date.now() }).where(eq(users.email, EMAIL))
const signIn = () => call('POST', '/users/sign_in', { user: { email: EMAIL, password: PASSWORD } })
const cookieOf = (response: Response) => /sign_in=[^;]+/.exec(response.headers.getSetCookie().join('; '))?.[0] ?? ''
const cookie = cookieOf((await signIn()).response)
expect(cookie).not.toBe('')

const calls: [string, () => ReturnType<typeof call>][] = [
  ['sign up', () => call('POST', '/users', { user: { ...account, email: `new-${EMAIL}` } })],
  ['sign in', signIn],
  ['ask for a link', () => call('POST', '/users/confirmation', { user: { email: EMAIL } })],
  ['ask for a new password', () => call('POST', '/users/password', { user: { email: EMAIL } })],
  ['confirm', () => call('GET', '/users/confirmation?confirmation_token=canary-token', null)],
  [
    'change the profile',
    () =>
      call(
        'PUT',
        '/users',
        {
          user: {
            ...account,
            current_password: PASSWORD,
            password: `x${PASSWORD}`,
            password_confirmation: `x${PASSWORD}`,
          },
        },
        cookie,
      ),
  ],
  [
    'write to sales',
    () => call('POST', '/api/v1/contact_sales', { name: NAME, email: EMAIL, source: 'Referral', message: 'canary' }),
  ],
  ['see the devices', () => call('GET', '/api/v1/users/sign_ins', null, cookie)],
  ['close the account', () => call('DELETE', '/users', { user: { current_password: PASSWORD } }, cookie)],
]

test.each(calls)(
  '%s: when the database fails, log lines hold nothing personal, and each names the request',
  async (_, act) => {
    for (const fault of ['breaks off', 'HTTP 500', 'refuses'] as const)
      for (let carries = 0; carries < 4; carries++) {
        Object.assign(line, { fault, carries })
        const { response, lines } = await act()
        // Each of these starts with a database call: if that fails, the request fails, and the log says why.
        if (carries === 0) expect([response.status >= 500, lines.length > 0], fault).toEqual([true, true])
        for (const { requestId } of lines) expect(requestId).toBe(response.headers.get('X-Request-Id'))
        const written = JSON.stringify(lines)
        expect(written).not.toMatch(/canary|scrypt\$|203\.0\.113/i)
        expect(written).not.toContain(cookie.slice('sign_in='.length))
      }
  },
)
