import { expect, test } from 'vitest'
import { signIns } from '../../db/schema/accounts.ts'
import { accountApp, accountContext } from '../../testing/people/account-app.ts'
import { openAppBrowser } from '../../testing/people/app-browser.ts'
import { PASSWORD, signedInUser } from '../../testing/people/sign-up.ts'

const HOUR_MS = 3_600_000

type World = Awaited<ReturnType<typeof world>>

async function world() {
  const account = accountContext()
  const app = accountApp(account.ctx)
  const victim = openAppBrowser(app)
  const { email } = await signedInUser(victim, account)
  const stolen = victim.cookies.get('sign_in') as string
  const elsewhere = openAppBrowser(app)
  await elsewhere.open('/sign_in')
  await elsewhere.json('POST', '/users/sign_in', { user: { email, password: PASSWORD } })
  const replay = async () => {
    const thief = openAppBrowser(app)
    thief.cookies.set('sign_in', stolen)
    return (await thief.request('/api/v1/users/get_session')).status
  }
  return { ...account, account, app, victim, elsewhere, email, replay }
}

const newPassword = { name: 'A', current_password: PASSWORD, password: 'a new one', password_confirmation: 'a new one' }

test.each<[string, (w: World) => Promise<unknown>]>([
  ['signing out', (w) => w.victim.json('DELETE', '/users/sign_out')],
  [
    'signing in again in the same browser',
    (w) => w.victim.json('POST', '/users/sign_in', { user: { email: w.email, password: PASSWORD } }),
  ],
  ['signing out everywhere from elsewhere', (w) => w.elsewhere.json('DELETE', '/api/v1/users/sign_ins')],
  ['a new password from elsewhere', (w) => w.elsewhere.json('PUT', '/users', { user: newPassword })],
  ['a new password in that browser', (w) => w.victim.json('PUT', '/users', { user: newPassword })],
  [
    'closing the account from elsewhere',
    (w) => w.elsewhere.json('DELETE', '/users', { user: { current_password: PASSWORD } }),
  ],
  [
    'being signed out in the list of devices',
    async (w) => {
      const { sign_ins } = (await (await w.elsewhere.request('/api/v1/users/sign_ins')).json()) as {
        sign_ins: { id: string; current: boolean }[]
      }
      return w.elsewhere.json('DELETE', `/api/v1/users/sign_ins/${sign_ins.find((device) => !device.current)?.id}`)
    },
  ],
  [
    'a forgotten password',
    async (w) => {
      await w.victim.json('POST', '/users/password', { user: { email: w.email } })
      await w.settle()
      const token = /reset_password_token=([\w-]+)/.exec(w.sent.at(-1)?.text ?? '')?.[1]
      return w.elsewhere.json('PUT', '/users/password', {
        user: { reset_password_token: token, password: 'a new one', password_confirmation: 'a new one' },
      })
    },
  ],
  [
    '24 hours without use',
    async (w) => {
      w.clock.ms += 24 * HOUR_MS
    },
  ],
])('a cookie copied before %s is worthless afterwards', async (_, end) => {
  const w = await world()
  expect(await w.replay()).toBe(200)
  await end(w)
  await w.settle()
  expect(await w.replay()).toBe(401)
})

test('a new password signs nobody out in the browser that set it', async () => {
  const w = await world()
  const expiry = async () => (await w.ctx.db.select().from(signIns)).map((row) => row.expiresAt)
  const before = await expiry()
  w.clock.ms += HOUR_MS
  expect((await w.victim.json('PUT', '/users', { user: newPassword })).status).toBe(200)
  expect((await w.victim.request('/api/v1/users/get_session')).status).toBe(200)
  expect(await expiry()).toEqual(before)
})

test.each<[string, (w: World) => Promise<Response>]>([
  ['a new password', (w) => w.elsewhere.json('PUT', '/users', { user: newPassword })],
  ['closing the account', (w) => w.elsewhere.json('DELETE', '/users', { user: { current_password: PASSWORD } })],
])('%s ends a sign-in with the old password that is still in progress', async (_, end) => {
  const w = await world()
  const { counter } = w.ctx
  let ended: Response | undefined
  // Between the password check and the insert of the new row.
  w.ctx.counter = (name) => ({
    ...counter(name),
    async forgive() {
      w.ctx.counter = counter
      ended = await end(w)
    },
  })
  const thief = openAppBrowser(w.app)
  await thief.open('/sign_in')
  const late = await thief.json('POST', '/users/sign_in', { user: { email: w.email, password: PASSWORD } })
  expect(ended?.status).toBe(200)
  expect(late.status).toBe(401)
  expect((await thief.request('/api/v1/users/get_session')).status).toBe(401)
})

test('refuses a request that held back its body once its sign-in has ended', async () => {
  const w = await world()
  const bytes = new TextEncoder().encode(JSON.stringify({ user: { name: 'Thief' } }))
  // The body is sent only when read, and by then the owner has signed out everywhere.
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        expect((await w.elsewhere.json('DELETE', '/api/v1/users/sign_ins')).status).toBe(200)
        controller.enqueue(bytes)
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const held = await w.victim.request('/users', {
    method: 'PUT',
    headers: {
      'Sec-Fetch-Site': 'same-origin',
      'X-CSRF-Token': w.victim.token(),
      'Content-Type': 'application/json',
      'Content-Length': String(bytes.length),
    },
    body,
    duplex: 'half',
  } as RequestInit)
  expect(held.status).toBe(401)
})

test('each sign-in gets a new id, so a planted one does not survive', async () => {
  const w = await world()
  const before = w.victim.cookies.get('sign_in')
  await w.victim.json('POST', '/users/sign_in', { user: { email: w.email, password: PASSWORD } })
  expect(w.victim.cookies.get('sign_in')).not.toBe(before)
})
