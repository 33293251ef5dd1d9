import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Bill,
  billMonth,
  billMonths,
  billsToCsv,
  openInvoices,
  owed,
  totalDollars,
} from '../../../src/domain/money/bill.ts'
import type { BillingRecord } from '../../../src/domain/wire/billing.ts'

const bill = (change: Partial<BillingRecord> = {}): BillingRecord => ({
  id: 'bill_1',
  kind: 'usage',
  start_date: '2028-01-31',
  end_date: '2028-02-29',
  amount_owed: 1.5,
  seconds_used: 3086,
  paid: true,
  overdue: false,
  transaction_id: null,
  plan: 'Basic',
  due_date: null,
  invoice_number: null,
  amount_refunded: 0,
  dispute: null,
  ...change,
})

test('files a bill under the month of its first day', () => {
  expect(billMonth(bill())).toBe('2028-01')
})

test('lists each month with a bill once, newest first', () => {
  const starts = ['2027-12-31', '2028-02-01', '2028-01-15', '2028-02-28', '2028-11-01']
  expect(billMonths(starts.map((start_date) => bill({ start_date })))).toEqual([
    '2028-11',
    '2028-02',
    '2028-01',
    '2027-12',
  ])
})

test('a total of many bills is exact to the cent, less any credit', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -100_000, max: 1_000_000 })), (cents) => {
      const bills = cents.map((amount) => ({ amount_owed: amount / 100 }))
      expect(totalDollars(bills)).toBe(cents.reduce((sum, one) => sum + one, 0) / 100)
    }),
  )
  expect(totalDollars([{ amount_owed: 0.1 }, { amount_owed: 0.2 }])).toBe(0.3)
})

test('the file has a line per record, in the order of its header, with what kind it is', () => {
  const bills = [
    bill(),
    bill({
      amount_owed: -20,
      paid: false,
      overdue: true,
      transaction_id: 'in_7',
      due_date: '2028-03-15',
      invoice_number: 'PG-7',
    }),
    bill({
      kind: 'plan',
      amount_owed: 25,
      seconds_used: 0,
      transaction_id: 'in_8',
      amount_refunded: 2.5,
      dispute: 'lost',
    }),
    bill({ kind: 'correction', amount_owed: -1.5, seconds_used: -3086 }),
  ]
  expect(billsToCsv(bills)).toBe(
    '\ufeffStart Date,End Date,Amount Owed,Seconds Used,Paid,Overdue,Transaction ID,Kind,Plan,Due Date,Invoice Number,Amount Refunded,Dispute\r\n' +
      '2028-01-31,2028-02-29,1.50,3086,true,false,,Usage,Basic,,,0.00,\r\n' +
      '2028-01-31,2028-02-29,-20.00,3086,false,true,in_7,Usage,Basic,2028-03-15,PG-7,0.00,\r\n' +
      '2028-01-31,2028-02-29,25.00,0,true,false,in_8,Plan,Basic,,,2.50,lost\r\n' +
      '2028-01-31,2028-02-29,-1.50,-3086,true,false,,Correction,Basic,,,0.00,\r\n',
  )
})

test('open invoices are what is unpaid and has a page, oldest first', () => {
  const open = (id: string, paid: boolean, invoice_url: string | null) =>
    ({ ...bill({ id, paid }), invoice_url }) as Bill
  const newestFirst = [
    open('d', false, 'https://d'),
    open('c', true, 'https://c'),
    open('b', false, null),
    open('a', false, 'https://a'),
  ]
  expect(openInvoices(newestFirst).map(({ id }) => id)).toEqual(['a', 'd'])
})

test('asks for each unpaid plan except one that was replaced', () => {
  const plan = (id: string, start_date: string, end_date: string, paid = false) =>
    bill({ id, kind: 'plan', start_date, end_date, paid })
  const unpaid = plan('basic', '2028-02-01', '2028-03-01')
  const idsWith = (...others: BillingRecord[]) => owed([...others, unpaid]).map(({ id }) => id)
  expect(idsWith(plan('premium', '2028-02-02', '2028-03-02', true))).toEqual([])
  expect(idsWith(plan('premium', '2028-02-01', '2028-03-01', true))).toEqual([])
  for (const other of [
    plan('premium', '2028-02-02', '2028-03-02'),
    plan('next', '2028-03-01', '2028-04-01', true),
    plan('last', '2028-01-01', '2028-02-01', true),
    bill({ id: 'usage', start_date: '2028-02-02', paid: true }),
  ])
    expect(idsWith(other), other.id).toContain('basic')
})
