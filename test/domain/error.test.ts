import { expect, test } from 'vitest'
import { AppError, type ErrorCode, orElse, REFUSALS, refusalOf } from '../../src/domain/error.ts'

test('an error has its sentence, and defaults for everything not given', () => {
  const plain = new AppError('conflict', 'One server at a time.')
  expect({ ...plain, message: plain.message }).toEqual({
    name: 'AppError',
    message: 'One server at a time.',
    code: 'conflict',
    errors: ['One server at a time.'],
    retryable: false,
    retryAfter: undefined,
    field: null,
  })
  const cause = new Error('x')
  const full = new AppError('too_many', 'Wait.', {
    cause,
    errors: ['a', 'b'],
    retryable: true,
    retryAfter: 7,
    field: 'f',
  })
  expect(full).toMatchObject({ errors: ['a', 'b'], retryable: true, retryAfter: 7, field: 'f' })
  expect(full.cause).toBe(cause)
  expect(new AppError('invalid', 'No.', { errors: [] }).errors).toEqual(['No.'])
})

function thrownBy(fail: () => unknown): AppError {
  try {
    fail()
  } catch (thrown) {
    return thrown as AppError
  }
  throw new Error('Nothing was thrown.')
}

test("in a catch, our own errors pass through, and any other gets the call's sentence", () => {
  const ours = new AppError('conflict', 'One server at a time.')
  expect(thrownBy(() => orElse('Failed to start server')(ours))).toBe(ours)
  const theirs = new TypeError('x is not a function')
  const wrapped = thrownBy(() => orElse('Failed to start server')(theirs))
  expect(wrapped).toMatchObject({ code: 'unexpected', message: 'Failed to start server' })
  expect(wrapped.cause).toBe(theirs)
})

test('each code has one status, and programs see only the documented codes', () => {
  for (const [code, status] of Object.entries(REFUSALS)) expect(refusalOf(code as ErrorCode)).toEqual({ status, code })
  expect(refusalOf('malformed')).toEqual({ status: 400, code: 'invalid' })
  expect(refusalOf('gone')).toEqual({ status: 410, code: 'not_found' })
  expect(refusalOf('unexpected')).toEqual({ status: 500, code: 'unavailable' })
})
