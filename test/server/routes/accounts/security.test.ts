import { and, eq, isNull } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { ZodMiniObject } from 'zod/mini'
import { apiTokens, recoveryCodes, signInChallenges, signIns, totps, users } from '../../../../db/schema/accounts.ts'
import { outbox } from '../../../../db/schema/mail.ts'
import { CLIENT_ID } from '../../../../src/domain/device-code.ts'
import { CHALLENGE_OVER, CODE_WRONG, FACTOR_REQUIRED } from '../../../../src/domain/factor.ts'
import { CURRENT_PASSWORD_WRONG, INVALID_CREDENTIALS } from '../../../../src/domain/user.ts'
import { renewTotpSecrets } from '../../../../src/server/accounts/credentials/totp.ts'
import { routes as table } from '../../../../src/server/app.ts'
import { unseal } from '../../../../src/server/crypto/sealed.ts'
import { openAppBrowser } from '../../../../testing/people/app-browser.ts'
import { addAuthenticator, totpAt } from '../../../../testing/people/authenticator.ts'
import { openAccount, PASSWORD, signedInUser } from '../../../../testing/people/sign-up.ts'

const STEP = 30_000

async function setup() {
  const account = openAccount()
  const { ctx, clock } = account
  const user = await signedInUser(account.browser, account)
  const newBrowser = async () => {
    const browser = openAppBrowser(account.app)
    await browser.open('/sign_in')
    return browser
  }
  type Browser = Awaited<ReturnType<typeof newBrowser>>
  const signIn = async (browser: Browser, password = PASSWORD, email = user.email) => {
    const response = await browser.json('POST', '/users/sign_in', { user: { email, password } })
    return { status: response.status, body: await response.json() }
  }
  const answer = async (browser: Browser, challenge: string, given: object) => {
    const response = await browser.json('POST', '/users/sign_in/second_factor', { challenge, ...given })
    return { status: response.status, body: await response.json() }
  }
  const call = async (method: string, path: string, body: object = {}) => {
    const response = await account.browser.json(method, path, { current_password: PASSWORD, ...body })
    return { status: response.status, body: await response.json() }
  }
  const later = () => {
    clock.ms += STEP
  }
  const add = async () => {
    const app = await addAuthenticator(account.browser, PASSWORD, ctx.now)
    later()
    return app
  }
  const subjects = async () => {
    await account.settle()
    return account.sent.filter(({ to }) => to === user.email).map(({ subject }) => subject)
  }
  const signInsOf = () => ctx.db.$count(signIns, and(eq(signIns.userId, user.id), isNull(signIns.revokedAt)))
  return { ...account, user, newBrowser, signIn, answer, call, later, add, subjects, signInsOf }
}

test('asks for a code after the right password, takes each code once, and says nothing before', async () => {
  const { add, newBrowser, signIn, answer, user, later, clock } = await setup()
  const app = await add()
  const browser = await newBrowser()
  expect((await signIn(browser, 'wrong one')).body).toEqual((await signIn(browser, 'wrong one', 'no@example.com')).body)
  const asked = await signIn(browser)
  expect(asked.status).toBe(401)
  expect(asked.body).toEqual({
    code: 'second_factor_required',
    error: FACTOR_REQUIRED,
    message: FACTOR_REQUIRED,
    errors: [FACTOR_REQUIRED],
    methods: ['totp', 'recovery'],
    challenge: expect.stringMatching(/^[\w-]{43}$/),
    page: `/sign_in/second_factor?challenge=${asked.body.challenge}`,
  })
  const { challenge } = asked.body
  expect((await browser.request('/api/v1/users/get_session')).status).toBe(401)
  expect((await answer(browser, challenge, {})).status).toBe(422)
  expect((await answer(browser, challenge, { totp: totpAt(app.secret, clock.ms + 2 * STEP) })).body.code).toBe(
    'invalid_code',
  )
  const signedIn = await answer(browser, challenge, { totp: app.code() })
  expect([signedIn.status, signedIn.body.user.id, signedIn.body.page]).toEqual([200, user.id, '/dashboard'])
  expect((await browser.request('/api/v1/users/get_session')).status).toBe(200)
  // Neither the challenge nor the code counts again.
  expect((await answer(browser, challenge, { recovery: app.recoveryCodes[0] })).body.code).toBe('unauthenticated')
  const next = await newBrowser()
  const { challenge: second } = (await signIn(next)).body
  expect((await answer(next, second, { totp: app.code() })).body).toMatchObject({
    code: 'invalid_code',
    error: CODE_WRONG,
  })
  expect((await answer(next, second, { totp: totpAt(app.secret, clock.ms - STEP) })).status).toBe(401)
  later()
  // Spaced, as apps show it, by a phone whose clock is half a minute behind.
  const code = totpAt(app.secret, clock.ms)
  later()
  expect((await answer(next, second, { totp: `${code.slice(0, 3)} ${code.slice(3)}` })).status).toBe(200)
})

