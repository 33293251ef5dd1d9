import fc from 'fast-check'
import { expect, test } from 'vitest'
import { normalEmail } from '../../src/domain/person.ts'

test('an address is the same however its letters are cased and composed', () => {
  // A capital letter that exists only in two parts, its small one also in one.
  const spellings = ['J\u030c', 'j\u030c', '\u01f0'].map((letter) => normalEmail(` ${letter}an@Example.com`))
  expect(new Set(spellings).size).toBe(1)
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const once = normalEmail(text)
      expect(normalEmail(once)).toBe(once)
    }),
  )
})
