import { expect, test } from 'vitest'
import { checkForm } from '../../src/domain/form.ts'
import { secretForm } from '../../src/domain/secret.ts'

const check = (fields: object) => checkForm(secretForm, { name: 'KEY', value: 'x', current_password: 'p', ...fields })

test.each([
  ['one byte', { value: ' ' }],
  ['8,192 bytes', { value: `${'ü'.repeat(4_095)}xx` }],
  ['line breaks of any kind', { value: '-----BEGIN KEY-----\r\nabc\n' }],
  ['an emoji', { value: '🔑' }],
  ['a name of 64 characters', { name: `A${'_'.repeat(63)}` }],
])('takes %s, as it is', (_, fields) => {
  expect(check(fields)).toEqual({ ok: true, value: { name: 'KEY', value: 'x', current_password: 'p', ...fields } })
})

test.each([
  ['no value', { value: '' }, 'value', 'Please enter a value.'],
  ['8,193 bytes', { value: `${'ü'.repeat(4_096)}x` }, 'value', 'The value cannot exceed 8,192 bytes.'],
  ['a NUL', { value: 'a\0' }, 'value', 'The value must be text without a NUL.'],
  ['half a character', { value: '\ud83d' }, 'value', 'The value must be text without a NUL.'],
  ['no name', { name: '' }, 'name', 'Please enter a name.'],
  ['a name of 65 characters', { name: `A${'_'.repeat(64)}` }, 'name', "can't be a secret's name"],
  ['a small letter', { name: 'key' }, 'name', '"key" can\'t be a secret\'s name'],
  ['a name that is ours', { name: 'LD_PRELOAD' }, 'name', 'The secret LD_PRELOAD is reserved'],
  ['no password', { current_password: '' }, 'current_password', 'Please enter your current password.'],
])('refuses %s', (_, fields, field, message) => {
  expect(check(fields)).toEqual({ ok: false, faults: [{ field, message: expect.stringContaining(message) }] })
})
