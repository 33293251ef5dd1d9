import fc from 'fast-check'
import { expect, test } from 'vitest'
import { composed, directionOf, normalEmail, normalName } from '../../src/domain/person.ts'

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

test('letters are composed up to what any rule lets in; composing thousands of accents would hold up everybody', () => {
  expect(composed('u\u0308'.repeat(100))).toBe('ü'.repeat(100))
  const flood = `a${'\u0308\u0323'.repeat(30_000)}`
  expect(composed(flood)).toBe(flood)
  expect(normalName(flood).length).toBe(flood.length)
})

test('a greeting takes its direction from the name', () => {
  expect(['ليلى', '1. דנה', '🛰 علي Smith'].map(directionOf)).toEqual(['rtl', 'rtl', 'rtl'])
  expect(['Ada', '大和', 'Smith علي', '', '2026'].map(directionOf)).toEqual(['ltr', 'ltr', 'ltr', 'ltr', 'ltr'])
})