test('of two sign-ins with one code at once, one gets in', async () => {
  const { add, newBrowser, signIn, answer, signInsOf, ctx } = await setup()
  const app = await add()
  const before = await signInsOf()
  const browsers = await Promise.all([newBrowser(), newBrowser()])
  const challenges: string[] = []
  for (const browser of browsers) challenges.push((await signIn(browser)).body.challenge)
  // Both have read the last step before either writes.
  const { promise, resolve } = Promise.withResolvers<void>()
  let reads = 0
  const batch = ctx.db.$client.batch
  ctx.db.$client.batch = async function run(...given: unknown[]) {
    const text = JSON.stringify(given)
    if (text.includes('UPDATE totps SET last_step')) {
      if (++reads === 2) resolve()
      await promise
    }
    return batch.apply(ctx.db.$client, given as never)
  } as typeof batch
  const answers = await Promise.all(browsers.map((one, i) => answer(one, challenges[i] ?? '', { totp: app.code() })))
  ctx.db.$client.batch = batch
  expect(reads).toBe(2)
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
  expect(await signInsOf()).toBe(before + 1)
})

test('a recovery code works once, however it is typed, and its owner hears of it', async () => {
  const { add, newBrowser, signIn, answer, subjects, call, ctx, user } = await setup()
  const { recoveryCodes: codes } = await add()
  expect(codes).toHaveLength(10)
  expect(new Set(codes).size).toBe(10)
  const [first = '', second = ''] = codes
  expect(first).toMatch(/^([0-9a-hjkmnp-tv-z]{6}-){3}[0-9a-hjkmnp-tv-z]{6}$/)
  const browser = await newBrowser()
  const typed = ` ${first.toUpperCase().replaceAll('-', ' ').replaceAll('0', 'O')}`
  expect((await answer(browser, (await signIn(browser)).body.challenge, { totp: typed })).status).toBe(200)
  expect((await subjects()).at(-1)).toBe('A recovery code was used')
  const other = await newBrowser()
  const { challenge } = (await signIn(other)).body
  expect((await answer(other, challenge, { recovery: first })).body.code).toBe('invalid_code')
  const told = and(eq(outbox.recipient, user.email), eq(outbox.subject, 'A recovery code was used'))
  expect(await ctx.db.$count(outbox, told)).toBe(1)
  const token = (name: string) => call('POST', '/api_tokens', { name, scope: 'read', days: 1, recovery: second })
  const racing = await Promise.all(['a', 'b', 'c'].map(token))
  expect(racing.map(({ status }) => status).sort()).toEqual([201, 401, 401])
  const rows = await ctx.db.select().from(recoveryCodes).where(eq(recoveryCodes.userId, user.id))
  expect(JSON.stringify(rows)).not.toContain(first)
  expect(rows.filter(({ usedAt }) => usedAt !== null)).toHaveLength(2)
})

