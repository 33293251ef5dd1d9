import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto'
import { and, eq, isNull } from 'drizzle-orm'
import { expect, test } from 'vitest'
import {
  factorRemovals,
  passkeyChallenges,
  passkeys,
  recoveryCodes,
  signInChallenges,
  signIns,
  totps,
  type UserRow,
  users,
} from '../../../../db/schema/accounts.ts'
import {
  CHALLENGE_OVER,
  FACTOR_REQUIRED,
  PASSKEY_COPIED,
  PASSKEY_NEEDS_SCRIPT,
  PASSKEY_OVER,
  PASSKEY_TAKEN,
  PASSKEY_WAITS,
  PASSKEY_WRONG,
  TOO_MANY_PASSKEYS,
} from '../../../../src/domain/factor.ts'
import { CURRENT_PASSWORD_WRONG, NOT_CONFIRMED } from '../../../../src/domain/user.ts'
import { hashOf } from '../../../../src/server/accounts/credentials/passkeys.ts'
import { forgetTraces } from '../../../../src/server/accounts/retention.ts'
import { openAppBrowser } from '../../../../testing/people/app-browser.ts'
import { addAuthenticator } from '../../../../testing/people/authenticator.ts'
import { addPasskey, newPasskeyDevice } from '../../../../testing/people/passkey.ts'
import { newAddress, openAccount, PASSWORD, signedInUser } from '../../../../testing/people/sign-up.ts'

const MINUTES = 60_000

/** A key's place on its curve, in hex. */
const pointOf = ({ publicKey }: KeyPairKeyObjectResult) => {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  return [x, y].map((one) => Buffer.from(one, 'base64url').toString('hex'))
}

async function setup() {
  const account = openAccount()
  const { ctx, clock, browser } = account
  const user = await signedInUser(browser, account)
  const newBrowser = async () => {
    const opened = openAppBrowser(account.app)
    await opened.open('/sign_in')
    return opened
  }
  type Browser = Awaited<ReturnType<typeof newBrowser>>
  const reply = async (response: Response) => ({ status: response.status, body: await response.json() })
  const send = async (from: Browser, path: string, body?: object, method = 'POST') =>
    reply(await from.json(method, path, body))
  const call = (method: string, path: string, body: object = {}) =>
    send(browser, path, { current_password: PASSWORD, ...body }, method)
  const start = async (body: object = {}) => call('POST', '/account_security/passkeys/options', body)
  const finish = (response: object, name = 'Key') => send(browser, '/account_security/passkeys', { name, response })
  const add = (device = newPasskeyDevice(), proof: object = {}) => addPasskey(browser, PASSWORD, device, proof)
  /** Signing in with a passkey alone. */
  const ask = async (from: Browser) => (await send(from, '/users/sign_in/passkey/options')).body
  const alone = (from: Browser, challenge: string, response: object) =>
    send(from, '/users/sign_in/passkey', { challenge, response })
  const signIn = (from: Browser) => send(from, '/users/sign_in', { user: { email: user.email, password: PASSWORD } })
  const second = (from: Browser, challenge: string, given: object) =>
    send(from, '/users/sign_in/second_factor', { challenge, ...given })
  const confirming = async () => (await send(browser, '/account_security/passkeys/confirm')).body.options
  const subjects = async () => {
    await account.settle()
    return account.sent.filter(({ to }) => to === user.email).map(({ subject }) => subject)
  }
  const isIn = async (from: Browser) => (await from.request('/api/v1/users/get_session')).status === 200
  const me = async () => (await ctx.db.select().from(users).where(eq(users.id, user.id)))[0] as UserRow
  const rows = () => ctx.db.select().from(passkeys).where(eq(passkeys.userId, user.id))
  const calls = { newBrowser, send, call, start, finish, add, ask, alone, signIn, second, confirming }
  return { ...account, ...calls, user, clock, subjects, isIn, rows, me }
}

test('an answer nested deep is only a wrong one, whoever sends it', async () => {
  const { browser, newBrowser, ask } = await setup()
  const nested = `{"response":${'['.repeat(15_000)}${']'.repeat(15_000)}}`
  const visitor = await newBrowser()
  const { challenge } = await ask(visitor)
  const calls = [
    [visitor, '/users/sign_in/passkey', `{"challenge":"${challenge}","response":${nested}}`],
    [browser, '/account_security/passkeys', `{"name":"Key","response":${nested}}`],
  ] as const
  for (const [from, path, body] of calls) {
    const headers = {
      'Content-Type': 'application/json',
      'Sec-Fetch-Site': 'same-origin',
      'X-CSRF-Token': from.token(),
    }
    const response = await from.request(path, { method: 'POST', headers, body })
    expect([response.status, (await response.json()).code]).toEqual([401, 'invalid_code'])
  }
})

