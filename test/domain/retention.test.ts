import { expect, test } from 'vitest'
import { COOKIE_S } from '../../src/domain/retention.ts'

test('how long each cookie lasts, in seconds, as the privacy page promises', () => {
  expect(COOKIE_S).toEqual({
    sign_in: 1_209_600,
    browser: 2_592_000,
    known: 31_536_000,
    back: 1_800,
    flash: 60,
    theme: 31_536_000,
  })
})
