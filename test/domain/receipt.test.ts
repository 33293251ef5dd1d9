import { expect, test } from 'vitest'
import { lostReceipt, receipt } from '../../src/domain/receipt.ts'

const run = { requestedAt: 0, billedFrom: 12_400, meteredUntil: 75_900, mustStopAt: null, refused: 0 }

test('what ran and what is not billed', () => {
  expect(receipt(run)).toBe('Server stopped. It ran 1m 2s. Not billed: 12s of loading.')
  expect(receipt({ ...run, refused: 1 })).toBe(
    'Server stopped. It ran 1m 2s. Not billed: 12s of loading and 1 refused launch.',
  )
  expect(receipt({ ...run, billedFrom: null, meteredUntil: null })).toBe(
    'Server stopped before it was running. Nothing was billed.',
  )
})

test('in a trial, before its end and at it', () => {
  expect(receipt({ ...run, mustStopAt: 80_000 })).toBe(
    'Server stopped. It ran 1m 2s. Not billed: the free trial and 12s of loading.',
  )
  expect(receipt({ ...run, mustStopAt: 75_900, refused: 2 })).toBe(
    'Your free trial minutes are used up, so the server was stopped. It ran 1m 2s. Not billed: the free trial, 12s of loading and 2 refused launches.',
  )
})

test('of a server that ended by itself', () => {
  expect(lostReceipt('It is gone.', run)).toBe('It is gone. It ran 1m 2s. Not billed: 12s of loading.')
  expect(lostReceipt('It never ran.', { ...run, billedFrom: null, meteredUntil: null })).toBe('It never ran.')
})

test('without a beginning or an end nothing was metered', () => {
  const never = { ...run, billedFrom: null, meteredUntil: null }
  for (const half of [
    { ...run, billedFrom: null },
    { ...run, meteredUntil: null },
  ]) {
    expect(receipt(half)).toBe(receipt(never))
    expect(lostReceipt('It is gone.', half)).toBe(lostReceipt('It is gone.', never))
  }
  expect(receipt(run)).not.toBe(receipt(never))
})
