import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkForm } from '../../../src/domain/form.ts'
import { recordCents } from '../../../src/domain/money/billing.ts'
import { isBudgetReached, OVER_BUDGET } from '../../../src/domain/money/budget.ts'
import { budgetForm, secondsToBudget } from '../../../src/domain/money/budget-form.ts'

const BASIC = { includedHours: 5, trial: false }
const ONE_DOLLAR = { cents: 100, stops: false }

test('is reached in the second in which the screens show that much', () => {
  // $1.00 is shown from $0.995: 0.995 / 0.0004861 = 2046.9 s beyond the plan's hours.
  const seconds = 5 * 3600 + 2047
  expect(recordCents(seconds, BASIC)).toBe(100)
  expect(isBudgetReached(ONE_DOLLAR, { seconds, cycle: BASIC })).toBe(true)
  expect(isBudgetReached(ONE_DOLLAR, { seconds: seconds - 1, cycle: BASIC })).toBe(false)
  expect(secondsToBudget(ONE_DOLLAR, { seconds: 0, cycle: BASIC })).toBe(seconds)
  expect(secondsToBudget(ONE_DOLLAR, { seconds: seconds - 1, cycle: BASIC })).toBe(1)
  expect(secondsToBudget(ONE_DOLLAR, { seconds, cycle: BASIC })).toBe(0)
  expect(secondsToBudget(ONE_DOLLAR, { seconds: seconds + 9, cycle: BASIC })).toBe(-9)
})

test('any budget is reached after exactly the seconds it says', () => {
  fc.assert(
    fc.property(
      fc.record({
        cents: fc.integer({ min: 1, max: 10_000_000 }),
        seconds: fc.integer({ min: 0, max: 3_000_000 }),
        includedHours: fc.constantFrom(0, 0.37, 5, 30),
      }),
      ({ cents, seconds, includedHours }) => {
        const [budget, cycle] = [
          { cents, stops: true },
          { includedHours, trial: false },
        ]
        const more = secondsToBudget(budget, { seconds, cycle })
        expect(isBudgetReached(budget, { seconds: seconds + more, cycle })).toBe(true)
        expect(isBudgetReached(budget, { seconds: seconds + more - 1, cycle })).toBe(false)
      },
    ),
  )
})

test('a trial never reaches one', () => {
  const usage = { seconds: 10_000_000, cycle: { includedHours: 0, trial: true } }
  expect(isBudgetReached(ONE_DOLLAR, usage)).toBe(false)
  expect(secondsToBudget(ONE_DOLLAR, usage)).toBe(Number.POSITIVE_INFINITY)
})

test.each([1, 20, 1_000_000])('takes %d dollars', (dollars) => {
  expect(checkForm(budgetForm, { dollars, stops: true })).toEqual({
    ok: true,
    value: { cents: dollars * 100, stops: true },
  })
})

test.each([
  ...[0, -1, 1.5, Number.NaN].map((dollars) => [dollars, 'Use whole dollars, $1 or more.'] as const),
  [1_000_001, 'Use at most $1,000,000.00.'] as const,
])('refuses %d dollars', (dollars, message) => {
  expect(checkForm(budgetForm, { dollars, stops: false })).toEqual({
    ok: false,
    faults: [{ field: 'dollars', message }],
  })
})

test('an empty field is no budget', () => {
  expect(checkForm(budgetForm, { dollars: null, stops: true })).toEqual({ ok: true, value: null })
})

test('a refused start says what to do', () => {
  expect(OVER_BUDGET).toBe('Your budget for this month is used up. Raise it to start servers.')
})