test('adds a passkey with the password, signs in with it alone, and counts each answer once', async () => {
  const { start, finish, newBrowser, ask, alone, user, subjects, isIn, rows, clock } = await setup()
  expect((await start({ current_password: 'wrong' })).body.error).toBe(CURRENT_PASSWORD_WRONG)
  const { body } = await start()
  expect(body.options).toMatchObject({
    rp: { id: 'localhost', name: 'Proving Ground' },
    user: { name: user.email },
    excludeCredentials: [],
    attestation: 'none',
    challenge: expect.stringMatching(/^[\w-]{43}$/),
  })
  const device = newPasskeyDevice()
  const added = await finish(device.create(body.options), ' My key ')
  expect(added.body).toEqual({
    id: expect.stringMatching(/^pky_/),
    name: 'My key',
    added_at: new Date(clock.ms).toISOString(),
    last_used_at: null,
    recovery_codes: expect.any(Array),
  })
  expect([added.status, added.body.recovery_codes.length]).toEqual([201, 10])
  expect((await subjects()).at(-1)).toBe('Your account has a new passkey')

  const browser = await newBrowser()
  const asked = await ask(browser)
  expect(asked).toEqual({
    challenge: asked.options.challenge,
    options: {
      challenge: expect.stringMatching(/^[\w-]{72}$/),
      rpId: 'localhost',
      timeout: 10 * MINUTES,
      userVerification: 'required',
      allowCredentials: [],
    },
  })
  const answer = device.get(asked.options)
  const signedIn = await alone(browser, asked.challenge, answer)
  expect([signedIn.status, signedIn.body.user?.id, signedIn.body.page]).toEqual([200, user.id, '/dashboard'])
  expect(await isIn(browser)).toBe(true)
  expect(await rows()).toMatchObject([{ counter: 1, lastUsedAt: clock.ms }])
  const again = await newBrowser()
  expect((await alone(again, asked.challenge, answer)).body).toMatchObject({
    code: 'unauthenticated',
    error: PASSKEY_OVER,
  })
  expect((await alone(browser, asked.challenge, answer)).body.code).toBe('unauthenticated')
})

test('as the second factor: offered after the right password only, with what it must sign', async () => {
  const { add, newBrowser, signIn, second, send, user, isIn } = await setup()
  const { device } = await add()
  const browser = await newBrowser()
  const wrong = await send(browser, '/users/sign_in', { user: { email: user.email, password: 'wrong one' } })
  const nobody = await send(browser, '/users/sign_in', { user: { email: 'no@example.com', password: 'wrong one' } })
  expect(wrong.body).toEqual(nobody.body)
  const asked = await signIn(browser)
  expect(asked).toMatchObject({
    status: 401,
    body: {
      code: 'second_factor_required',
      methods: ['passkey', 'recovery'],
      passkey: {
        challenge: asked.body.challenge,
        userVerification: 'preferred',
        allowCredentials: [{ id: device.id, type: 'public-key', transports: ['internal'] }],
      },
    },
  })
  const { challenge } = asked.body
  const answer = device.get(asked.body.passkey, { verifies: false })
  // Another browser can't finish it.
  expect((await second(await newBrowser(), challenge, { passkey: answer })).body.error).toBe(CHALLENGE_OVER)
  expect((await second(browser, challenge, { passkey: answer })).status).toBe(200)
  expect(await isIn(browser)).toBe(true)
  expect((await second(browser, challenge, { passkey: answer })).body.error).toBe(CHALLENGE_OVER)
})

