import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import type { Statement } from '../../src/domain/money/bill.ts'
import type { CostLine } from '../../src/domain/money/run-cost.ts'
import { BillingStatement } from '../../src/pages/BillingStatement.tsx'
import { ReceiptCard } from '../../src/pages/run/CostCard.tsx'

const AT = '2028-01-31T08:00:00.000Z'
/** 11 seconds at $0.0004861. */
const RUN = { start: AT, end: AT, seconds: 11, included: 0, dollars: 0.0053471 }
const prices = (html: string) => html.replaceAll('<!-- -->', '').match(/\$\d+\.\d+(?=<)/g)

test("a statement's runs have four decimals, and its total is rounded once", () => {
  const line = { ...RUN, session_id: 'ses_1', instance_type: 'g6.4xlarge', world: null }
  const statement = {
    id: 'bill_1',
    start_date: '2028-01-31',
    end_date: '2028-02-29',
    amount_owed: 0.01,
    seconds_used: 22,
    charged_seconds: 22,
    included_hours: 0,
    paid: true,
    lines: [line, { ...line, session_id: 'ses_2' }],
    corrections: [],
  } as unknown as Statement
  const customer = { name: 'Ada', email: 'ada@example.com' }
  const seller = { name: 'Proving Ground, Inc.', address: '1 Road, Reno', taxId: null }
  const html = renderToStaticMarkup(<BillingStatement statement={statement} customer={customer} seller={seller} />)
  const [table = ''] = /<table.*<\/table>/s.exec(html) ?? []
  expect(prices(table)).toEqual(['$0.0053', '$0.0053', '$0.01'])
  expect(html).toContain(
    'The total is rounded once, to cents, so the prices of runs may add up to a little more or less.',
  )
})

test("a run's part of each bill has four decimals, and their sum is rounded once", () => {
  const line: CostLine = { ...RUN, bill: null, correction: false, trial: false }
  const startup = { from: AT, until: AT, seconds: 3 }
  const html = renderToStaticMarkup(<ReceiptCard lines={[line, line]} startup={startup} said={null} />)
  expect(prices(html)).toEqual(['$0.0053', '$0.0053', '$0.01'])
})

test('a receipt names a bill by the days of the bill, and a tiny total as the page names it', () => {
  const bill = { id: 'bill_1', start_date: '2028-01-21', end_date: '2028-02-20' }
  const line: CostLine = { ...RUN, seconds: 5, dollars: 0.0024305, bill, correction: false, trial: false }
  const startup = { from: AT, until: AT, seconds: 3 }
  const html = renderToStaticMarkup(<ReceiptCard lines={[line]} startup={startup} said={null} />)
  const words = html.replaceAll('<!-- -->', '').replaceAll(/<[^>]*>/g, '')
  expect(words).toContain('Bill Jan 21, 2028 – Feb 20, 2028')
  expect(html).toContain('href="/billing_history/bill_1"')
  expect(words).toContain('$0.0024')
  expect(words).toContain('less than $0.01')
  expect(words).not.toContain('$0.00Startup')
})
