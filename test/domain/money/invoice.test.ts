import { expect, test } from 'vitest'
import {
  dueSoonAt,
  type InvoiceStatus,
  invoiceDueAt,
  isPaid,
  STOPPED_OVERDUE,
} from '../../../src/domain/money/invoice.ts'

const DUE = Date.UTC(2028, 0, 16)
const bill = (amountCents: number, status: InvoiceStatus | null) => ({ amountCents, invoice: { status } })

test('nothing is owed for 0 cents, for a credit, or once paid or forgiven', () => {
  for (const amountCents of [0, -1]) {
    expect(isPaid(bill(amountCents, 'open'))).toBe(true)
    expect(isPaid({ amountCents, invoice: null })).toBe(true)
  }
  const statuses = ['paid', 'void', 'open', 'draft', 'uncollectible', null] as const
  expect(statuses.map((status) => isPaid(bill(1, status)))).toEqual([true, true, false, false, false, false])
  expect(isPaid({ amountCents: 1, invoice: null })).toBe(false)
})

test('an invoice falls due 15 days after it was finalized', () => {
  expect(invoiceDueAt(Date.UTC(2028, 0, 1))).toBe(DUE)
})

test('we remind 3 days before', () => {
  expect(dueSoonAt(DUE)).toBe(Date.UTC(2028, 0, 13))
})

test('a stopped server says which debt ended it', () => {
  expect(STOPPED_OVERDUE).toBe('We stopped your server because an invoice is overdue.')
})