test('refuses a wrong origin, site, type, challenge, key, or person, and who the device did not verify', async () => {
  const { add, newBrowser, ask, alone, signIn, second, isIn, rows } = await setup()
  const { device } = await add()
  const other = await setup()
  const { device: stranger } = await other.add()
  const browser = await newBrowser()
  const elsewhere = newPasskeyDevice()
  const tries: [string, (options: { challenge: string }) => object][] = [
    ['origin', (options) => device.get(options, { origin: 'http://localhost:8788' })],
    ['a page below the site', (options) => device.get(options, { origin: 'http://run.localhost:8787' })],
    ['site', (options) => device.get(options, { rpId: 'example.com' })],
    ['type', (options) => device.get(options, { type: 'webauthn.create' })],
    ['challenge', () => device.get({ challenge: 'another' })],
    ['unverified', (options) => device.get(options, { verifies: false })],
    ['person', (options) => device.get(options, { handle: Buffer.from(other.user.id).toString('base64url') })],
    ['nobody', (options) => device.get(options, { handle: null })],
    ['unknown', (options) => elsewhere.get(options)],
    ['key', (options) => ({ ...elsewhere.get(options), id: device.id, rawId: device.id })],
    ['nothing', () => ({})],
    ['no text', () => ({ id: { toString: 0, valueOf: 0 } })],
  ]
  for (const [what, make] of tries) {
    const { challenge, options } = await ask(browser)
    const refused = await alone(browser, challenge, make(options))
    expect([refused.status, refused.body.code, refused.body.error], what).toEqual([401, 'invalid_code', PASSKEY_WRONG])
    // It had its one try.
    expect((await alone(browser, challenge, device.get(options))).body.code, what).toBe('unauthenticated')
  }
  expect(await isIn(browser)).toBe(false)
  expect(await rows()).toMatchObject([{ counter: 0, lastUsedAt: null }])

  // Somebody else's passkey is no second factor here.
  const { challenge, passkey } = (await signIn(browser)).body
  for (const answer of [
    stranger.get(passkey),
    stranger.get(passkey, { handle: null }),
    device.get(passkey, { origin: 'https://evil.example' }),
  ])
    expect((await second(browser, challenge, { passkey: answer })).body).toMatchObject({ error: PASSKEY_WRONG })
  expect((await second(browser, challenge, { passkey: device.get(passkey, { handle: null }) })).status).toBe(200)
})

test('signing in with one alone ends what its browser began with the password', async () => {
  const { add, newBrowser, ask, alone, signIn, ctx, user } = await setup()
  const { device } = await add()
  const browsers = [await newBrowser(), await newBrowser()] as const
  for (const browser of browsers) expect((await signIn(browser)).body.code).toBe('second_factor_required')
  const { challenge, options } = await ask(browsers[0])
  expect((await alone(browsers[0], challenge, device.get(options))).status).toBe(200)
  expect(await ctx.db.$count(signInChallenges, eq(signInChallenges.userId, user.id))).toBe(1)
})

test('a challenge is good for ten minutes, in its browser, for its purpose', async () => {
  const { add, newBrowser, ask, alone, start, finish, call, confirming, clock, isIn, signIn, second } = await setup()
  const { device } = await add()
  const browser = await newBrowser()
  const thief = await newBrowser()
  const mine = await ask(browser)
  expect((await alone(thief, mine.challenge, device.get(mine.options))).body.code).toBe('unauthenticated')
  const late = await ask(browser)
  clock.ms += 10 * MINUTES
  expect((await alone(browser, late.challenge, device.get(late.options))).body.code).toBe('unauthenticated')
  const inTime = await ask(browser)
  clock.ms += 10 * MINUTES - 1
  expect((await alone(browser, inTime.challenge, device.get(inTime.options))).status).toBe(200)
  expect(await isIn(thief)).toBe(false)

  const proof = async () => ({ passkey: device.get(await confirming()) })
  const { options } = (await start(await proof())).body
  clock.ms += 10 * MINUTES
  expect((await finish(newPasskeyDevice().create(options))).body).toMatchObject({
    code: 'conflict',
    error: PASSKEY_OVER,
  })
  // One for signing in, or for adding, confirms nothing.
  const rotate = (passkey: object) => call('POST', '/webhooks/whk_x/secret', { passkey })
  const signingIn = await ask(browser)
  expect((await rotate(device.get(signingIn.options))).body.error).toBe(PASSKEY_WRONG)
  const adding = (await start(await proof())).body.options
  expect((await rotate(device.get(adding))).body.error).toBe(PASSKEY_WRONG)
  expect((await rotate(device.get(await confirming()))).status).toBe(404)
  const { challenge, passkey } = (await signIn(thief)).body
  expect((await second(thief, challenge, { passkey: device.get(await confirming()) })).status).toBe(401)
  clock.ms += 10 * MINUTES
  expect((await second(thief, challenge, { passkey: device.get(passkey) })).body.error).toBe(CHALLENGE_OVER)
})

