import { expect, test, vi } from 'vitest'
import { accountApp, accountContext } from '../../../testing/people/account-app.ts'
import { openAppBrowser } from '../../../testing/people/app-browser.ts'
import { newAddress, PASSWORD, signedInUser } from '../../../testing/people/sign-up.ts'

const hashes = vi.hoisted(() => ({ count: 0 }))
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>()
  // Only counted: the derived key does not matter here, and a thousand real hashes would take minutes.
  const scrypt = (password: Buffer, salt: Buffer, length: number, ...rest: unknown[]) => {
    hashes.count++
    const done = rest.at(-1) as (error: null, key: Buffer) => void
    done(null, crypto.createHmac('sha512', password).update(salt).digest().subarray(0, length))
  }
  return { ...crypto, scrypt, default: { ...crypto, scrypt } }
})

function setup() {
  const account = accountContext()
  const app = accountApp(account.ctx)
  return { account, app, ...account }
}

type Browser = ReturnType<typeof openAppBrowser>
const signIn = (browser: Browser, email: string, password: string) =>
  browser.json('POST', '/users/sign_in', { user: { email, password } })

/** A browser somewhere on the internet, or somewhere else each time. */
async function from(app: ReturnType<typeof accountApp>, address: string | (() => string)): Promise<Browser> {
  const browser = openAppBrowser({
    request: (path, init) => {
      const headers = new Headers(init?.headers)
      headers.set('CF-Connecting-IP', typeof address === 'string' ? address : address())
      return app.request(path, { ...init, headers })
    },
  })
  await browser.open('/sign_in')
  return browser
}

test('1,000 guesses from 1,000 networks: checks a handful, and the owner still signs in from a known device', async () => {
  const { account, app, clock } = setup()
  const owner = openAppBrowser(app)
  const { email } = await signedInUser(owner, account)
  hashes.count = 0
  const statuses: number[] = []
  let i = 0
  const thief = await from(app, () => `198.${i % 250}.${i >> 8}.7`)
  for (; i < 1_000; i++) {
    statuses.push((await signIn(thief, email, `guess ${i}`)).status)
    clock.ms += 1_000
  }
  expect(hashes.count).toBeLessThan(15)
  expect(statuses.filter((status) => status === 401).length).toBe(hashes.count)
  expect(statuses.filter((status) => status === 429).length).toBe(1_000 - hashes.count)

  const stranger = await from(app, '203.0.113.1')
  const refused = await signIn(stranger, email, PASSWORD)
  expect(refused.status).toBe(429)
  const seconds = Number(refused.headers.get('Retry-After'))
  expect(seconds).toBeGreaterThan(0)
  expect(((await refused.json()) as { error: string }).error).toMatch(
    /^Too many attempts\. Please try again in \d+ (seconds|minutes?)\.$/,
  )

  await owner.json('DELETE', '/users/sign_out')
  await owner.open('/sign_in')
  expect((await signIn(owner, email, PASSWORD)).status).toBe(200)
  clock.ms += seconds * 1000
  expect((await signIn(stranger, email, PASSWORD)).status).toBe(200)
})

test('after a reset by mail, the owner signs in at once from any browser, although someone keeps guessing', async () => {
  const { account, app, clock, sent, settle } = setup()
  const { email } = await signedInUser(openAppBrowser(app), account)
  const thief = await from(app, '198.51.100.3')
  const guess = async () => {
    const { status } = await signIn(thief, email, 'a guess')
    clock.ms += 3_600_000
    return status
  }
  for (let i = 0; i < 20; i++) expect(await guess()).toBe(401)

  const owner = await from(app, '203.0.113.5')
  await signIn(thief, email, 'a guess')
  expect((await signIn(owner, email, PASSWORD)).status).toBe(429)
  await owner.json('POST', '/users/password', { user: { email } })
  await settle()
  const token = /reset_password_token=([\w-]+)/.exec(sent.at(-1)?.text ?? '')?.[1]
  const user = { reset_password_token: token, password: 'a newer one', password_confirmation: 'a newer one' }
  expect((await owner.json('PUT', '/users/password', { user })).status).toBe(200)
  await settle()
  // On another of their devices, before the next guess.
  expect((await signIn(await from(app, '203.0.113.6'), email, 'a newer one')).status).toBe(200)
  for (let i = 0; i < 8; i++) await signIn(thief, email, 'a guess')
  expect((await signIn(await from(app, '203.0.113.7'), email, 'a newer one')).status).toBe(429)
  expect((await signIn(owner, email, 'a newer one')).status).toBe(200)
})