test('a call that is refused for another reason uses up no code, and what it was for uses it up', async () => {
  const { add, call, ctx, user, subjects } = await setup()
  const app = await add()
  const tokens = () => ctx.db.$count(apiTokens, eq(apiTokens.userId, user.id))
  const make = (name: string, proof: object) => call('POST', '/api_tokens', { name, scope: 'read', days: 1, ...proof })
  const recovery = app.recoveryCodes[0]
  expect((await make('CI', { recovery })).status).toBe(201)
  const next = { recovery: app.recoveryCodes[1] }
  const refused: [string, string, object, number][] = [
    ['POST', '/api_tokens', { name: 'CI', scope: 'read', days: 1 }, 409],
    ['POST', '/api_tokens', { name: '', scope: 'read', days: 1 }, 422],
    ['POST', '/webhooks/whk_x/secret', {}, 404],
    ['POST', '/account_security/totp', {}, 409],
    ['PUT', '/secrets/A-B', { value: 'x' }, 422],
    [
      'PUT',
      '/users',
      { user: { current_password: PASSWORD, ...next, password: 'short', password_confirmation: 'short' } },
      422,
    ],
  ]
  for (const given of [next, { totp: app.code() }]) {
    for (const [method, path, body, status] of refused)
      expect((await call(method, path, { ...given, ...body })).status, `${method} ${path}`).toBe(status)
    expect((await subjects()).filter((subject) => subject === 'A recovery code was used')).toHaveLength(1)
  }
  expect((await make('A', next)).status).toBe(201)
  expect((await make('B', next)).body.code).toBe('invalid_code')
  expect((await make('C', { totp: app.code() })).status).toBe(201)
  expect((await make('D', { totp: app.code() })).body.code).toBe('invalid_code')
  expect(await tokens()).toBe(3)
  expect((await subjects()).filter((subject) => subject === 'A recovery code was used')).toHaveLength(2)
})

test('of two different calls with one code at once, one is done', async () => {
  const { add, call, ctx, user } = await setup()
  const app = await add()
  const { promise, resolve } = Promise.withResolvers<void>()
  let waiting = 0
  const batch = ctx.db.$client.batch
  ctx.db.$client.batch = async function run(...given: unknown[]) {
    if (JSON.stringify(given).includes('UPDATE totps SET last_step')) {
      if (++waiting === 2) resolve()
      await promise
    }
    return batch.apply(ctx.db.$client, given as never)
  } as typeof batch
  const totp = app.code()
  const answers = await Promise.all([
    call('PUT', '/secrets/A', { value: 'x', totp }),
    call('DELETE', '/users', { user: { current_password: PASSWORD, totp } }),
  ])
  ctx.db.$client.batch = batch
  expect(waiting).toBe(2)
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
  expect(answers.find(({ status }) => status === 401)?.body.code).toBe('invalid_code')
  const [row] = await ctx.db.select().from(users).where(eq(users.id, user.id))
  expect(row?.closedAt !== null).toBe(answers[1].status === 200)
})

test('renewing the codes ends the earlier ones', async () => {
  const { add, call, subjects } = await setup()
  expect((await call('POST', '/account_security/recovery_codes')).body.code).toBe('conflict')
  const app = await add()
  const renewed = await call('POST', '/account_security/recovery_codes', { totp: app.code() })
  expect([renewed.status, renewed.body.recovery_codes.length]).toEqual([200, 10])
  expect((await subjects()).at(-1)).toBe('You have new recovery codes')
  const rotate = (recovery: string) => call('POST', '/webhooks/whk_x/secret', { recovery })
  expect((await rotate(app.recoveryCodes[0] as string)).status).toBe(401)
  expect((await rotate(renewed.body.recovery_codes[0])).status).toBe(404)
})

