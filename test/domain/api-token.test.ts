import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { apiTokenForm, isApiToken, newApiToken, SECRET_LENGTH } from '../../src/domain/api-token.ts'
import { checkForm } from '../../src/domain/form.ts'
import { CURRENT_PASSWORD_REQUIRED } from '../../src/domain/user.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const token = fc
  .infiniteStream(fc.nat())
  .map((numbers) => newApiToken((below) => (numbers.next().value as number) % below))

test('a token has our prefix, 30 random digits, and zlib’s checksum in six base-62 digits', () => {
  fc.assert(
    fc.property(token, (text) => {
      expect(text).toMatch(/^pg_[0-9A-Za-z]{36}$/)
      const [body, sum] = [text.slice(0, -6), text.slice(-6)]
      expect(body).toHaveLength('pg_'.length + SECRET_LENGTH)
      expect([...sum].reduce((total, digit) => total * 62 + DIGITS.indexOf(digit), 0)).toBe(crc32(body))
      expect(isApiToken(text)).toBe(true)
    }),
  )
})

test('uses every digit', () => {
  let next = 0
  const seen = new Set(Array.from({ length: 10 }, () => newApiToken((below) => next++ % below).slice(3, 33)).join(''))
  expect(seen.size).toBe(62)
})

test('any other text is not a token: a changed character, another length, another prefix', () => {
  fc.assert(
    fc.property(token, fc.nat({ max: 35 }), (text, at) => {
      const i = 3 + at
      const other = text[i] === 'x' ? 'y' : 'x'
      expect(isApiToken(text.slice(0, i) + other + text.slice(i + 1))).toBe(false)
      for (const wrong of [`${text}0`, text.slice(1), ` ${text}`, `${text}\n`, `gh${text.slice(2)}`, '', 'pg_'])
        expect(isApiToken(wrong)).toBe(false)
    }),
  )
})

test('a right checksum is not enough', () => {
  const sum = (body: string) => {
    let [rest, digits] = [crc32(body), '']
    for (let i = 0; i < 6; i++) [digits, rest] = [DIGITS.charAt(rest % 62) + digits, Math.floor(rest / 62)]
    return digits
  }
  const signed = (body: string) => body + sum(body)
  const secret = 'x'.repeat(30)
  expect(isApiToken(signed(`pg_${secret}`))).toBe(true)
  for (const body of [`gh_${secret}`, `pg_${secret}x`, `pg_${secret.slice(1)}`, `pg_${secret.slice(1)}-`, ''])
    expect(isApiToken(signed(body))).toBe(false)
})

const form = { name: ' CI ', scope: 'read', days: 90, current_password: 'secret' }

test('normalizes the name', () => {
  expect(checkForm(apiTokenForm, form)).toEqual({ ok: true, value: { ...form, name: 'CI' } })
})

test.each([
  [{ name: ' ' }, 'name', 'Please enter a name for the token.'],
  [{ name: 'x'.repeat(51) }, 'name', 'Name cannot exceed 50 characters.'],
  [{ name: 'a\u202eb' }, 'name', "Name contains characters we can't display."],
  [{ scope: '' }, 'scope', 'Please choose what the token may do: read or operate.'],
  [{ scope: 'admin' }, 'scope', 'Please choose what the token may do: read or operate.'],
  [{ days: 0 }, 'days', 'A token can last from 1 to 365 days.'],
  [{ days: 366 }, 'days', 'A token can last from 1 to 365 days.'],
  [{ days: 1.5 }, 'days', 'A token can last from 1 to 365 days.'],
  [{ current_password: '' }, 'current_password', CURRENT_PASSWORD_REQUIRED],
])('refuses %o', (wrong, field, sentence) => {
  expect(checkForm(apiTokenForm, { ...form, ...wrong })).toMatchObject({
    ok: false,
    faults: [{ field, message: sentence }],
  })
})

test.each([{ name: 'x'.repeat(50) }, { scope: 'operate' }, { days: 1 }, { days: 365 }])('accepts %o', (right) => {
  expect(checkForm(apiTokenForm, { ...form, ...right }).ok).toBe(true)
})
