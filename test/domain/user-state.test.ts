import { expect, test } from 'vitest'
import { isChecking, NOBODY, nextUserState, readBootstrapUser, type UserState } from '../../src/domain/user-state.ts'

const user = { id: 'user_1', name: 'Ada', email: 'a@example.com', admin: false }

test('is idle, then loading, then a user, nobody, or unknown', () => {
  const loading = nextUserState(NOBODY, { type: 'check' })
  expect([isChecking(NOBODY), isChecking(loading)]).toEqual([true, true])
  const known = nextUserState(loading, { type: 'checked', user })
  expect(known).toEqual({ status: 'succeeded', user, error: null })
  expect(isChecking(known)).toBe(false)
  expect(nextUserState(loading, { type: 'failed', error: 'x' })).toEqual({ status: 'failed', user: null, error: 'x' })
})

test('logout resets the user to none and the status to idle, from every state', () => {
  const states: UserState[] = [
    NOBODY,
    { status: 'succeeded', user, error: null },
    { status: 'failed', user, error: 'x' },
  ]
  for (const state of states)
    expect(nextUserState(state, { type: 'logout' })).toEqual({ status: 'idle', user: null, error: null })
})

test('a bootstrap block is a user, nobody, or corrupted', () => {
  expect(readBootstrapUser(JSON.stringify({ user, more: 1 }))).toEqual(user)
  expect(readBootstrapUser('{"user":null}')).toBeNull()
  for (const corrupted of [
    null,
    undefined,
    '',
    '{',
    'null',
    '[]',
    '{}',
    '{"user":{}}',
    '{"user":{"id":1}}',
    '{"user":"x"}',
    '7',
    '"user"',
  ])
    expect(() => readBootstrapUser(corrupted), String(corrupted)).toThrow()
})

test('every user field in a bootstrap block is required, with the right type', () => {
  for (const field of ['id', 'name', 'email', 'admin'] as const)
    for (const wrong of [undefined, null, 7, field === 'admin' ? 'true' : true])
      expect(() => readBootstrapUser(JSON.stringify({ user: { ...user, [field]: wrong } })), field).toThrow(
        'The bootstrap block holds no user state',
      )
})