test('ends a challenge after five wrong codes, after ten minutes, and with a new password', async () => {
  const { add, newBrowser, signIn, answer, clock, call, later } = await setup()
  const app = await add()
  const browser = await newBrowser()
  const open = async () => (await signIn(browser)).body.challenge
  const stolen = await open()
  // Another browser can't use it, and doesn't use up its tries.
  const thief = await newBrowser()
  for (let i = 0; i < 6; i++)
    expect((await answer(thief, stolen, { totp: app.code() })).body.error).toBe(CHALLENGE_OVER)
  for (let i = 0; i < 5; i++) expect((await answer(browser, stolen, { recovery: `wrong ${i}` })).status).toBe(401)
  expect((await answer(browser, stolen, { totp: app.code() })).body).toMatchObject({
    code: 'unauthenticated',
    error: CHALLENGE_OVER,
  })
  const late = await open()
  clock.ms += 10 * 60_000 - 1
  expect((await answer(browser, late, { recovery: 'wrong' })).body.code).toBe('invalid_code')
  clock.ms += 1
  expect((await answer(browser, late, { totp: app.code() })).body.code).toBe('unauthenticated')
  const old = await open()
  const next = { password: 'another horse 10', password_confirmation: 'another horse 10' }
  const user = { current_password: PASSWORD, totp: app.code(), ...next }
  expect((await call('PUT', '/users', { user })).status).toBe(200)
  later()
  expect((await answer(browser, old, { totp: app.code() })).body.code).toBe('unauthenticated')
})

test('limits guesses for the account, and locks its owner out of no known browser and no recovery code', async () => {
  const { add, newBrowser, signIn, answer, browser: own, later } = await setup()
  const app = await add()
  // Only a whole sign-in makes a browser known again.
  await own.json('DELETE', '/users/sign_out')
  await own.open('/sign_in')
  expect((await answer(own, (await signIn(own)).body.challenge, { totp: app.code() })).status).toBe(200)
  later()
  const thief = await newBrowser()
  const statuses: number[] = []
  for (let sign = 0; sign < 4; sign++) {
    const { challenge } = (await signIn(thief)).body
    for (let i = 0; i < 3; i++) statuses.push((await answer(thief, challenge, { totp: '000000' })).status)
  }
  expect(statuses.slice(0, 5)).toEqual([401, 401, 401, 401, 401])
  expect(statuses.slice(5)).toEqual(Array(7).fill(429))
  const stranger = await newBrowser()
  expect((await answer(stranger, (await signIn(stranger)).body.challenge, { totp: app.code() })).status).toBe(429)
  expect(
    (await answer(stranger, (await signIn(stranger)).body.challenge, { recovery: app.recoveryCodes[0] })).status,
  ).toBe(200)
  await own.json('DELETE', '/users/sign_out')
  await own.open('/sign_in')
  expect((await answer(own, (await signIn(own)).body.challenge, { totp: app.code() })).status).toBe(200)
})

test('the first one ends what browsers are known by, so that nobody has collected guesses at its codes', async () => {
  const { add, newBrowser, signIn, answer, browser: own, subjects } = await setup()
  const thieves = [await newBrowser(), await newBrowser()]
  for (const thief of thieves) expect((await signIn(thief)).status).toBe(200)
  const app = await add()
  const guess = async (thief: (typeof thieves)[number]) => {
    await thief.open('/sign_in')
    return (await answer(thief, (await signIn(thief)).body.challenge, { totp: '000000' })).status
  }
  const statuses: number[] = []
  for (const thief of thieves) for (let i = 0; i < 4; i++) statuses.push(await guess(thief))
  expect(statuses).toEqual([...Array(5).fill(401), ...Array(3).fill(429)])

  // The browser that added it stays known, and keeps its own count.
  const mails = (await subjects()).length
  await own.json('DELETE', '/users/sign_out')
  await own.open('/sign_in')
  expect((await answer(own, (await signIn(own)).body.challenge, { totp: app.code() })).status).toBe(200)
  expect((await subjects()).slice(mails)).toEqual([])
  // A thief's browser is a new one, which its owner hears of.
  const [thief] = thieves as [(typeof thieves)[number]]
  await thief.open('/sign_in')
  const recovery = app.recoveryCodes[0]
  expect((await answer(thief, (await signIn(thief)).body.challenge, { recovery })).status).toBe(200)
  expect((await subjects()).slice(mails)).toContain('New browser signed in')
})