test('a counter that goes back, or stands still, is a copy: refused, with an email; devices that do not count may', async () => {
  const { add, newBrowser, ask, alone, signIn, second, subjects, rows, confirming, call, clock } = await setup()
  const { device, recoveryCodes: codes } = await add()
  const browser = await newBrowser()
  const use = async (counter: number) => {
    const { challenge, options } = await ask(browser)
    return alone(browser, challenge, device.get(options, { counter }))
  }
  expect((await use(0)).status).toBe(200)
  expect((await use(0)).status).toBe(200)
  expect((await use(7)).status).toBe(200)
  const alarms = async () => (await subjects()).filter((one) => one === 'We refused one of your passkeys').length
  expect(await alarms()).toBe(0)
  expect((await use(7)).body).toMatchObject({ code: 'invalid_code', error: PASSKEY_COPIED })
  expect(await rows()).toMatchObject([{ counter: 7 }])
  const { challenge, passkey } = (await signIn(browser)).body
  const answer = device.get(passkey, { counter: 7 })
  for (let i = 0; i < 2; i++)
    expect((await second(browser, challenge, { passkey: answer })).body.error).toBe(PASSKEY_COPIED)
  // One email for one answer, however often it is sent.
  expect(await alarms()).toBe(2)
  for (const counter of [6, 0]) expect((await use(counter)).body.error).toBe(PASSKEY_COPIED)
  // Three a day.
  expect(await alarms()).toBe(3)
  const copy = { passkey: device.get(await confirming(), { counter: 1 }) }
  expect((await call('POST', '/webhooks/whk_x/secret', copy)).body.error).toBe(PASSKEY_COPIED)
  expect((await second(browser, challenge, { recovery: codes[0] })).status).toBe(200)
  clock.ms += 24 * 60 * MINUTES
  expect((await use(6)).body.error).toBe(PASSKEY_COPIED)
  expect(await alarms()).toBe(4)
})

test('an answer that waited in a form while the passkey was used elsewhere is refused, but is no copy', async () => {
  const { add, newBrowser, ask, alone, confirming, call, subjects, clock } = await setup()
  const { device } = await add()
  const early = { passkey: device.get(await confirming()) }
  clock.ms += MINUTES
  const browser = await newBrowser()
  const { challenge, options } = await ask(browser)
  expect((await alone(browser, challenge, device.get(options))).status).toBe(200)
  expect((await call('POST', '/webhooks/whk_x/secret', early)).body.error).toBe(PASSKEY_WRONG)
  expect((await subjects()).filter((one) => /refused/.test(one))).toEqual([])
})

test('keeps nothing for who only opens the sign-in page, and each answer until it has expired', async () => {
  const { add, newBrowser, ask, alone, ctx, clock } = await setup()
  const { device } = await add()
  const all = await ctx.db.$count(passkeyChallenges)
  const browser = await newBrowser()
  const { challenge, options } = await ask(browser)
  expect(await ctx.db.$count(passkeyChallenges)).toBe(all)
  const answer = device.get(options)
  expect((await alone(browser, challenge, answer)).status).toBe(200)
  clock.ms += 10 * MINUTES - 1
  await forgetTraces(ctx)
  // Neither as it was sent nor in another spelling of its bytes.
  for (const again of [challenge, `${challenge}=`, `${challenge} `])
    expect((await alone(browser, again, answer)).body.error).toBe(PASSKEY_OVER)
  const kept = eq(passkeyChallenges.hash, hashOf(challenge))
  expect(await ctx.db.$count(passkeyChallenges, kept)).toBe(1)
  clock.ms += 2
  await forgetTraces(ctx)
  expect(await ctx.db.$count(passkeyChallenges, kept)).toBe(0)
  // One that we didn't sign, or signed for a longer time.
  const forged = Buffer.from(challenge, 'base64url')
  forged.writeUIntBE(clock.ms + 1, 16, 6)
  for (const made of [forged.toString('base64url'), '', 'x', Buffer.alloc(54).toString('base64url')])
    expect((await alone(browser, made, device.get({ challenge: made }))).body.error).toBe(PASSKEY_OVER)
})

test('of two sign-ins with one answer at once, one gets in', async () => {
  const { add, newBrowser, ask, alone, signIn, second, ctx, user } = await setup()
  const { device } = await add()
  const count = () => ctx.db.$count(signIns, and(eq(signIns.userId, user.id), isNull(signIns.revokedAt)))
  for (const counter of [0, 1]) {
    const browser = await newBrowser()
    const before = await count()
    const { challenge, options } = await ask(browser)
    const answer = device.get(options, { counter })
    const both = await Promise.all([1, 2].map(() => alone(browser, challenge, answer)))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
    expect(await count()).toBe(before + 1)
  }
  // A copy that says the same number, in the same moment.
  const copies = await Promise.all(
    [1, 2].map(async () => {
      const browser = await newBrowser()
      return { browser, ...(await ask(browser)) }
    }),
  )
  const entered = await Promise.all(
    copies.map(({ browser, challenge, options }) => alone(browser, challenge, device.get(options, { counter: 2 }))),
  )
  expect(entered.map(({ status }) => status).sort()).toEqual([200, 401])
  const phone = await newBrowser()
  const asked = (await signIn(phone)).body
  const answer = device.get(asked.passkey, { counter: 3 })
  const both = await Promise.all([1, 2].map(() => second(phone, asked.challenge, { passkey: answer })))
  expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
})

