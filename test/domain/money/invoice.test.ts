import { expect, test } from 'vitest'
import {
  dueSoonAt,
  type InvoiceStatus,
  invoiceDueAt,
  isOverdue,
  isPaid,
  STOPPED_OVERDUE,
} from '../../../src/domain/money/invoice.ts'

const DUE = Date.UTC(2028, 0, 16)
const bill = (amountCents: number, status: InvoiceStatus | null, dueAt: number | null = DUE) => ({
  amountCents,
  invoice: { status, dueAt, heldAt: null },
})

test('nothing is owed for 0 cents, for a credit, or once paid or forgiven', () => {
  for (const amountCents of [0, -1]) {
    expect(isPaid(bill(amountCents, 'open'))).toBe(true)
    expect(isPaid({ amountCents, invoice: null })).toBe(true)
  }
  const statuses = ['paid', 'void', 'open', 'draft', 'uncollectible', null] as const
  expect(statuses.map((status) => isPaid(bill(1, status)))).toEqual([true, true, false, false, false, false])
  expect(isPaid({ amountCents: 1, invoice: null })).toBe(false)
})

test('what is owed is overdue from its due date on, to the millisecond', () => {
  const open = bill(175, 'open')
  expect([DUE - 1, DUE, DUE + 1].map((now) => isOverdue(open, now))).toEqual([false, true, true])
  expect(isOverdue(bill(175, 'uncollectible'), DUE)).toBe(true)
  expect(isOverdue(bill(175, 'paid'), DUE)).toBe(false)
  expect(isOverdue(bill(0, 'open'), DUE)).toBe(false)
})

test('what an operator holds is not overdue', () => {
  const open = { amountCents: 175, invoice: { status: 'open' as const, dueAt: DUE } }
  const held = (heldAt: number | null) => isOverdue({ ...open, invoice: { ...open.invoice, heldAt } }, DUE)
  expect([held(null), held(DUE), held(0)]).toEqual([true, false, false])
})

test('what a bank is about to pay is not overdue', () => {
  const open = { status: 'open' as const, dueAt: DUE, heldAt: null }
  const debited = (processingAt: number | null) =>
    isOverdue({ amountCents: 175, invoice: { ...open, processingAt } }, DUE)
  expect([debited(null), debited(0)]).toEqual([true, false])
})

test('without a due date or an invoice, nothing is overdue', () => {
  expect(isOverdue(bill(175, 'open', null), DUE)).toBe(false)
  expect(isOverdue({ amountCents: 175, invoice: null }, DUE)).toBe(false)
  // Time 0 is a valid due date.
  expect(isOverdue(bill(175, 'open', 0), 0)).toBe(true)
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