test('a reset by email does not skip it, and gives nobody new guesses at it', async () => {
  const { add, newBrowser, signIn, answer, settle, sent, user } = await setup()
  const app = await add()
  const thief = await newBrowser()
  const reset = async (password: string) => {
    await thief.json('POST', '/users/password', { user: { email: user.email } })
    await settle()
    const token = /reset_password_token=([\w-]+)/.exec(sent.findLast(({ to }) => to === user.email)?.text ?? '')?.[1]
    const fields = { reset_password_token: token, password, password_confirmation: password }
    expect((await thief.json('PUT', '/users/password', { user: fields })).status).toBe(200)
  }
  const guess = async (password: string) =>
    (await answer(thief, (await signIn(thief, password)).body.challenge, { totp: '000000' })).status
  const old = await newBrowser()
  const { challenge: begun } = (await signIn(old)).body
  await reset('a stolen mailbox 1')
  expect((await thief.request('/api/v1/users/get_session')).status).toBe(401)
  expect((await answer(old, begun, { recovery: app.recoveryCodes[1] })).body.code).toBe('unauthenticated')
  expect((await signIn(thief, 'a stolen mailbox 1')).body.code).toBe('second_factor_required')
  for (let i = 0; i < 5; i++) expect(await guess('a stolen mailbox 1')).toBe(401)
  await reset('a stolen mailbox 2')
  expect(await guess('a stolen mailbox 2')).toBe(429)
  const owner = await newBrowser()
  const { challenge } = (await signIn(owner, 'a stolen mailbox 2')).body
  expect((await answer(owner, challenge, { recovery: app.recoveryCodes[0] })).status).toBe(200)
})

/** Whether a body has the field, itself or in its `user`. */
const takesPassword = (shape: unknown): boolean =>
  shape instanceof ZodMiniObject &&
  ('current_password' in shape.shape || Object.values(shape.shape).some(takesPassword))

const WITH_TESTS_OF_THEIR_OWN = [
  'DELETE /account_security/totp',
  'DELETE /account_security/passkeys/:id',
  'POST /users/sign_in',
]

test('each call that asks for the password asks for it, after the password', async () => {
  const { add, call, later, ctx, user, settle, subjects, app: site } = await setup()
  const app = await add()
  const asked = await site.request('/oauth/device_authorization', {
    method: 'POST',
    body: new URLSearchParams({ client_id: CLIENT_ID }),
  })
  const { user_code } = (await asked.json()) as { user_code: string }
  const newPassword = { password: 'another horse 10', password_confirmation: 'another horse 10' }
  const login = { username: 'robot', token: 'x' }
  const calls: [string, string, (proof: object) => object, number][] = [
    ['POST', '/api_tokens', (proof) => ({ name: 'CI', scope: 'read', days: 1, ...proof }), 201],
    ['POST', '/activate', (proof) => ({ user_code, decision: 'approve', name: 'CLI', ...proof }), 200],
    ['PUT', '/secrets/A', (proof) => ({ value: 'x', ...proof }), 200],
    ['POST', '/secrets', (proof) => ({ name: 'B', value: 'x', ...proof }), 200],
    ['PUT', '/registries/ghcr.io', (proof) => ({ ...login, ...proof }), 200],
    ['POST', '/registries', (proof) => ({ host: 'quay.io', ...login, ...proof }), 200],
    ['POST', '/webhooks', (proof) => ({ url: 'https://ci.example.com/x', events: ['server.running'], ...proof }), 201],
    ['POST', '/webhooks/whk_x/secret', (proof) => proof, 404],
    ['POST', '/account_security/totp', (proof) => proof, 409],
    ['POST', '/account_security/recovery_codes', (proof) => proof, 200],
    ['POST', '/account_security/passkeys/options', (proof) => proof, 200],
    ['PUT', '/users', (proof) => ({ user: { ...proof, ...newPassword } }), 200],
    ['DELETE', '/users', (proof) => ({ user: proof }), 200],
  ]
  const called = calls.map(([method, path]) => `${method} ${table.pathAt(path)}`)
  const asking = Object.entries(table.facts).filter(([, { refuses }]) => refuses?.includes('second_factor_required'))
  // A route that takes a password and isn't in the document has to be known here as well.
  const taking = Object.entries(table.facts).filter(([, { takes }]) => takesPassword(takes))
  expect(taking.map(([at]) => at).sort()).toEqual(
    ['POST /admin/confirm', ...asking.map(([at]) => at).filter((at) => at !== 'POST /users/sign_in')].sort(),
  )
  expect([...called, ...WITH_TESTS_OF_THEIR_OWN].sort()).toEqual(asking.map(([at]) => at).sort())
  let password = PASSWORD
  for (const [method, path, body, done] of calls) {
    const send = (proof: object) => call(method, path, body({ current_password: password, ...proof }))
    expect((await send({ current_password: 'wrong', totp: app.code() })).body.error, path).toBe(CURRENT_PASSWORD_WRONG)
    expect((await send({})).body, path).toMatchObject({ code: 'second_factor_required', error: FACTOR_REQUIRED })
    const wrong = await send({ totp: '000000' })
    expect([wrong.status, wrong.body.code], path).toEqual([401, 'invalid_code'])
    expect((await send({ totp: app.code() })).status, path).toBe(done)
    if (path === '/users' && method === 'PUT') password = newPassword.password
    later()
  }
  await settle()
  for (const table of [totps, recoveryCodes, signInChallenges])
    expect(await ctx.db.$count(table, eq(table.userId, user.id))).toBe(0)
  expect(await subjects()).toContain('Your account has an authenticator app')
})

