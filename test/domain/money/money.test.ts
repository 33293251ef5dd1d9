import { expect, test } from 'vitest'
import { costText, dollars, fineDollars, seconds } from '../../../src/domain/money/money.ts'

test.each([
  [0, '$0.00'],
  [1.75, '$1.75'],
  [1234.5, '$1,234.50'],
  [-3.5, '-$3.50'],
])('writes %d dollars as %s', (amount, text) => {
  expect(dollars(amount)).toBe(text)
})

test('a cost of less than half a cent never reads as nothing', () => {
  expect([0, 0.0004861, 0.0049, 0.005, 5.25, 1234.5].map(costText)).toEqual([
    '$0.00',
    'less than $0.01',
    'less than $0.01',
    '$0.01',
    '$5.25',
    '$1,234.50',
  ])
})

test('writes seconds as whole numbers in groups of three', () => {
  expect([59, 18_011].map(seconds)).toEqual(['59 s', '18,011 s'])
})

test('seconds that add up to less than a cent show four digits', () => {
  expect([0, 0.0004861, 1.5, 1251.218].map(fineDollars)).toEqual(['$0.0000', '$0.0005', '$1.5000', '$1,251.2180'])
})
