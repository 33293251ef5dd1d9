import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  characters,
  composed,
  directionOf,
  isEmail,
  normalEmail,
  normalName,
  usableName,
} from '../../src/domain/person.ts'

test('an address is the same however its letters are cased or composed', () => {
  // A capital letter that exists only as two code points; the lowercase one also exists as one.
  const spellings = ['J\u030c', 'j\u030c', '\u01f0'].map((letter) => normalEmail(` ${letter}an@Example.com`))
  expect(new Set(spellings).size).toBe(1)
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const once = normalEmail(text)
      expect(normalEmail(once)).toBe(once)
    }),
  )
})

test('an address is the same whether its domain is spelled in Unicode or as browsers send it', () => {
  const spellings = ['ada@bücher.example', ' Ada@BU\u0308CHER.example', 'ada@xn--bcher-kva.example']
  expect(spellings.map(normalEmail)).toEqual(Array(3).fill('ada@xn--bcher-kva.example'))
  // The part before the @ belongs to the mailbox's own server.
  expect(normalEmail('ü@bücher.example')).toBe('ü@xn--bcher-kva.example')
  // Nothing after the domain is cut off, and what the DNS can't have stays.
  for (const odd of ['ada@bücher.example/x.org', 'ada@bücher.example?.org', 'ada@bü%2fcher.org', 'ü'])
    expect(normalEmail(odd)).toBe(odd)
})

test('composes letters only up to the longest text any rule accepts, because thousands of accents would block everyone', () => {
  expect(composed('u\u0308'.repeat(100))).toBe('ü'.repeat(100))
  const flood = `a${'\u0308\u0323'.repeat(30_000)}`
  expect(composed(flood)).toBe(flood)
  expect(normalName(flood).length).toBe(flood.length)
})

test('a greeting takes its direction from the name', () => {
  expect(['ليلى', '1. דנה', '🛰 علي Smith'].map(directionOf)).toEqual(['rtl', 'rtl', 'rtl'])
  expect(['Ada', '大和', 'Smith علي', '', '2026'].map(directionOf)).toEqual(['ltr', 'ltr', 'ltr', 'ltr', 'ltr'])
})

test('composes text of exactly the maximum length, and nothing longer', () => {
  const long = `${'x'.repeat(1_022)}u\u0308`
  expect(composed(long)).toBe(`${'x'.repeat(1_022)}ü`)
  expect(composed(`x${long}`)).toBe(`x${long}`)
})

test('trims a name, and treats an invisible one as empty', () => {
  expect(normalName(' \u3000Ada  B\n')).toBe('Ada  B')
  expect(normalName('u\u0308')).toBe('ü')
  expect(['', ' ', '\u200b', '\u0301', '\u200b \u200d', '\ufeff', '\u200e\u00a0\u0301\u200f'].map(normalName)).toEqual(
    Array(7).fill(''),
  )
  expect(['\u200bA', '7', '大', '🛰'].map(normalName)).toEqual(['\u200bA', '7', '大', '🛰'])
})

test('refuses a name that would change how the text after it is displayed', () => {
  expect(
    ['Ada', ' Ada\n', 'ليلى', '🛰', 'A\u200dB', 'A\u2027B', 'A\u202fB', 'A\u2065B', 'A\u206aB'].every(usableName),
  ).toBe(true)
  const refused = [
    'A\nB',
    'A\u0000',
    '\u007fA',
    'A\ud800',
    'A\u2028B',
    'A\u202eB',
    'A\u2066B',
    'A\u2069B',
    'A\u0085B',
    '\udc00A',
  ]
  expect(refused.filter(usableName)).toEqual([])
})

test('counts characters as people do', () => {
  expect(['', 'a', 'é', '🛰🛰'].map(characters)).toEqual([0, 1, 1, 2])
})

test('trims an address and lowercases it', () => {
  expect(normalEmail(' Ada@Example.COM\n')).toBe('ada@example.com')
})

test.each([
  'a@b.c',
  ' Ada.Smith+drones@sub.Example.co.uk ',
  "o'hara@example.com",
  'ada@müller.de',
  '大和@例え.jp',
  '1@2.c3',
  `${'a'.repeat(64)}@${'b'.repeat(63)}.com`,
  `ada@${'ü'.repeat(50)}.de`,
  'a.-b-@b--c.example',
])('%j is an address', (address) => {
  expect(isEmail(address)).toBe(true)
})

test.each([
  '',
  'ada',
  '@example.com',
  'ada@',
  'ada@example',
  'ada@.com',
  'ada@example.',
  'ada@b@example.com',
  'ada@example.com, eve@example.com',
  'ada@example.com;eve@example.com',
  'Ada <ada@example.com>',
  '<ada@example.com>',
  'ada smith@example.com',
  'ada@exam ple.com',
  'ada@example.c m',
  'ada@example.com\nBcc: eve@example.com',
  'a\u0000da@example.com',
  'ada@ex\u200bample.com',
  'ada@example.c\u202em',
  'a"da@example.com',
  'ada@[127.0.0.1]',
  'ada@1.2.3.4',
  'ada@1.2.3.0x4',
  'ada@example.com\\',
  '.ada@example.com',
  'ada.@example.com',
  'a..b@example.com',
  'ada@.example.com',
  'ada@example..com',
  'ada@-example.com',
  'ada@example-.com',
  'ada@example.-com',
  'ada@example.com-',
  `${'a'.repeat(65)}@example.com`,
  `ada@${'b'.repeat(64)}.com`,
  `ada@${'ü'.repeat(62)}.de`,
])('%j is not an address', (address) => {
  expect(isEmail(address)).toBe(false)
})

test('the longest address is what SMTP can carry', () => {
  const address = (length: number) => `ada@${'b.'.repeat((length - 6) >> 1)}${'b'.repeat(2 + (length % 2))}`
  expect([254, 255].map((length) => isEmail(address(length)))).toEqual([true, false])
})