test('removing it takes the password and a code, mails its owner, ends nothing else, and takes the codes along', async () => {
  const { add, call, later, subjects, signInsOf, newBrowser, signIn, ctx, user } = await setup()
  expect((await call('DELETE', '/account_security/totp')).status).toBe(404)
  const app = await add()
  expect((await call('DELETE', '/account_security/totp')).body.code).toBe('second_factor_required')
  expect((await call('DELETE', '/account_security/totp', { current_password: 'wrong', totp: app.code() })).status).toBe(
    422,
  )
  const before = await signInsOf()
  expect((await call('DELETE', '/account_security/totp', { totp: app.code() })).status).toBe(200)
  expect(await subjects()).toEqual(
    expect.arrayContaining(['Your account has an authenticator app', 'Your authenticator app was removed']),
  )
  expect(await signInsOf()).toBe(before)
  expect(await ctx.db.$count(recoveryCodes, eq(recoveryCodes.userId, user.id))).toBe(0)
  expect((await signIn(await newBrowser())).status).toBe(200)
  // A new one has a new secret.
  expect((await add()).secret).not.toBe(app.secret)
  later()
})

test('a secret counts only after a first code from the browser that started it, within ten minutes', async () => {
  const { call, browser, newBrowser, signIn, clock, ctx, user } = await setup()
  const start = async () => (await call('POST', '/account_security/totp')).body.secret as string
  const confirm = async (code: string) => (await call('POST', '/account_security/totp/confirm', { code })).body.code
  expect(await confirm('123456')).toBe('conflict')
  expect((await call('POST', '/account_security/totp', { current_password: 'wrong' })).body.error).toBe(
    CURRENT_PASSWORD_WRONG,
  )
  const first = await start()
  const secret = await start()
  expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  expect(await confirm(totpAt(first, clock.ms))).toBe('invalid_code')
  const other = await newBrowser()
  expect((await signIn(other)).status).toBe(200)
  const elsewhere = await other.json('POST', '/account_security/totp/confirm', { code: totpAt(secret, clock.ms) })
  expect(elsewhere.status).toBe(409)
  clock.ms += 10 * 60_000
  expect(await confirm(totpAt(secret, clock.ms))).toBe('conflict')
  const last = await start()
  const [row] = await ctx.db.select().from(totps).where(eq(totps.userId, user.id))
  expect(row?.sealed).not.toContain(last)
  const { secretKey } = ctx.config
  expect(unseal({ secretKey, purpose: 'totp', of: user.id }, row?.sealed ?? '')).toBe(last)
  expect(() => unseal({ secretKey, purpose: 'totp', of: 'user_other' }, row?.sealed ?? '')).toThrow()
  clock.ms += 10 * 60_000 - 1
  const both = await Promise.all(
    [1, 2].map(() => browser.json('POST', '/account_security/totp/confirm', { code: totpAt(last, clock.ms) })),
  )
  // Whoever comes second finds the secret confirmed, or its own sign-in replaced.
  const [won, lost] = both.map(({ status }) => status).sort()
  expect(won).toBe(200)
  expect([401, 409]).toContain(lost)
  expect(await ctx.db.$count(recoveryCodes, eq(recoveryCodes.userId, user.id))).toBe(10)
})