test('confirms each act once, in place of a code', async () => {
  const { add, call, confirming, send, newBrowser, ctx, user, browser, me } = await setup()
  const { device } = await add()
  const make = (name: string, proof: object) => call('POST', '/api_tokens', { name, scope: 'read', days: 1, ...proof })
  expect((await make('A', {})).body).toMatchObject({ code: 'second_factor_required', error: FACTOR_REQUIRED })
  const passkey = device.get(await confirming())
  expect((await make('A', { passkey, current_password: 'wrong' })).body.error).toBe(CURRENT_PASSWORD_WRONG)
  expect((await make('A', { passkey })).status).toBe(201)
  expect((await make('B', { passkey })).body.error).toBe(PASSKEY_WRONG)
  // Two at once, also of a device that doesn't count.
  for (const counter of [9, 0]) {
    if (!counter) await ctx.db.update(passkeys).set({ counter }).where(eq(passkeys.userId, user.id))
    const twice = device.get(await confirming(), { counter })
    const both = await Promise.all(['C', 'D'].map((name) => make(name + counter, { passkey: twice })))
    expect(both.map(({ status }) => status).sort()).toEqual([201, 401])
  }
  // A challenge that another browser of the same person got.
  const phone = await newBrowser()
  const asked = (await send(phone, '/users/sign_in/passkey/options')).body
  expect(
    (await send(phone, '/users/sign_in/passkey', { challenge: asked.challenge, response: device.get(asked.options) }))
      .status,
  ).toBe(200)
  const theirs = (await send(phone, '/account_security/passkeys/confirm')).body.options
  expect((await make('E', { passkey: device.get(theirs) })).body.error).toBe(PASSKEY_WRONG)
  // One that the person before them got in the same browser.
  const before = await confirming()
  await browser.json('DELETE', '/users/sign_out')
  await browser.open('/sign_in')
  const email = newAddress()
  await ctx.db.insert(users).values({ ...(await me()), id: `user_${email}`, email })
  expect((await send(browser, '/users/sign_in', { user: { email, password: PASSWORD } })).status).toBe(200)
  const { device: own } = await add()
  expect((await make('F', { passkey: own.get(before) })).body.error).toBe(PASSKEY_WRONG)
  expect((await make('F', { passkey: own.get(await confirming()) })).status).toBe(201)
})

test('what happens while a passkey is being added counts: a sign-in that ended, a factor that came', async () => {
  const { start, finish, ctx, user, clock, rows } = await setup()
  const write = ctx.db.$client.batch
  /** Between the checks and the write. */
  const during = async (table: string, happens: () => Promise<unknown>, act: () => ReturnType<typeof finish>) => {
    let done = false
    ctx.db.$client.batch = async function batch(...given) {
      if (!done && JSON.stringify(given).includes(`INSERT INTO ${table}`)) {
        done = true
        await happens()
      }
      return write.apply(this, given)
    }
    const { body } = await act().finally(() => {
      ctx.db.$client.batch = write
    })
    return [done, body.code]
  }
  const { options } = (await start()).body
  const mine = eq(signIns.userId, user.id)
  const end = () => ctx.db.update(signIns).set({ revokedAt: clock.ms }).where(mine)
  expect(await during('passkeys', end, () => finish(newPasskeyDevice().create(options)))).toEqual([true, 'conflict'])
  await ctx.db.update(signIns).set({ revokedAt: null }).where(mine)
  const totp = { userId: user.id, sealed: 'x', createdAt: 1, confirmedAt: 1, signInId: 'none' }
  const come = () => ctx.db.insert(totps).values(totp)
  expect(await during('passkey_challenges', come, start)).toEqual([true, 'invalid'])
  expect(await rows()).toEqual([])
})

test('a form sends it as a text, and shows neither it nor the answer of a new passkey again', async () => {
  const { add, browser, confirming, user } = await setup()
  const { device } = await add()
  await browser.open('/settings/developers')
  const made = await browser.form('/webhooks', {
    current_password: PASSWORD,
    url: 'https://ci.example.com/x',
    'events[server.running]': '1',
    passkey: JSON.stringify(device.get(await confirming())),
  })
  expect(made.status).toBe(201)
  await browser.open('/settings/developers')
  const wrong = {
    current_password: PASSWORD,
    url: 'https://ci.example.com/y',
    'events[server.running]': '1',
    passkey: '{"id":"not one"}',
  }
  expect((await browser.form('/webhooks', wrong)).status).toBe(303)
  const shown = await (await browser.request('/settings/developers')).text()
  expect(shown).toContain(PASSKEY_WRONG.replaceAll("'", '&#x27;'))
  expect(shown).not.toContain('not one')
  for (const passkey of ['', 'null', '[]', '{', '"x"']) {
    await browser.form('/webhooks', { ...wrong, passkey })
    expect((await browser.open('/settings/developers')).flash).toMatchObject({ code: 'second_factor_required' })
  }
  // Without script, a passkey can't be added.
  await browser.form('/account_security/passkeys', { name: 'Key' })
  expect((await browser.open('/account_security')).flash?.message).toBe(PASSKEY_NEEDS_SCRIPT)
  expect(user.email).toContain('@')
})

