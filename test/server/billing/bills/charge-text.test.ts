import { expect, test } from 'vitest'
import { OVERAGE_DOLLARS_PER_SECOND } from '../../../../src/domain/money/plan.ts'
import { chargeText } from '../../../../src/server/billing/bills/charge-text.ts'

const record = {
  planType: 'basic',
  includedHours: 1,
  seconds: 3_700,
  periodStart: Date.UTC(2028, 1, 1),
  periodEnd: Date.UTC(2028, 2, 1),
  corrects: null,
  reason: null,
} as const

test('a period that ends at midnight ends with the day before', () => {
  expect(chargeText(record).title).toBe('Server time 2028-02-01 to 2028-02-29 (Basic plan)')
  const later = { ...record, periodStart: Date.UTC(2028, 1, 1, 8, 30), periodEnd: Date.UTC(2028, 2, 1, 8, 30) }
  expect(chargeText(later).title).toBe('Server time 2028-02-01 to 2028-03-01 (Basic plan)')
})

test('says what is charged, what the plan includes, and what a correction corrects', () => {
  expect(chargeText(record).line).toBe(
    `3700 s of server time, 1 h of them in the plan: 100 s at $${OVERAGE_DOLLARS_PER_SECOND} per second`,
  )
  const correction = { ...record, seconds: -60, corrects: 'bill_1', reason: 'The server did not answer.' }
  expect(chargeText(correction)).toEqual({
    title: 'Correction of server time 2028-02-01 to 2028-02-29 (Basic plan)',
    line: '60 s less than billed: The server did not answer.',
  })
})