test('a first code counts for nothing once its secret was replaced, or its sign-in ended', async () => {
  const { call, clock, ctx, user, newBrowser, signIn, signInsOf } = await setup()
  await signIn(await newBrowser())
  const before = await signInsOf()
  const write = ctx.db.$client.batch
  const confirmWhile = async (happens: () => Promise<unknown>) => {
    const secret = (await call('POST', '/account_security/totp')).body.secret as string
    let done = false
    ctx.db.$client.batch = async function batch(...given) {
      if (!done && JSON.stringify(given).includes('update \\"totps\\"')) {
        done = true
        await happens()
      }
      return write.apply(this, given)
    }
    const code = totpAt(secret, clock.ms)
    const { body } = await call('POST', '/account_security/totp/confirm', { code })
    ctx.db.$client.batch = write
    return [done, body.code]
  }
  const replace = () => ctx.db.update(totps).set({ sealed: 'another' }).where(eq(totps.userId, user.id))
  expect(await confirmWhile(replace)).toEqual([true, 'conflict'])
  expect(await signInsOf()).toBe(before)
  const end = () => ctx.db.update(signIns).set({ revokedAt: clock.ms }).where(eq(signIns.userId, user.id))
  expect(await confirmWhile(end)).toEqual([true, 'conflict'])
  expect(await ctx.db.$count(recoveryCodes, eq(recoveryCodes.userId, user.id))).toBe(0)
})

test('works with plain forms, and shows key and codes once', async () => {
  const { account, browser, newBrowser, user, clock, later, call } = await setup()
  for (const name of ['CI', 'arm']) await call('POST', '/api_tokens', { name, scope: 'read', days: 1 })
  await browser.open('/account_security')
  const started = await browser.form('/account_security/totp', { current_password: PASSWORD })
  const page = await started.text()
  const secret = /<code class="secret">([A-Z2-7]{32})</.exec(page)?.[1] ?? ''
  expect([started.status, page.includes('aria-label="QR code')]).toEqual([200, true])
  const wrong = await browser.form('/account_security/totp/confirm', { code: '000000' })
  expect(await wrong.text()).toContain(secret)
  const confirmed = await browser.form('/account_security/totp/confirm', { code: totpAt(secret, clock.ms) })
  const added = await confirmed.text()
  const codes = (/<code class="secret">([^<]+)</.exec(added)?.[1] ?? '').split('\n')
  // API tokens made with only the password still work, so the page says how many there are.
  expect(added.replaceAll('<!-- -->', '')).toContain(
    'You have 2 API tokens: <a href="/settings/developers">check that each is yours',
  )
  // Its forms already ask for a code.
  expect(added).toContain('name="totp"')
  expect(codes).toHaveLength(10)
  const again = await (await browser.request('/account_security')).text()
  for (const hidden of [secret, ...codes]) expect(again).not.toContain(hidden)
  expect(again.replaceAll('<!-- -->', '')).toContain('10 of 10 left')
  later()
  const other = await newBrowser()
  const credentials = { 'user[email]': user.email, 'user[password]': PASSWORD }
  const asked = await other.form('/users/sign_in', credentials)
  const at = asked.headers.get('Location') ?? ''
  expect([asked.status, at.split('?')[0]]).toEqual([303, '/sign_in/second_factor'])
  expect((await other.open(at)).status).toBe(200)
  const challenge = new URLSearchParams(at.split('?')[1]).get('challenge') ?? ''
  const refused = await other.form('/users/sign_in/second_factor', { challenge, totp: '000000' })
  expect([refused.status, refused.headers.get('Location')]).toEqual([303, at])
  expect((await other.open(at)).flash).toMatchObject({ message: CODE_WRONG, field: 'totp', values: { challenge } })
  const elsewhere = await signedInUser(other, account)
  const shown = await other.open(at)
  expect([shown.status, elsewhere.id === user.id]).toEqual([200, false])
  const done = await other.form('/users/sign_in/second_factor', { challenge, totp: totpAt(secret, clock.ms) })
  expect([done.status, done.headers.get('Location')]).toEqual([303, '/dashboard'])
  expect((await (await other.request('/api/v1/users/get_session')).json()).Body.id).toBe(user.id)
  expect((await other.open(at)).location).toBe('/dashboard')
  expect((await other.open('/dashboard')).flash?.message).not.toBe(CHALLENGE_OVER)
  const late = await newBrowser()
  expect((await late.open(at)).location).toBe('/sign_in')
  expect((await late.open('/sign_in')).flash?.message).toBe(CHALLENGE_OVER)
})

