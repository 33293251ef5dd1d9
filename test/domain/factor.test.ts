import { describe, expect, test } from 'vitest'
import { newRecoveryCode, normalRecoveryCode, readFactor } from '../../src/domain/factor.ts'

describe('what was sent as a second factor', () => {
  test('six digits are a code of an app, spaced as it may be', () => {
    expect(readFactor({ totp: '123456' })).toEqual({ method: 'totp', code: '123456' })
    expect(readFactor({ totp: ' 123 456\n' })).toEqual({ method: 'totp', code: '123456' })
  })

  test('anything else is a recovery code, in either field', () => {
    for (const totp of ['12345', '1234567', 'a123456', '123456b'])
      expect(readFactor({ totp })).toEqual({ method: 'recovery', code: totp })
    expect(readFactor({ recovery: '123456' })).toEqual({ method: 'recovery', code: '123456' })
    expect(readFactor({ totp: 'aaa', recovery: 'bbb' })).toEqual({ method: 'recovery', code: 'bbb' })
  })

  test('nothing is nothing', () => {
    for (const given of [{}, { totp: '' }, { recovery: '' }, { totp: ' -', recovery: '' }])
      expect(readFactor(given)).toBeNull()
  })
})

describe('a recovery code', () => {
  test('has four groups of six letters and digits that nobody confuses', () => {
    let next = 0
    const code = newRecoveryCode((below) => {
      expect(below).toBe(32)
      return next++ % below
    })
    expect(code).toBe('012345-6789ab-cdefgh-jkmnpq')
    expect(newRecoveryCode(() => 31)).toBe('zzzzzz-zzzzzz-zzzzzz-zzzzzz')
  })

  test('counts however it was typed', () => {
    expect(normalRecoveryCode(' 0OoAb-1IiLl cd_')).toBe('000ab11111cd')
  })
})
