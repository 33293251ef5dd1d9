import { describe, expect, test } from 'vitest'
import { checkForm } from '../../src/domain/form.ts'
import {
  currentPasswordForm,
  emailForm,
  newPasswordForm,
  profileForm,
  signInForm,
  signUpForm,
} from '../../src/domain/user.ts'

const faultsOf = (result: ReturnType<typeof checkForm>) =>
  result.ok ? [] : result.faults.map(({ field, message }) => [field, message])
const LONG = '🛰'.repeat(128)

describe('sign-up', () => {
  const filled = {
    name: ' Ada ',
    email: ' Ada@Example.com ',
    password: 'secret',
    password_confirmation: 'secret',
    terms_of_service: true,
  }
  const faults = (change: object) => faultsOf(checkForm(signUpForm, { ...filled, ...change }, { every: true }))
  const both = (password: string) => ({ password, password_confirmation: password })

  test('trims the fields, but keeps a password as typed', () => {
    expect(checkForm(signUpForm, { ...filled, ...both(' spaced ') })).toEqual({
      ok: true,
      value: { name: 'Ada', email: 'ada@example.com', password: ' spaced ' },
    })
  })

  test.each([
    [{ name: ' ' }, null, 'All fields are required.'],
    [{ password_confirmation: 'other' }, 'password_confirmation', 'Passwords do not match.'],
    [{ terms_of_service: false }, 'terms_of_service', 'You must accept the Terms of Service.'],
    [{ email: 'ada' }, 'email', 'Please enter a valid email.'],
    [{ name: 'x'.repeat(101) }, 'name', 'Name cannot exceed 100 characters.'],
    [{ name: 'A\u202eda' }, 'name', "Name contains characters we can't display."],
    [both('12345'), 'password', 'Password must be at least 6 characters.'],
    [both(`${LONG}x`), 'password', 'Password cannot exceed 128 characters.'],
  ])('%j breaks one rule', (change, field, message) => {
    expect(faults(change)).toEqual([[field, message]])
  })

  test.each(['name', 'email', 'password', 'password_confirmation'])('without %s not all fields are filled', (field) => {
    expect(faults({ [field]: '' })).toContainEqual([null, 'All fields are required.'])
  })

  test('accepts text exactly as long as allowed, counting characters as people do', () => {
    expect(faults({ name: ` ${'🛰'.repeat(100)} ` })).toEqual([])
    expect(faults(both('🛰'.repeat(6)))).toEqual([])
    expect(faults(both(LONG))).toEqual([])
  })
})

test('sign-in needs an address and a password', () => {
  const sentence = [[null, 'Please enter your email and password.']]
  expect(checkForm(signInForm, { email: ' Ada@Example.com', password: ' x ' })).toEqual({
    ok: true,
    value: { email: 'ada@example.com', password: ' x ' },
  })
  expect(faultsOf(checkForm(signInForm, { email: ' ', password: 'x' }))).toEqual(sentence)
  expect(faultsOf(checkForm(signInForm, { email: 'ada', password: '' }))).toEqual(sentence)
})

test('mail goes only to a valid address', () => {
  expect(checkForm(emailForm, { email: ' Ada@Example.com ' })).toEqual({
    ok: true,
    value: { email: 'ada@example.com' },
  })
  expect(faultsOf(checkForm(emailForm, { email: 'ada' }))).toEqual([['email', 'Please enter a valid email.']])
})

describe('the profile', () => {
  const filled = { name: ' Ada ', current_password: '', password: '', password_confirmation: '' }
  const change = { current_password: 'old', password: 'secret', password_confirmation: 'secret' }
  const faults = (changed: object) => faultsOf(checkForm(profileForm, { ...filled, ...changed }, { every: true }))

  test('changes only the name while every password field is empty', () => {
    expect(checkForm(profileForm, filled)).toEqual({ ok: true, value: { name: 'Ada', newPassword: null } })
    expect(checkForm(profileForm, { ...filled, ...change })).toEqual({
      ok: true,
      value: { name: 'Ada', newPassword: 'secret' },
    })
  })

  const password = (text: string) => ({ ...change, password: text, password_confirmation: text })
  test.each([
    [{ name: ' ' }, 'name', 'Please enter your name.'],
    [{ name: 'x'.repeat(101) }, 'name', 'Name cannot exceed 100 characters.'],
    [{ name: 'A\u202eda' }, 'name', "Name contains characters we can't display."],
    [{ ...change, current_password: '' }, 'current_password', 'Please enter your current password.'],
    [
      { ...change, password_confirmation: 'others' },
      'password_confirmation',
      'New password and confirmation do not match.',
    ],
    [password('12345'), 'password', 'New password must be at least 6 characters.'],
    [password(`${LONG}x`), 'password', 'Password cannot exceed 128 characters.'],
  ])('%j breaks one rule', (changed, field, message) => {
    expect(faults(changed)).toEqual([[field, message]])
  })

  test('filling in one password field requires the other two', () => {
    const first = (changed: object) => faultsOf(checkForm(profileForm, { ...filled, ...changed }))
    const current = [['current_password', 'Please enter your current password.']]
    const rest = [['password', 'Please fill in both new password fields.']]
    expect(first({ password: 'secret' })).toEqual(current)
    expect(first({ password_confirmation: 'secret' })).toEqual(current)
    expect(first({ current_password: 'old' })).toEqual(rest)
    expect(first({ current_password: 'old', password: 'secret' })).toEqual(rest)
    expect(first({ current_password: 'old', password_confirmation: 'secret' })).toEqual(rest)
  })

  test('accepts text exactly as long as allowed', () => {
    expect(faults({ name: ` ${'🛰'.repeat(100)} ` })).toEqual([])
    expect(faults(password('🛰'.repeat(6)))).toEqual([])
    expect(faults(password(LONG))).toEqual([])
  })
})

describe('a new password from a mailed link', () => {
  const form = (password: string, password_confirmation = password) =>
    checkForm(newPasswordForm, { reset_password_token: 'token', password, password_confirmation }, { every: true })

  test('is accepted with its token', () => {
    for (const password of ['🛰'.repeat(6), LONG])
      expect(form(password)).toEqual({ ok: true, value: { token: 'token', password } })
  })

  test('is refused by its rules', () => {
    const empty = ['password', 'Please fill in both new password fields.']
    const other = ['password_confirmation', 'New password and confirmation do not match.']
    expect(faultsOf(form('secret', ''))).toEqual([empty, other])
    expect(faultsOf(form('', 'secret'))).toContainEqual(empty)
    expect(faultsOf(form('secret', 'others'))).toEqual([other])
    expect(faultsOf(form('12345'))).toEqual([['password', 'New password must be at least 6 characters.']])
    expect(faultsOf(form(`${LONG}x`))).toEqual([['password', 'Password cannot exceed 128 characters.']])
  })
})

test('closing the account, or replacing a secret, needs the password', () => {
  expect(checkForm(currentPasswordForm, { current_password: ' ' })).toEqual({
    ok: true,
    value: { current_password: ' ' },
  })
  expect(faultsOf(checkForm(currentPasswordForm, { current_password: '' }))).toEqual([
    ['current_password', 'Please enter your current password.'],
  ])
})