test('the first factor brings the codes and ends other sign-ins and what began without it; a second one does neither', async () => {
  const { newBrowser, signIn, send, start, finish, add, browser, call, confirming, isIn, ctx, user, subjects } =
    await setup()
  const thief = await newBrowser()
  await signIn(thief)
  expect(await isIn(thief)).toBe(true)
  const copy = await newBrowser()
  copy.cookies.set('sign_in', browser.cookies.get('sign_in') ?? '')
  expect(await isIn(copy)).toBe(true)
  const begun = (await start()).body.options
  expect((await call('POST', '/account_security/totp')).status).toBe(200)
  const { device, recoveryCodes: codes } = await add()
  expect([codes.length, await isIn(thief), await isIn(copy), await isIn(browser)]).toEqual([10, false, false, true])
  expect((await finish(newPasskeyDevice().create(begun))).body.error).toBe(PASSKEY_OVER)
  expect(await ctx.db.$count(totps, eq(totps.userId, user.id))).toBe(0)

  const phone = await newBrowser()
  const { challenge, passkey } = (await signIn(phone)).body
  await send(phone, '/users/sign_in/second_factor', { challenge, passkey: device.get(passkey) })
  expect((await start()).body.code).toBe('second_factor_required')
  const next = await add(newPasskeyDevice(), { name: 'Other', recovery: codes[0] })
  expect([next.recoveryCodes, await isIn(phone)]).toEqual([[], true])
  const app = await call('POST', '/account_security/totp', { passkey: device.get(await confirming()) })
  expect(app.status).toBe(200)
  expect((await subjects()).filter((one) => one === 'Your account has a new passkey')).toHaveLength(2)
  expect(await ctx.db.$count(recoveryCodes, eq(recoveryCodes.userId, user.id))).toBe(10)
})

test('a passkey that a thief added outlives no new password by itself, nor stops an operator', async () => {
  const { add, ask, alone, newBrowser, signIn, send, subjects, sent, user, isIn } = await setup()
  const { device } = await add()
  const thief = await newBrowser()
  const enter = async (from = thief) => {
    const { challenge, options } = await ask(from)
    return alone(from, challenge, device.get(options, { verifies: true }))
  }
  expect((await enter()).status).toBe(200)
  const owner = await newBrowser()
  await send(owner, '/users/password', { user: { email: user.email } })
  await subjects()
  const token = /reset_password_token=([\w-]+)/.exec(sent.findLast(({ to }) => to === user.email)?.text ?? '')?.[1]
  const password = 'a new one of the owner'
  const fields = { reset_password_token: token, password, password_confirmation: password }
  expect((await send(owner, '/users/password', { user: fields }, 'PUT')).status).toBe(200)
  expect(await isIn(thief)).toBe(false)
  expect(await enter()).toMatchObject({ status: 403, body: { error: PASSKEY_WAITS } })
  // Whoever knows the new password uses it once beside it.
  const { challenge, passkey } = (await send(owner, '/users/sign_in', { user: { email: user.email, password } })).body
  expect((await send(owner, '/users/sign_in/second_factor', { challenge, passkey: device.get(passkey) })).status).toBe(
    200,
  )
  expect((await enter(await newBrowser())).status).toBe(200)
  expect((await signIn(thief)).status).toBe(401)
})

test('with an app first, a passkey brings no codes, and removing the one leaves the other', async () => {
  const { browser, add, call, confirming, rows, ctx, user, clock } = await setup()
  const app = await addAuthenticator(browser, PASSWORD, ctx.now)
  clock.ms += 30_000
  const { device, recoveryCodes: none } = await add(newPasskeyDevice(), { totp: app.code() })
  expect(none).toEqual([])
  expect((await call('DELETE', '/account_security/totp', { passkey: device.get(await confirming()) })).status).toBe(200)
  expect(await ctx.db.$count(recoveryCodes, eq(recoveryCodes.userId, user.id))).toBe(10)
  const [row] = await rows()
  const removed = await call('DELETE', `/account_security/passkeys/${row?.id}`, { recovery: app.recoveryCodes[0] })
  expect(removed.status).toBe(200)
  expect(await ctx.db.$count(recoveryCodes, eq(recoveryCodes.userId, user.id))).toBe(0)
})