test("a reset by mail also forgives the owner's mistyped passwords in a known browser", async () => {
  const { account, app, sent, settle } = setup()
  const owner = openAppBrowser(app)
  const { email } = await signedInUser(owner, account)
  await owner.json('DELETE', '/users/sign_out')
  await owner.open('/sign_in')
  for (let i = 0; i < 6; i++) await signIn(owner, email, 'was it this?')
  expect((await signIn(owner, email, PASSWORD)).status).toBe(429)
  await owner.json('POST', '/users/password', { user: { email } })
  await settle()
  const token = /reset_password_token=([\w-]+)/.exec(sent.at(-1)?.text ?? '')?.[1]
  const user = { reset_password_token: token, password: 'a newer one', password_confirmation: 'a newer one' }
  expect((await owner.json('PUT', '/users/password', { user })).status).toBe(200)
  expect((await signIn(owner, email, 'a newer one')).status).toBe(200)
})

test.each(['sets a new password', 'resets it by mail'])('once its owner %s, no other browser is known', async (way) => {
  const { account, app, sent, settle } = setup()
  const owner = openAppBrowser(app)
  const { email } = await signedInUser(owner, account)
  const thieves = [await from(app, '192.0.2.1'), await from(app, '192.0.2.2')]
  for (const thief of thieves) expect((await signIn(thief, email, PASSWORD)).status).toBe(200)

  const password = 'a newer one'
  const next = { password, password_confirmation: password }
  if (way === 'sets a new password')
    await owner.json('PUT', '/users', { user: { name: 'A', current_password: PASSWORD, ...next } })
  else {
    await owner.json('POST', '/users/password', { user: { email } })
    await settle()
    const token = /reset_password_token=([\w-]+)/.exec(sent.at(-1)?.text ?? '')?.[1]
    expect(
      (await owner.json('PUT', '/users/password', { user: { reset_password_token: token, ...next } })).status,
    ).toBe(200)
  }
  const statuses: number[] = []
  for (const thief of thieves) {
    await thief.open('/sign_in')
    for (let i = 0; i < 5; i++) statuses.push((await signIn(thief, email, `guess ${i}`)).status)
  }
  expect(statuses).toEqual([...Array(5).fill(401), ...Array(5).fill(429)])

  await settle()
  sent.length = 0
  await owner.json('DELETE', '/users/sign_out')
  await owner.open('/sign_in')
  expect((await signIn(owner, email, password)).status).toBe(200)
  await settle()
  expect(sent).toEqual([])
})

test('a hundred guesses at the same moment count like a hundred in a row', async () => {
  const { account, app } = setup()
  const { email } = await signedInUser(openAppBrowser(app), account)
  const thief = await from(app, '198.51.100.1')
  hashes.count = 0
  await Promise.all(Array.from({ length: 100 }, (_, i) => signIn(thief, email, `guess ${i}`)))
  expect(hashes.count).toBe(5)
})

test('stops one address that tries many accounts, and one network, before anything is hashed', async () => {
  const { app } = setup()
  const spray = await from(app, '198.51.100.9')
  hashes.count = 0
  for (let i = 0; i < 80; i++) await signIn(spray, newAddress(), 'simulate')
  expect(hashes.count).toBe(60)
  hashes.count = 0
  let i = 0
  const network = await from(app, () => `198.51.100.${i % 250}`)
  for (; i < 400; i++) await signIn(network, newAddress(), 'simulate')
  expect(hashes.count).toBe(240)
  hashes.count = 0
  await signIn(await from(app, '198.51.101.1'), newAddress(), 'simulate')
  expect(hashes.count).toBe(1)
})

