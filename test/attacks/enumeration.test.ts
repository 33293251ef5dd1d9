import { beforeEach, expect, test, vi } from 'vitest'
import { accountApp, accountContext } from '../../testing/people/account-app.ts'
import { openAppBrowser } from '../../testing/people/app-browser.ts'
import { newAddress, PASSWORD, signedInUser, signUpFields, signUpIn } from '../../testing/people/sign-up.ts'

const work = vi.hoisted(() => ({ hashes: 0, queries: [] as string[] }))
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>()
  const scrypt = (...args: Parameters<typeof crypto.scrypt>) => {
    work.hashes++
    return crypto.scrypt(...args)
  }
  return { ...crypto, scrypt, default: { ...crypto, scrypt } }
})

const account = accountContext()
const app = accountApp(account.ctx)
const { ctx, settle } = account
const client = ctx.db.$client
for (const name of ['execute', 'batch'] as const) {
  const original = client[name].bind(client) as (...args: unknown[]) => Promise<unknown>
  ;(client[name] as unknown) = (...args: unknown[]) => {
    const statements = (Array.isArray(args[0]) ? args[0] : [args[0]]) as ({ sql: string } | string)[]
    work.queries.push(...statements.map((s) => `${name}: ${typeof s === 'string' ? s : s.sql}`))
    return original(...args)
  }
}

beforeEach(async () => {
  account.clock.ms += 24 * 3_600_000
})

/** Everything a stranger sees of a call, and all the work it causes. */
async function look(method: string, path: string, body: unknown) {
  const browser = openAppBrowser(app)
  await browser.open('/sign_in')
  await settle()
  work.hashes = 0
  work.queries = []
  const response = await browser.json(method, path, body)
  const seen = { status: response.status, body: await response.text(), headers: headerShape(response.headers) }
  const done = { hashes: work.hashes, queries: [...work.queries] }
  await settle()
  return { seen, done }
}

/** All headers, with the values of those that do not vary at random. */
function headerShape(headers: Headers): [string, string][] {
  const random = new Set(['x-request-id', 'x-csrf-token'])
  return [...headers].map(([name, value]) => [name, random.has(name) ? `${value.length}` : value])
}

async function addresses() {
  const confirmed = (await signedInUser(openAppBrowser(app), account)).email
  const waiting = newAddress()
  await signUpIn(openAppBrowser(app), account, waiting)
  account.clock.ms += 3_600_000
  return { confirmed, waiting, nobody: newAddress() }
}

test.each([
  ['sign up', 'POST', '/users', (email: string) => ({ user: signUpFields(email) })],
  ['a new confirmation link', 'POST', '/users/confirmation', (email: string) => ({ user: { email } })],
  ['a forgotten password', 'POST', '/users/password', (email: string) => ({ user: { email } })],
  [
    'sign in with a wrong password',
    'POST',
    '/users/sign_in',
    (email: string) => ({ user: { email, password: 'wrong' } }),
  ],
])('%s: does not reveal whether an address has an account', async (_, method, path, body) => {
  const { confirmed, waiting, nobody } = await addresses()
  const strange = await look(method, path, body(nobody))
  for (const email of [confirmed, waiting]) {
    const known = await look(method, path, body(email))
    expect(known.seen).toEqual(strange.seen)
    expect(known.done).toEqual(strange.done)
  }
})

test('every sign-in costs exactly one hash, whatever the account’s state', async () => {
  const { confirmed, waiting, nobody } = await addresses()
  for (const [email, password, status] of [
    [confirmed, PASSWORD, 200],
    [confirmed, 'wrong', 401],
    [waiting, PASSWORD, 403],
    [waiting, 'wrong', 401],
    [nobody, PASSWORD, 401],
  ] as const) {
    const { seen, done } = await look('POST', '/users/sign_in', { user: { email, password } })
    expect([seen.status, done.hashes]).toEqual([status, 1])
  }
})
