import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { BillingHistory } from '../../src/pages/BillingHistory.tsx'

const render = (value: number) =>
  renderToStaticMarkup(
    <BillingHistory
      bills={[]}
      month={null}
      hoursPerDay={[{ label: '11-21', value }]}
      dollarsPerMonth={[{ label: '2026-11', value }]}
    />,
  )

test('a chart without a bar says so instead of showing bare axes', () => {
  const empty = render(0)
  for (const sentence of ['No billing records', 'Nothing ran in these days.', 'Nothing to pay in these months.'])
    expect(empty).toContain(sentence)
  expect(empty).not.toContain('<svg viewBox="0 0 440')
  expect(empty).not.toContain('Show as table')

  const used = render(0.01)
  expect(used.match(/<svg viewBox="0 0 440/g)).toHaveLength(2)
  expect(used).not.toContain('Nothing')
})