test('a known device is known only for its own account, and cannot be forged', async () => {
  const { account, app } = setup()
  const mine = openAppBrowser(app)
  await signedInUser(mine, account)
  const other = openAppBrowser(app)
  const { email } = await signedInUser(other, account)
  const thief = await from(app, '198.51.100.2')
  for (let i = 0; i < 6; i++) await signIn(thief, email, 'wrong one')
  await mine.open('/sign_in')
  expect((await signIn(mine, email, PASSWORD)).status).toBe(429)
  mine.cookies.set('known', `${'A'.repeat(16)}.${'A'.repeat(43)}`)
  expect((await signIn(mine, email, PASSWORD)).status).toBe(429)
})

test.each([
  ['/users/confirmation', (email: string) => ({ user: { email } })],
  ['/users/password', (email: string) => ({ user: { email } })],
  [
    '/users',
    (email: string) => ({
      user: { name: 'A', email, password: PASSWORD, password_confirmation: PASSWORD, terms_of_service: true },
    }),
  ],
  ['/api/v1/contact_sales', (email: string) => ({ name: 'A', email, source: 'Referral', message: 'Hello' })],
])('%s floods nobody: five an hour per mailbox, whether or not it has an account', async (path, body) => {
  const { account, app, clock, sent, settle } = setup()
  const { email: known } = await signedInUser(openAppBrowser(app), account)
  clock.ms += 3_600_000
  sent.length = 0
  for (const email of [known, newAddress()]) {
    const statuses: number[] = []
    for (let i = 0; i < 7; i++) {
      const spelled = i % 2 ? email : email.replace('@', `+${i}@`)
      statuses.push((await (await from(app, `198.${i}.7.7`)).json('POST', path, body(spelled))).status)
    }
    expect(statuses.slice(5)).toEqual([429, 429])
    expect(statuses.slice(0, 5).every((status) => status < 300)).toBe(true)
  }
  await settle()
  expect(sent.filter((mail) => mail.to === known).length).toBeLessThanOrEqual(5)
  clock.ms += 3_600_000
  expect((await (await from(app, '198.9.7.7')).json('POST', path, body(known))).status).toBeLessThan(300)
})

test('a thief of an open session cannot guess the password', async () => {
  const { account, app } = setup()
  const browser = openAppBrowser(app)
  await signedInUser(browser, account)
  const guess = (current_password: string) =>
    browser.json('PUT', '/users', {
      user: { name: 'A', current_password, password: 'a new one', password_confirmation: 'a new one' },
    })
  const statuses: number[] = []
  for (let i = 0; i < 7; i++) statuses.push((await guess(`wrong ${i}`)).status)
  expect(statuses).toEqual([422, 422, 422, 422, 422, 429, 429])
  expect((await browser.json('DELETE', '/users', { user: { current_password: 'another guess' } })).status).toBe(429)
})

test('ignores forwarded headers', async () => {
  const { app } = setup()
  const browser = openAppBrowser({
    request: (path, init) => {
      const headers = new Headers(init?.headers)
      headers.set('CF-Connecting-IP', '198.51.100.77')
      headers.set('X-Forwarded-For', `10.0.0.${Math.floor(Math.random() * 250)}`)
      headers.set('X-Forwarded-Host', 'evil.example')
      return app.request(path, { ...init, headers })
    },
  })
  await browser.open('/sign_in')
  hashes.count = 0
  for (let i = 0; i < 70; i++) await signIn(browser, newAddress(), 'simulate')
  expect(hashes.count).toBe(60)
})

