import { randomBytes } from 'node:crypto'
import { SignJWT, UnsecuredJWT } from 'jose'
import { expect, test } from 'vitest'
import { issueSignInToken, readSignInToken } from '../../../../src/server/accounts/credentials/sign-in-token.ts'
import { deriveKeys } from '../../../../src/server/crypto/keys.ts'

const OLD = 'the-old-secret-of-thirty-two-characters'
const NEW = 'the-new-secret-of-thirty-two-characters'
const NOW = 1_800_000_000_000
const context = (secretKey: string, now = NOW) =>
  ({ now: () => now, config: { secretKey } }) as Parameters<typeof issueSignInToken>[0]
const row = { id: 'in_1', expiresAt: NOW + 60_000 }
const [{ id: kid, key }] = deriveKeys(OLD, 'sign-in')

const good = { alg: 'HS256', typ: 'sign-in+jwt', kid }
const claims = { iss: 'proving-ground', aud: 'proving-ground/site', jti: 'in_1', iat: NOW / 1000, exp: NOW / 1000 + 60 }

const sign = (header: object, payload: object, with_: Uint8Array = key) =>
  new SignJWT(payload as never).setProtectedHeader(header as never).sign(with_)

const without = (name: keyof typeof claims) => Object.fromEntries(Object.entries(claims).filter(([k]) => k !== name))

test('reads our own token', async () => {
  expect(await readSignInToken(context(OLD), await sign(good, claims))).toBe('in_1')
  expect(await readSignInToken(context(OLD), await issueSignInToken(context(OLD), row))).toBe('in_1')
})

test.each<[string, () => string | Promise<string>]>([
  ['nothing', () => ''],
  ['not a JWT', () => 'a.b.c'],
  ['alg none', () => new UnsecuredJWT(claims).encode()],
  [
    'alg none with our header',
    () =>
      `${Buffer.from(JSON.stringify({ ...good, alg: 'none' })).toString('base64url')}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`,
  ],
  ['another HMAC', () => sign({ ...good, alg: 'HS512' }, claims)],
  ["someone else's key", () => sign(good, claims, randomBytes(32))],
  ['the key of another purpose', () => sign(good, claims, deriveKeys(OLD, 'csrf')[0].key)],
  ['the secret itself as key', () => sign(good, claims, new TextEncoder().encode(OLD))],
  ['an unknown key id', () => sign({ ...good, kid: 'other' }, claims)],
  ['no key id', () => sign({ alg: 'HS256', typ: good.typ }, claims)],
  ['a key id that is a path', () => sign({ ...good, kid: '../../dev/null' }, claims, new Uint8Array(32))],
  ['an embedded key', () => sign({ ...good, kid: 'x', jwk: { kty: 'oct', k: 'AAAA' } }, claims, new Uint8Array(3))],
  ['another type', () => sign({ ...good, typ: 'JWT' }, claims)],
  ['no type', () => sign({ alg: 'HS256', kid }, claims)],
  ['another issuer', () => sign(good, { ...claims, iss: 'evil' })],
  ['another audience', () => sign(good, { ...claims, aud: 'proving-ground/mail' })],
  ['no audience', () => sign(good, without('aud'))],
  ['no id', () => sign(good, without('jti'))],
  ['no expiry', () => sign(good, without('exp'))],
  ['an expiry in the past', () => sign(good, { ...claims, exp: NOW / 1000 })],
  ['a critical extension', () => sign({ ...good, crit: ['x'], x: 1 }, claims).catch(() => 'unsignable')],
  [
    'a changed payload',
    async () => {
      const [head, , mac] = (await sign(good, claims)).split('.')
      return `${head}.${Buffer.from(JSON.stringify({ ...claims, jti: 'in_2' })).toString('base64url')}.${mac}`
    },
  ],
  ['a truncated signature', async () => (await sign(good, claims)).slice(0, -2)],
])('refuses %s', async (_, token) => {
  expect(await readSignInToken(context(OLD), await token())).toBeNull()
})

test('rotation: an old key is accepted while it is listed, and the new one signs', async () => {
  const old = await issueSignInToken(context(OLD), row)
  const both = context(`${NEW},${OLD}`)
  expect(await readSignInToken(both, old)).toBe('in_1')
  const fresh = await issueSignInToken(both, row)
  expect(await readSignInToken(context(NEW), fresh)).toBe('in_1')
  expect(await readSignInToken(context(NEW), old)).toBeNull()
  expect(await readSignInToken(context(OLD), fresh)).toBeNull()
})