test('removing one takes the password and a factor, mails its owner, and takes the last codes along', async () => {
  const { add, call, confirming, subjects, rows, signIn, newBrowser, ask, alone } = await setup()
  const { device, id } = await add()
  const stranger = await setup()
  const theirs = await stranger.add()
  const path = `/account_security/passkeys/${id}`
  const proof = async () => ({ passkey: device.get(await confirming()) })
  expect((await call('DELETE', path)).body.code).toBe('second_factor_required')
  expect((await call('DELETE', path, { ...(await proof()), current_password: 'wrong' })).status).toBe(422)
  const unspent = await proof()
  expect((await call('DELETE', `/account_security/passkeys/${theirs.id}`, unspent)).status).toBe(404)
  expect((await call('DELETE', '/account_security/totp', unspent)).status).toBe(404)
  expect(await stranger.rows()).toHaveLength(1)
  // Nothing was removed, so it still counts.
  expect((await call('DELETE', path, unspent)).status).toBe(200)
  expect(await rows()).toEqual([])
  expect((await subjects()).at(-1)).toBe('A passkey was removed')
  expect((await call('DELETE', path)).status).toBe(404)
  const browser = await newBrowser()
  const { challenge, options } = await ask(browser)
  expect((await alone(browser, challenge, device.get(options))).body.error).toBe(PASSKEY_WRONG)
  expect((await signIn(browser)).status).toBe(200)
})

test('refuses a passkey that is somebody’s, one too many, a bad name, and a key made elsewhere', async () => {
  const { add, start, finish, ctx, user, confirming, send, browser } = await setup()
  const { options: first } = (await start()).body
  const device = newPasskeyDevice()
  for (const [response, code] of [
    [device.create(first, { origin: 'https://evil.example' }), 'invalid_code'],
    [device.create(first, { rpId: 'example.com' }), 'invalid_code'],
    [device.create(first, { type: 'webauthn.get' }), 'invalid_code'],
    [device.create({ ...first, challenge: 'guessed' }), 'conflict'],
    [{}, 'invalid_code'],
  ] as const)
    expect((await finish(response)).body.code).toBe(code)
  // A key that could never sign in would lock its owner out.
  const [x, y] = ['01'.repeat(32), '02'.repeat(32)]
  const [px, py] = pointOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }))
  const [p384x, p384y] = pointOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }))
  const [ed] = pointOf(generateKeyPairSync('ed25519'))
  for (const key of [
    '',
    `a5010203262001215820${x}225820${y}`, // not on its curve
    `a50102032620012105225820${y}`, // a number for x
    `a4010103272007215839${'01'.repeat(57)}`, // EdDSA on Ed448
    `a5010203272001215820${px}225820${py}`, // EdDSA on P-256
    `a5010203262002215830${p384x}225830${p384y}`, // ES256 on P-384
    `a4010103262006215820${ed}`, // ES256 on Ed25519
    'a401030339fffe20430100012143010001', // RS1
  ])
    expect((await finish(newPasskeyDevice().create(first, { key }))).body.error, key).toBe(PASSKEY_WRONG)
  expect((await finish(newPasskeyDevice({ idBytes: 1024 }).create(first))).body.error).toBe(PASSKEY_WRONG)
  expect((await finish(device.create(first), '')).body.code).toBe('invalid')
  expect((await finish(device.create(first), 'x'.repeat(51))).body.code).toBe('invalid')
  expect((await send(browser, '/account_security/passkeys', { name: 'Key' })).body.error).toBe(PASSKEY_NEEDS_SCRIPT)
  const { device: own } = await add(device)
  const stranger = await setup()
  const { options } = (await stranger.start()).body
  expect((await stranger.finish(own.create(options))).body.error).toBe(PASSKEY_TAKEN)
  const [row] = await ctx.db.select().from(passkeys).where(eq(passkeys.userId, user.id))
  if (!row) throw new Error('no passkey')
  const proof = async () => ({ passkey: own.get(await confirming()) })
  // `create` has overwritten whose it is.
  own.create({ challenge: '', user: { id: Buffer.from(user.id).toString('base64url') } })
  const open = (await start(await proof())).body.options
  expect(open.excludeCredentials).toMatchObject([{ id: own.id }])
  for (let i = 1; i < 20; i++)
    await ctx.db.insert(passkeys).values({ ...row, id: `pky_${user.id}${i}`, credentialId: `c${user.id}${i}` })
  expect((await finish(newPasskeyDevice().create(open))).body.error).toBe(TOO_MANY_PASSKEYS)
  expect((await start(await proof())).body.error).toBe(TOO_MANY_PASSKEYS)
})

