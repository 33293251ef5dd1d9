import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { app, routes as table } from '../../../src/server/app.ts'
import { checkAccess } from '../../../src/server/http/access.ts'
import type { AppEnv } from '../../../src/server/http/app-env.ts'
import { errorResponse } from '../../../src/server/http/error-response.ts'
import { requestId } from '../../../src/server/http/middleware/request-id.ts'
import { recordLog } from '../../../testing/stack/recorded-log.ts'
import { change, openSite, type Role } from '../../../testing/stack/site.ts'
import { MATRIX, type Outcome, type Program } from './access-matrix.ts'

const ROLES: Role[] = ['visitor', 'unconfirmed', 'user', 'suspended', 'admin']
/** Programs of an admin, whose rights no token has. */
const PROGRAMS: Program[] = ['read', 'operate']
const routes = [...new Set(app.routes.filter((r) => r.method !== 'ALL').map((r) => `${r.method} ${r.path}`))]
const site = await openSite()

/** A new person of each role, and programs of another admin. */
async function everybody() {
  const signIns = {} as Record<Role, { cookie: string }>
  for (const role of ROLES) signIns[role] = await site.signInAs(role)
  const { userId } = await site.signInAs('admin')
  const tokens = {} as Record<Program, { headers: Record<string, string> }>
  for (const scope of PROGRAMS) tokens[scope] = await site.tokenOf(userId, scope)
  return { signIns, tokens }
}
let people = await everybody()
/** They end the sign-in or the account that makes them. */
const ENDS = /^(PUT|DELETE) .users$|sign_out|^DELETE .*(sign_ins|api_token$)/

test.each(routes)('%s admits exactly those the matrix names', async (route) => {
  const expected = MATRIX[route]
  expect(expected, `${route} is not in the matrix`).toBeDefined()
  const [method = '', pattern = ''] = route.split(' ')
  const seen: Partial<Record<Role | Program, Outcome>> = {}
  for (const role of ROLES) {
    const { cookie } = people.signIns[role]
    const path = pattern.replace(':id', 'in_nobody')
    const response =
      method === 'GET'
        ? await site.request(path, { headers: { Cookie: cookie } })
        : await change(site, method, path, cookie)
    seen[role] = outcomeOf(response, route)
  }
  for (const scope of PROGRAMS) {
    const { headers } = people.tokens[scope]
    const body = method === 'GET' ? {} : { body: '{}', headers: { ...headers, 'Content-Type': 'application/json' } }
    const response = await site.request(pattern.replace(':id', 'in_nobody'), { method, headers, ...body })
    expect(response.headers.getSetCookie(), scope).toEqual([])
    seen[scope] = outcomeOf(response)
  }
  expect(seen).toEqual(expected)
  if (ENDS.test(route)) people = await everybody()
})

test('the table lists every route, and only those', () => {
  expect(Object.keys(table.facts).sort()).toEqual([...routes].sort())
})

test('answers HEAD like GET, even when access is denied', async () => {
  const { cookie } = await site.signInAs('user')
  for (const Cookie of ['', cookie])
    for (const path of ['/dashboard', '/console', '/sign_in', '/api/v1/instances']) {
      const [get, head] = await Promise.all(
        ['GET', 'HEAD'].map((method) => site.request(path, { method, headers: { Cookie } })),
      )
      expect([head?.status, head?.headers.get('Location')], path).toEqual([get?.status, get?.headers.get('Location')])
    }
})

/** Their input may be refused, no matter who sends it. */
const CREDENTIALS_INSIDE = [
  'POST /users/sign_in',
  'POST /users/sign_in/second_factor',
  'POST /users/sign_in/passkey',
  'POST /webhooks/stripe',
  'POST /machines/key',
]

function outcomeOf({ status, headers }: Response, route = ''): Outcome {
  if ((status === 401 || status === 403) && !CREDENTIALS_INSIDE.includes(route)) return status
  const location = headers.get('Location')
  return status === 302 && (location === '/sign_in' || location === '/dashboard') ? location : 'in'
}

test('refuses a route that is in no table, to everyone', async () => {
  const { log, takeLines } = recordLog()
  const small = new Hono<AppEnv>()
    .use(requestId(log))
    .use(async (c, next) => {
      c.set('routes', table)
      c.set('signIn', {
        id: 'in_1',
        scope: null,
        tokenName: null,
        hasFactor: false,
        hasPasskey: false,
        suspended: false,
        held: false,
        passwordAt: 0,
        bell: { unread: 0, ending: null },
        planUnpaid: false,
        overdue: null,
        expiresAt: 0,
        user: { id: 'u', name: 'n', email: 'e', admin: true },
      })
      await next()
    })
    .use(checkAccess)
    .get('/forgotten', (c) => c.text('secret'))
  small.onError((error, c) => errorResponse(error, c))
  const response = await small.request('/forgotten')
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('secret')
  expect(takeLines()).toMatchObject([{ event: 'request_failed', path: '/forgotten' }])
})
