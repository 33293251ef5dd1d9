import fc from 'fast-check'
import { expect, test } from 'vitest'
import { monthTotal } from '../../../src/domain/money/billing.ts'
import { dollars } from '../../../src/domain/money/money.ts'
import { BASIC, PREMIUM } from '../../../src/domain/money/plan.ts'

test('the example on the pricing page', () => {
  expect(dollars(monthTotal(BASIC, 12))).toBe('$37.25')
})

test('the included hours cost only the plan, and more hours never cost less', () => {
  fc.assert(
    fc.property(fc.constantFrom(BASIC, PREMIUM), fc.nat(500), (plan, hours) => {
      if (hours <= plan.hours) expect(monthTotal(plan, hours)).toBe(plan.dollarsPerMonth)
      expect(monthTotal(plan, hours + 1)).toBeGreaterThanOrEqual(monthTotal(plan, hours))
    }),
  )
})
