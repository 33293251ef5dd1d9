import { expect, test } from 'vitest'
import { profileFailure, resendOutcome, signInFailure, signUpFailure } from '../../src/islands/account-replies.ts'

const answer = (status: number, body: object = {}) => ({ ok: status >= 200 && status < 300, status, body })
const user = { id: 'user_1', name: 'Ada', email: 'a@example.com', admin: false }

test('sign up', () => {
  expect(signUpFailure(answer(201, { message: 'ok' }))).toBeNull()
  expect(signUpFailure(answer(422, { errors: ['One.', 'Two.'] }))).toBe('Sign Up failed: One., Two.')
  expect(signUpFailure(answer(418, {}))).toBe('Error! Please try again!')
  expect(signUpFailure(answer(500, { errors: ['x'] }))).toBe('Internal Server Error')
})

test('sign in', () => {
  expect(signInFailure(answer(200, { user }))).toBeNull()
  expect(signInFailure(answer(200, {}))).toBe('Unexpected response from server.')
  expect(signInFailure(answer(0, { error: 'Network error' }))).toBe('Network error. Please check your connection.')
  expect(signInFailure(answer(403, { error: 'Not yet.' }))).toBe('Not yet.')
  expect(signInFailure(answer(403, { message: 'Not yet.' }))).toBe('Not yet.')
  expect([401, 400, 503].map((status) => signInFailure(answer(status)))).toEqual([
    'Invalid email or password.',
    'Sign in failed.',
    'Login failed',
  ])
})

test('profile', () => {
  expect(profileFailure(answer(200, { status: 'ok', user }))).toBeNull()
  expect(profileFailure(answer(422, { status: 'error', errors: ['One.', 'Two.'] }))).toBe('One., Two.')
  expect(profileFailure(answer(0, { error: 'Network error' }))).toBe('Network error')
  expect(profileFailure(answer(503))).toBe('Failed to update profile.')
  expect(profileFailure(answer(200, { status: 'error' }))).toBe('Update failed')
})

test('a new confirmation link', () => {
  expect(resendOutcome(answer(200, { message: 'Sent.' }))).toEqual({ sent: true, message: 'Sent.' })
  expect(resendOutcome(answer(200)).message).toBe('Confirmation email sent. Please check your inbox.')
  expect(resendOutcome(answer(429, { error: 'Too many.' }))).toEqual({ sent: false, message: 'Too many.' })
  expect(resendOutcome(answer(503, { error: 'x' })).message).toBe(
    'Unable to resend confirmation email. Please try again.',
  )
})