test('while no password can be checked, retrying locks nobody out', async () => {
  const { account, app, ctx } = setup()
  const browser = openAppBrowser(app)
  const { email } = await signedInUser(browser, account)
  const owner = await from(app, '203.0.113.8')
  const { hasher } = ctx
  const close = (password: string) => browser.json('DELETE', '/users', { user: { current_password: password } })

  for (let i = 0; i < 4; i++) expect((await signIn(owner, email, 'a guess')).status).toBe(401)
  ctx.hasher = { derive: () => new Promise((resolve) => setTimeout(resolve, 20, null)) }
  const refused = await Promise.all(Array.from({ length: 20 }, () => signIn(owner, email, PASSWORD)))
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503, 429]))
  for (let i = 0; i < 20; i++) expect((await signIn(owner, email, PASSWORD)).status).toBe(503)
  for (let i = 0; i < 20; i++) expect((await close(PASSWORD)).status).toBe(503)
  ctx.hasher = hasher

  // Guesses checked earlier still count, so the next wrong one is the fifth.
  expect((await signIn(owner, email, 'a guess')).status).toBe(401)
  expect((await signIn(owner, email, PASSWORD)).status).toBe(429)
  expect((await close('a guess')).status).toBe(422)
})

test('changing your own password over and over costs us at most ten hashes and mails an hour', async () => {
  const { account, app, clock, sent, settle } = setup()
  const browser = openAppBrowser(app)
  await signedInUser(browser, account)
  hashes.count = 0
  sent.length = 0
  const change = () =>
    browser.json('PUT', '/users', {
      user: { name: 'A', current_password: PASSWORD, password: PASSWORD, password_confirmation: PASSWORD },
    })
  const statuses: number[] = []
  for (let i = 0; i < 12; i++) statuses.push((await change()).status)
  await settle()
  expect(statuses).toEqual([...Array(10).fill(200), 429, 429])
  expect([hashes.count, sent.length]).toEqual([20, 10])
  clock.ms += 3_600_000
  expect((await change()).status).toBe(200)
})

test('twenty changes of a second factor an hour, then no more', async () => {
  const { account, app, clock } = setup()
  const browser = openAppBrowser(app)
  await signedInUser(browser, account)
  const add = async () => (await browser.json('POST', '/account_security/totp', { current_password: PASSWORD })).status
  for (let i = 0; i < 20; i++) expect(await add()).toBe(200)
  expect(await add()).toBe(429)
  clock.ms += 3_600_000
  expect(await add()).toBe(200)
})

test("one person who uses up a campus's sign-ins keeps out nobody with a known browser", async () => {
  const { account, app, clock } = setup()
  const CAMPUS = '203.0.113.50'
  const { email } = await signedInUser(openAppBrowser(app), account)
  const owner = await from(app, CAMPUS)
  expect((await signIn(owner, email, PASSWORD)).status).toBe(200)
  const bad = await from(app, CAMPUS)
  for (let i = 0; i < 80; i++) await signIn(bad, newAddress(), 'simulate')
  expect((await signIn(bad, newAddress(), 'simulate')).status).toBe(429)
  await owner.json('DELETE', '/users/sign_out')
  await owner.open('/sign_in')
  expect((await signIn(owner, email, PASSWORD)).status).toBe(200)

  // Known browsers have a limit of their own, because right passwords cost hashes as well.
  hashes.count = 0
  const statuses: number[] = []
  for (let i = 0; i < 70; i++) statuses.push((await signIn(owner, email, PASSWORD)).status)
  expect(statuses.at(-1)).toBe(429)
  expect(hashes.count).toBeLessThanOrEqual(10)
  clock.ms += 3_600_000 / 4
  expect((await signIn(owner, email, PASSWORD)).status).toBe(200)
})

test('a browser that was once signed in does not use up the sign-ins of the others', async () => {
  const { account, app } = setup()
  const { email } = await signedInUser(openAppBrowser(app), account)
  const former = await from(app, '198.51.100.7')
  expect((await signIn(former, email, PASSWORD)).status).toBe(200)
  const owner = await from(app, '203.0.113.50')
  expect((await signIn(owner, email, PASSWORD)).status).toBe(200)
  await owner.json('DELETE', '/api/v1/users/sign_ins')

  await former.open('/sign_in')
  hashes.count = 0
  const statuses: number[] = []
  for (let i = 0; i < 150; i++) statuses.push((await signIn(former, email, `guess ${i}`)).status)
  expect(statuses.at(-1)).toBe(429)
  expect(hashes.count).toBeLessThanOrEqual(5)
  await owner.open('/sign_in')
  expect((await signIn(owner, email, PASSWORD)).status).toBe(200)
})
