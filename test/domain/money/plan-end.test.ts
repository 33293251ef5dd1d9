import { expect, test } from 'vitest'
import { planEndOf } from '../../../src/domain/money/plan-end.ts'

const ANCHOR = Date.UTC(2028, 0, 10)
const END = Date.UTC(2028, 1, 10)
const premium = {
  planType: 'premium' as const,
  anchor: ANCHOR,
  endedAt: null,
  cancelAt: null,
  nextPlanType: null,
  nextPlanAt: null,
  earlierPlanType: null,
  earlierUntil: null,
}
const basic = { ...premium, planType: 'basic' as const }

test.each([
  ['a plan that stays', [premium], null],
  ['one that becomes smaller', [{ ...premium, nextPlanType: 'basic' as const, nextPlanAt: END }], END],
  ['one that is canceled', [{ ...premium, cancelAt: END }], END],
  ['one that became smaller', [{ ...basic, earlierPlanType: 'premium' as const, earlierUntil: END }], END],
  ['one that became larger', [{ ...premium, earlierPlanType: 'basic' as const, earlierUntil: END }], null],
  ['one that ended with its period', [{ ...premium, endedAt: END }], END],
  ['one that ended within its period', [{ ...premium, endedAt: ANCHOR + 1 }], END],
  ['one that never was', [{ ...premium, endedAt: ANCHOR }], null],
  [
    'one that ended, and another that stays',
    [
      { ...premium, endedAt: END },
      { ...premium, anchor: END },
    ],
    null,
  ],
  [
    'one that ended, and a smaller one',
    [
      { ...premium, endedAt: END },
      { ...basic, anchor: END },
    ],
    END,
  ],
  ['a small one', [basic], null],
  ['none', [], null],
])('%s', (_, plans, end) => {
  expect(planEndOf(4, plans)).toBe(end)
  // The smallest servers belong to everyone.
  expect(planEndOf(1, plans)).toBeNull()
})
