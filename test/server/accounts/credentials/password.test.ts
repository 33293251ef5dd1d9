import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { COMMON_PASSWORDS } from '../../../../src/server/accounts/credentials/common-passwords.ts'
import { hashPassword, needsRehash, verifyPassword } from '../../../../src/server/accounts/credentials/password.ts'
import { refuseCommonPassword } from '../../../../src/server/accounts/credentials/password-rule.ts'
import { deriveKey, HashQueue } from '../../../../src/server/accounts/credentials/scrypt.ts'
import type { HasherCalls } from '../../../../src/server/ports/objects.ts'
import { quickHasher } from '../../../../testing/stack/quick-hasher.ts'

const peppered = { hasher: { derive: deriveKey }, config: { passwordPepper: 'pepper' } }

/** Which passwords match doesn't depend on how hard the hash is. */
test('a password matches its own hash and no other, and only with the pepper', async () => {
  const quick = { ...peppered, hasher: quickHasher }
  const otherwise = { hasher: quickHasher, config: { passwordPepper: 'salt' } }
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', minLength: 6, maxLength: 128 }),
      fc.string(),
      async (password, other) => {
        const stored = await hashPassword(quick, password)
        expect(await verifyPassword(quick, password, stored)).toBe(true)
        expect(await verifyPassword(quick, password.normalize('NFD'), stored)).toBe(true)
        expect(await verifyPassword(quick, other, stored)).toBe(other.normalize('NFC') === password.normalize('NFC'))
        expect(await verifyPassword(otherwise, password, stored)).toBe(false)
      },
    ),
  )
})

test('a hash names its own cost, so an old one is recognized', async () => {
  const stored = await hashPassword(peppered, 'a good long password')
  expect(stored).toMatch(/^scrypt\$16384\$8\$5\$[\w-]{22}\$[\w-]{43}\$[\w-]{8}$/)
  expect(stored).not.toBe(await hashPassword(peppered, 'a good long password'))
  expect(needsRehash(peppered, stored)).toBe(false)
  expect(needsRehash(peppered, stored.replace('16384', '8192'))).toBe(true)
  expect(await verifyPassword(peppered, 'a good long password', stored)).toBe(true)
  expect(await verifyPassword(peppered, 'a good long passwort', stored)).toBe(false)
  // To its last character.
  const quick = { ...peppered, hasher: quickHasher }
  const longest = await hashPassword(quick, `${'🛰'.repeat(127)}x`)
  expect(await verifyPassword(quick, `${'🛰'.repeat(127)}y`, longest)).toBe(false)
})

test('a hash stored by an earlier version still matches', async () => {
  expect(await verifyPassword(peppered, 'simulate', EARLIER)).toBe(true)
  expect(await verifyPassword(peppered, 'Simulate', EARLIER)).toBe(false)
  expect(needsRehash(peppered, EARLIER)).toBe(false)
})

const EARLIER = 'scrypt$16384$8$5$VrnW0qkQMDFoYWup29U_YA$SZvoOtZ_M45YWD93UXfdRWgh7zUSOE2rohhXGZ0rtao'

test('while the pepper is rotated, old and new hashes match, each at the cost of one, and old ones are replaced', async () => {
  let hashes = 0
  const counting = {
    derive: (work: Parameters<typeof deriveKey>[0]) => {
      hashes++
      return quickHasher.derive(work)
    },
  }
  const within = (passwordPepper: string) => ({ hasher: counting, config: { passwordPepper } })
  const first = await hashPassword(within('pepper'), 'simulate')
  const unnamed = first.split('$').slice(0, -1).join('$')
  const second = await hashPassword(within('newer,pepper'), 'simulate')
  hashes = 0
  for (const stored of [unnamed, first, second]) {
    expect(await verifyPassword(within('newest,newer,pepper'), 'simulate', stored)).toBe(true)
    expect(await verifyPassword(within('newest,newer,pepper'), 'simulated', stored)).toBe(false)
  }
  expect(await verifyPassword(within('newer,pepper'), 'simulate', null)).toBe(false)
  expect(hashes).toBe(7)
  expect([unnamed, first, second].map((stored) => needsRehash(within('newer,pepper'), stored))).toEqual([
    true,
    true,
    false,
  ])
  // The old pepper is gone: only new hashes match.
  expect(await verifyPassword(within('newer'), 'simulate', first)).toBe(false)
  expect(await verifyPassword(within('newer'), 'simulate', unnamed)).toBe(false)
  expect(await verifyPassword(within('newer'), 'simulate', second)).toBe(true)
})

