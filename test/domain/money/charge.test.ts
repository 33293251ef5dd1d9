import { expect, test } from 'vitest'
import { CHARGE_NOTICE_MS, chargeChoice, SMALLEST_CHARGE_CENTS } from '../../../src/domain/money/charge.ts'

const choice = (chargeConsentAt: number | null, chargeRefusedAt: number | null) =>
  chargeChoice({ chargeConsentAt, chargeRefusedAt })

test('the latest answer counts, and without one nobody is charged', () => {
  expect(choice(null, null)).toBe('unasked')
  expect(choice(1, null)).toBe('on')
  expect(choice(null, 1)).toBe('off')
  expect([choice(2, 1), choice(1, 2), choice(1, 1)]).toEqual(['on', 'off', 'off'])
})

test('we announce a charge a day before, and charge no less than Stripe does', () => {
  expect([CHARGE_NOTICE_MS, SMALLEST_CHARGE_CENTS]).toEqual([86_400_000, 50])
})