test('takes each kind of key that we ask for', async () => {
  const [ed] = pointOf(generateKeyPairSync('ed25519'))
  const { n = '' } = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' })
  const modulus = Buffer.from(n, 'base64url').toString('hex')
  for (const key of [`a4010103272006215820${ed}`, `a401030339010020590100${modulus}2143010001`]) {
    const { start, finish } = await setup()
    const { options } = (await start()).body
    expect((await finish(newPasskeyDevice().create(options, { key }))).status, key).toBe(201)
  }
})

test('signs in no closed and no unconfirmed account, and ends what a new password ends', async () => {
  const { add, newBrowser, ask, alone, call, confirming, signIn, second, ctx, user, rows, start, finish } =
    await setup()
  const { device } = await add()
  const browser = await newBrowser()
  const tryIn = async () => {
    const { challenge, options } = await ask(browser)
    return alone(browser, challenge, device.get(options))
  }
  await ctx.db.update(users).set({ confirmedAt: null }).where(eq(users.id, user.id))
  expect((await tryIn()).body).toMatchObject({ code: 'forbidden', error: NOT_CONFIRMED })
  await ctx.db.update(users).set({ confirmedAt: 1, suspendedAt: 1 }).where(eq(users.id, user.id))
  expect((await tryIn()).status).toBe(200)
  const proof = async () => ({ passkey: device.get(await confirming()) })
  const asked = (await signIn(browser)).body
  const adding = (await start(await proof())).body.options
  const next = { password: 'another horse 10', password_confirmation: 'another horse 10' }
  const changed = await call('PUT', '/users', { user: { current_password: PASSWORD, ...(await proof()), ...next } })
  expect(changed.status).toBe(200)
  expect((await second(browser, asked.challenge, { passkey: device.get(asked.passkey) })).body.error).toBe(
    CHALLENGE_OVER,
  )
  expect((await finish(newPasskeyDevice().create(adding))).body.error).toBe(PASSKEY_OVER)
  expect((await tryIn()).status).toBe(200)
  const close = { user: { current_password: next.password, ...(await proof()) } }
  expect((await call('DELETE', '/users', close)).status).toBe(200)
  expect(await rows()).toEqual([])
  expect(await ctx.db.$count(passkeyChallenges, eq(passkeyChallenges.userId, user.id))).toBe(0)
  expect((await tryIn()).body.error).toBe(PASSKEY_WRONG)
})

test('the export lists them, without their keys', async () => {
  const { add, browser, rows } = await setup()
  const { device } = await add()
  const data = await (await browser.request('/api/v1/users/export')).text()
  const [row] = await rows()
  expect(JSON.parse(data).second_factors.passkeys).toEqual([
    { id: row?.id, name: 'My key', added_at: expect.any(String), last_used_at: null },
  ])
  for (const secret of [device.id, row?.publicKey]) expect(data).not.toContain(secret)
})

test("a passkey's certificates decide nothing: we drop them unread", async () => {
  const { start, finish } = await setup()
  const { options } = (await start()).body
  // alg -7, a signature and a certificate of one byte each.
  const attestation = { fmt: 'packed', statement: 'a363616c672663736967410063783563814100' }
  expect((await finish(newPasskeyDevice().create(options, { attestation }))).status).toBe(201)
})

test("signing in with it ends an operator's removal of it, and so does removing it", async () => {
  const { add, newBrowser, ask, alone, call, confirming, ctx, user, subjects } = await setup()
  const { device, id } = await add()
  const lost = () =>
    ctx.db.insert(factorRemovals).values({ userId: user.id, actor: 'script', reason: 'lost', dueAt: ctx.now() + 1 })
  const waiting = () => ctx.db.$count(factorRemovals, eq(factorRemovals.userId, user.id))
  await lost()
  const browser = await newBrowser()
  const { challenge, options } = await ask(browser)
  expect((await alone(browser, challenge, device.get(options, { verifies: false }))).status).toBe(401)
  expect(await waiting()).toBe(1)
  const again = await ask(browser)
  expect((await alone(browser, again.challenge, device.get(again.options))).status).toBe(200)
  expect(await waiting()).toBe(0)
  expect((await subjects()).length).toBeGreaterThan(1)
  await lost()
  const passkey = device.get(await confirming())
  expect((await call('DELETE', `/account_security/passkeys/${id}`, { passkey })).status).toBe(200)
  expect(await waiting()).toBe(0)
})
