import fc from 'fast-check'
import { expect, test } from 'vitest'
import { COMMON_PASSWORDS } from '../../../src/server/credentials/common-passwords.ts'
import { hashPassword, needsRehash, verifyPassword } from '../../../src/server/credentials/password.ts'
import { refuseCommonPassword } from '../../../src/server/credentials/password-rule.ts'

test('a password opens its own hash and no other does; the pepper counts', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', minLength: 6, maxLength: 128 }),
      fc.string(),
      async (password, other) => {
        const stored = await hashPassword(password, 'pepper')
        expect(await verifyPassword(password, 'pepper', stored)).toBe(true)
        expect(await verifyPassword(password.normalize('NFD'), 'pepper', stored)).toBe(true)
        expect(await verifyPassword(other, 'pepper', stored)).toBe(other.normalize('NFC') === password.normalize('NFC'))
        expect(await verifyPassword(password, 'salt', stored)).toBe(false)
      },
    ),
    { numRuns: 5 },
  )
})

test('the hash names its own cost, and an old one is told from today’s', async () => {
  const stored = await hashPassword('a good long password', 'pepper')
  expect(stored).toMatch(/^scrypt\$16384\$8\$5\$[\w-]{22}\$[\w-]{43}$/)
  expect(stored).not.toBe(await hashPassword('a good long password', 'pepper'))
  expect(needsRehash(stored)).toBe(false)
  expect(needsRehash(stored.replace('16384', '8192'))).toBe(true)
})

test('the 3,000 most common passwords are refused, however they are capitalised', () => {
  const words = [...COMMON_PASSWORDS]
  expect(words).toHaveLength(3_000)
  for (const word of words) {
    expect(word.length).toBeGreaterThanOrEqual(6)
    expect(() => refuseCommonPassword(word.toUpperCase())).toThrow('too common')
  }
  for (const fine of ['simulate', 'correct horse 9', '']) expect(() => refuseCommonPassword(fine)).not.toThrow()
})