test('work sent to a hasher contains neither the password nor the pepper', async () => {
  const sent: string[] = []
  const spy: HasherCalls = {
    derive(work) {
      sent.push(Buffer.from(work.secret).toString('latin1'), Buffer.from(work.salt).toString('latin1'))
      return deriveKey(work)
    },
  }
  await hashPassword({ hasher: spy, config: { passwordPepper: 'pepper' } }, 'a good long password')
  expect(sent.map((text) => text.length)).toEqual([32, 16])
  expect(sent.join()).not.toMatch(/password|pepper/)
})

test('a hasher runs one hash at a time, in order, and refuses what exceeds its queue', async () => {
  const [begun, running] = [[] as number[], { now: 0, most: 0 }]
  const queue = new HashQueue(async (work) => {
    begun.push(work.secret[0] as number)
    running.most = Math.max(running.most, ++running.now)
    await new Promise((done) => setImmediate(done))
    running.now--
    if (work.secret[0] === 2) throw new Error('no memory')
    return work.secret
  })
  const ask = (i: number) =>
    queue.derive({ secret: new Uint8Array([i]), salt: new Uint8Array(16), cost: { N: 2, r: 1, p: 1 } })
  const answers = await Promise.allSettled(Array.from({ length: 9 }, (_, i) => ask(i)))
  expect(
    answers.map((answer) => (answer.status === 'fulfilled' ? (answer.value?.[0] ?? 'refused') : 'failed')),
  ).toEqual([0, 1, 'failed', 3, 4, 5, 'refused', 'refused', 'refused'])
  expect(begun).toEqual([0, 1, 2, 3, 4, 5])
  expect(running.most).toBe(1)
  // There is room again, even after a failure.
  expect(await ask(7)).toEqual(new Uint8Array([7]))
})

test('when too many wait, the person learns when to try again', async () => {
  const full = { hasher: { derive: async () => null }, config: { passwordPepper: 'pepper' } }
  await expect(hashPassword(full, 'a good long password')).rejects.toMatchObject({
    code: 'unavailable',
    message: "We're handling a lot of requests right now. Please try again in a moment.",
    retryAfter: 5,
  })
})

test('refuses the 3,000 most common passwords, in any capitalization', async () => {
  const words = [...COMMON_PASSWORDS]
  expect(words).toHaveLength(3_000)
  for (const word of words) {
    expect(word.length).toBeGreaterThanOrEqual(6)
    await expect(refuseCommonPassword(word.toUpperCase())).rejects.toThrow('too common')
  }
  for (const fine of ['simulate well', 'correct horse 9', '123', '']) await refuseCommonPassword(fine)
})

test('refuses our own words, with some digits and signs around them', async () => {
  for (const word of ['Proving-Ground', 'proving_ground!', '1Simulate2', 'DRONES2026', 'drone123456'])
    await expect(refuseCommonPassword(word), word).rejects.toThrow('too common')
  // docs/security.md lists them all.
  const [, listed = ''] = /^\| 6\.1\.2 \|[^|]*\|[^|]*\|([^|]*)\|/m.exec(readFileSync('docs/security.md', 'utf8')) ?? []
  const words = listed.split(',').flatMap((word) => {
    const [one = '', many] = word.trim().split('(s)')
    return many === undefined ? [one] : [one, `${one}s`]
  })
  expect(words).toHaveLength(12)
  for (const word of words) await expect(refuseCommonPassword(word), word).rejects.toThrow('too common')
  for (const fine of ['drone1234567', 'drone 7391 8452 1029', 'мой drone летает']) await refuseCommonPassword(fine)
})