test('signs in nobody by password alone while a factor is being added', async () => {
  const { ctx, add, newBrowser, signIn } = await setup()
  const browser = await newBrowser()
  const batch = ctx.db.$client.batch
  let added = false
  ctx.db.$client.batch = async function run(...given: unknown[]) {
    if (!added && JSON.stringify(given).includes('INSERT INTO sign_ins')) {
      added = true
      await add()
    }
    return batch.apply(ctx.db.$client, given as never)
  } as typeof batch
  const late = await signIn(browser)
  ctx.db.$client.batch = batch
  expect([added, late.status, late.body.error]).toEqual([true, 401, INVALID_CREDENTIALS])
})

test('a rotated pepper lets them in once the old one is gone', async () => {
  const { add, newBrowser, signIn, ctx, settle } = await setup()
  await add()
  const { config } = ctx
  config.passwordPepper = `new,${config.passwordPepper}`
  expect((await signIn(await newBrowser())).body.code).toBe('second_factor_required')
  await settle()
  config.passwordPepper = 'new'
  expect((await signIn(await newBrowser())).body.code).toBe('second_factor_required')
})

test('the export says what there is, and neither secret nor code', async () => {
  const { add, browser } = await setup()
  const app = await add()
  const text = await (await browser.request('/api/v1/users/export')).text()
  expect(JSON.parse(text).second_factors).toEqual({
    totp: { added_at: expect.any(String), last_used_at: expect.any(String) },
    recovery_codes: { left: 10, made_at: expect.any(String) },
    passkeys: [],
  })
  for (const hidden of [app.secret, ...app.recoveryCodes]) expect(text).not.toContain(hidden)
})

test('survives a rotation of SECRET_KEY once the night has renewed it', async () => {
  const { add, ctx, user, takeLines } = await setup()
  const { secret } = await add()
  const old = ctx.config.secretKey
  const NEXT = 'another-secret-of-thirty-two-characters'
  const renew = () => renewTotpSecrets({ ...ctx, config: { ...ctx.config, secretKey: `${NEXT},${old}` } })
  const sealed = async () => (await ctx.db.select().from(totps).where(eq(totps.userId, user.id)))[0]?.sealed ?? ''
  await renew()
  const renewed = await sealed()
  expect(unseal({ secretKey: NEXT, purpose: 'totp', of: user.id }, renewed)).toBe(secret)
  await renew()
  expect(await sealed()).toBe(renewed)
  await ctx.db.update(totps).set({ sealed: 'nothing.we.can.open' }).where(eq(totps.userId, user.id))
  await renew()
  expect(takeLines()).toContainEqual(expect.objectContaining({ event: 'totp_lost', userId: user.id }))
})
