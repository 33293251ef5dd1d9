import { expect, test } from 'vitest'
import { activityWords, refusedSince } from '../../src/domain/activity.ts'
import { ACTS } from '../../src/domain/audit.ts'

const row = { name: null, more: null, count: 0 }

test('says what happened in words for its owner', () => {
  expect(activityWords({ ...row, kind: 'sign_in' })).toEqual({ what: 'Signed in', detail: null })
  expect(activityWords({ ...row, kind: 'sign_in', count: 1 })?.detail).toBe('New browser')
  expect(activityWords({ ...row, kind: 'refused', name: 'password', count: 1 })).toEqual({
    what: 'Sign-in refused',
    detail: 'Wrong password',
  })
  expect(activityWords({ ...row, kind: 'refused', name: 'code', count: 2 })).toEqual({
    what: 'Sign-in refused, 2 times in an hour',
    detail: 'The password was right, but the code or passkey was wrong',
  })
  expect(activityWords({ ...row, kind: 'refused', name: 'answer', count: 1 })?.detail).toBe(
    'The password was right, but the second step was never finished',
  )
  expect(activityWords({ ...row, kind: 'token_made', name: 'CI', more: 'operate' })?.detail).toBe(
    'CI: may start and stop servers',
  )
  expect(activityWords({ ...row, kind: 'token_ended', name: 'CI' })).toEqual({
    what: 'API token revoked',
    detail: 'CI',
  })
  expect(activityWords({ ...row, kind: 'plan_began', name: 'basic', more: 'demo' })?.what).toBe('Free trial began')
  expect(activityWords({ ...row, kind: 'plan_ended', name: 'basic', more: 'demo' })?.what).toBe('Free trial ended')
  expect(activityWords({ ...row, kind: 'plan_ended', name: 'basic', more: 'paid' })?.what).toBe('Basic plan ended')
})

test('has words for what operators do to a customer, and none for their other acts', () => {
  expect(activityWords({ ...row, kind: 'operator', name: 'remove_factors' })).toEqual({
    what: 'We removed your second factor',
    detail: null,
  })
  expect(activityWords({ ...row, kind: 'operator', name: 'retire_place' })).toBeNull()
  const told = Object.keys(ACTS).filter((name) => activityWords({ ...row, kind: 'operator', name }))
  expect(told.length).toBeGreaterThan(12)
})

test('knows what an email told of, unless the sign-in itself is shown', () => {
  expect(activityWords({ ...row, kind: 'mailed', name: 'totp_added' })?.what).toBe('Authenticator app added')
  expect(activityWords({ ...row, kind: 'mailed', name: 'new_browser' })).toBeNull()
})

test('sums up refused sign-ins', () => {
  expect(refusedSince({ count: 0, withCode: 0 })).toBeNull()
  expect(refusedSince({ count: 2, withCode: 0 })).toBe('2 sign-ins were refused since your last visit.')
  const rest = "had the right password. If that wasn't you, choose a new one."
  expect(refusedSince({ count: 1, withCode: 1 })).toBe(`1 sign-in was refused since your last visit. It ${rest}`)
  expect(refusedSince({ count: 2, withCode: 2 })).toBe(`2 sign-ins were refused since your last visit. Each ${rest}`)
  expect(refusedSince({ count: 3, withCode: 1 })).toBe(
    `3 sign-ins were refused since your last visit. 1 of them ${rest}`,
  )
})
