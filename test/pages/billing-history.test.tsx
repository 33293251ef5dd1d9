import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import type { Bill } from '../../src/domain/money/bill.ts'
import { BillingHistory } from '../../src/pages/BillingHistory.tsx'

const render = (value: number, bills: Bill[] = []) =>
  renderToStaticMarkup(
    <BillingHistory
      bills={bills}
      month={null}
      hoursPerDay={[{ label: '11-21', value }]}
      dollarsPerMonth={[{ label: '2026-11', value }]}
      portalToken={null}
      charging="unasked"
    />,
  )

const BILL: Bill = {
  id: 'bill_1',
  kind: 'usage',
  start_date: '2026-10-17T00:00:00.000Z',
  end_date: '2026-11-16T00:00:00.000Z',
  amount_owed: 7.94,
  seconds_used: 52_331,
  paid: true,
  overdue: false,
  transaction_id: 'in_1',
  invoice_number: 'PG-000001',
  amount_refunded: 0,
  dispute: null,
  plan: 'premium',
  invoice_url: null,
  invoice_pdf: null,
  due_date: null,
  dollars_due: 0,
  corrects: null,
  reason: null,
}

test('a month without bills shows them all, and says so', () => {
  const history = (month: string | null) =>
    renderToStaticMarkup(
      <BillingHistory
        bills={[BILL]}
        month={month}
        hoursPerDay={[]}
        dollarsPerMonth={[]}
        portalToken={null}
        charging="unasked"
      />,
    )
  const sentence = 'No bill starts in that month. Showing all bills.'
  for (const unknown of ['2031-01', 'x']) expect(history(unknown)).toMatch(new RegExp(`${sentence}.*All bills.*in_1`))
  for (const known of ['2026-10', '', null]) expect(history(known)).not.toContain(sentence)
})

test('a bill that is not paid yet says when we charge the card, or that a payment is on its way', () => {
  const history = (more: Partial<Bill>) => {
    const bill = { ...BILL, paid: false, dollars_due: 7.94, invoice_url: 'https://invoice.example/1', ...more }
    const rest = { month: null, hoursPerDay: [], dollarsPerMonth: [], portalToken: null, charging: 'on' as const }
    return renderToStaticMarkup(<BillingHistory bills={[bill]} {...rest} />).replace(/<[^>]*>/g, '')
  }
  const charged = history({ charge_date: '2026-11-29', invoice_url: null })
  expect(charged).toContain('Not paidCharged automatically on Nov 29, 2026')
  const onItsWay = history({ processing: true })
  expect(onItsWay).toContain('Not paidYour payment is on its way')
  expect(onItsWay).not.toContain('Open invoices')
  expect(history({})).toMatch(/Open invoices.*Pay \$7\.94/)
})

test('an overdue bill appears above everything, with the one button that pays it', () => {
  const overdue = { ...BILL, paid: false, overdue: true, dollars_due: 6.5, invoice_url: 'https://invoice.example/1' }
  const history = renderToStaticMarkup(
    <BillingHistory
      bills={[overdue, BILL]}
      month={null}
      hoursPerDay={[]}
      dollarsPerMonth={[]}
      portalToken={null}
      charging="unasked"
    />,
  )
  const words = history.replaceAll('<!-- -->', '').replaceAll(/<[^>]*>/g, '')
  expect(words).toMatch(/Open invoices.*\$6\.50 for usage, .*Pay \$6\.50.*All bills/)
  expect(history.match(/https:\/\/invoice\.example\/1"[^>]*>/g)).toHaveLength(1)
  expect(words.match(/Pay \$/g)).toHaveLength(1)
})

test('a chart without bars says so instead of showing bare axes, and there are no charts before the first use', () => {
  const sentences = ['No servers ran in this period.', 'No charges yet.']
  const unused = render(0)
  expect(unused).toContain('No billing records')
  for (const sentence of sentences) expect(unused).not.toContain(sentence)

  const empty = render(0, [BILL])
  for (const sentence of sentences) expect(empty).toContain(sentence)
  expect(empty).not.toContain('<svg viewBox="0 0 440')
  expect(empty).not.toContain('Show as table')

  const paid = render(0, [{ ...BILL, kind: 'plan' }])
  expect(paid).not.toContain('Hours per day')
  expect(paid).toContain('Dollars per month')

  const used = render(0.01)
  expect(used.match(/<svg viewBox="0 0 440/g)).toHaveLength(2)
  for (const sentence of sentences) expect(used).not.toContain(sentence)
})
