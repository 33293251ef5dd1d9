import { expect, test } from 'vitest'
import { billMonths, billsToCsv, totalDollars } from '../../../../src/domain/money/bill.ts'
import { findStatement, getBillingHistory, listBills } from '../../../../src/server/billing/bills/billing-history.ts'
import { getBillingOverview } from '../../../../src/server/billing/bills/billing-overview.ts'
import { openBillingStack } from '../../../../testing/stack/billing-stack.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const stack = await openBillingStack(Date.UTC(2028, 0, 31, 8, 30))

test('history, total, CSV, statement, and balance agree', async () => {
  const user = await stack.newUser()
  const start = stack.clock.now
  await stack.insertPlan(user.id, { hours: 1 })
  await stack.insertRun(user.id, { from: start + DAY + 500, until: start + DAY + 2 * HOUR + 700 })
  // Across the boundary on February 29, 08:30.
  const boundary = Date.UTC(2028, 1, 29, 8, 30)
  const split = await stack.insertRun(user.id, { from: boundary - HOUR, until: boundary + 3 * HOUR })
  await stack.passTime(Date.UTC(2028, 3, 1), DAY)

  const bills = await listBills(stack.ctx, user.id)
  expect(bills).toMatchObject([
    {
      start_date: '2028-02-29',
      end_date: '2028-03-31',
      seconds_used: 10_800,
      amount_owed: 3.5,
      paid: false,
      overdue: false,
    },
    {
      start_date: '2028-01-31',
      end_date: '2028-02-29',
      seconds_used: 10_799,
      amount_owed: 3.5,
      paid: false,
      overdue: true,
    },
  ])
  expect(billMonths(bills)).toEqual(['2028-02', '2028-01'])
  expect(totalDollars(bills)).toBe(7)
  expect(bills.every((bill) => bill.transaction_id?.startsWith('in_') && bill.invoice_url)).toBe(true)
  const lines = billsToCsv(bills).trimEnd().split('\r\n')
  expect(lines[0]).toBe(
    '\ufeffStart Date,End Date,Amount Owed,Seconds Used,Paid,Overdue,Transaction ID,Kind,Plan,Due Date,Invoice Number,Amount Refunded,Dispute',
  )
  expect(bills[1]?.invoice_number).toMatch(/^PG-\d{6}$/)
  expect(lines[2]).toBe(
    `2028-01-31,2028-02-29,3.50,10799,false,true,${bills[1]?.transaction_id},Usage,Basic,2028-03-16,${bills[1]?.invoice_number},0.00,`,
  )

  for (const bill of bills) {
    const statement = await findStatement(stack.ctx, user.id, bill.id)
    expect(statement?.lines.reduce((sum, line) => sum + line.seconds, 0)).toBe(bill.seconds_used)
    expect(statement?.lines.some((line) => line.session_id === split)).toBe(true)
    expect(statement?.charged_seconds).toBe(bill.seconds_used - 3600)
    expect(statement?.lines.reduce((sum, line) => sum + line.included, 0)).toBe(3600)
    expect(statement?.lines.reduce((sum, line) => sum + Math.round(line.dollars * 100), 0)).toBe(bill.amount_owed * 100)
  }
  const halves = await Promise.all(bills.map(({ id }) => findStatement(stack.ctx, user.id, id)))
  const times = halves.map((half) => half?.lines.find((line) => line.session_id === split))
  expect(times.map((line) => [line?.start, line?.end])).toEqual([
    ['2028-02-29T08:30:00.000Z', '2028-02-29T11:30:00.000Z'],
    ['2028-02-29T07:30:00.000Z', '2028-02-29T08:30:00.000Z'],
  ])
  const stranger = await stack.newUser()
  expect(await findStatement(stack.ctx, stranger.id, bills[0]?.id ?? '')).toBeNull()
  expect(await listBills(stack.ctx, stranger.id)).toEqual([])

  const overview = await getBillingOverview(stack.ctx, user.id)
  expect(overview).toMatchObject({ unpaidDollars: 7, overdue: true, openInvoices: [bills[1], bills[0]] })
  await stack.press(bills[1]?.invoice_url)
  await stack.passTime(stack.clock.now + 2 * DAY)
  expect((await listBills(stack.ctx, user.id))[1]).toMatchObject({ paid: true, overdue: false })
})

test('the open cycle is measured by the rules that will close it', async () => {
  const user = await stack.newUser()
  await stack.insertPlan(user.id, { hours: 1 })
  const start = stack.clock.now
  await stack.insertRun(user.id, { from: start + 300, until: null })
  stack.clock.now = start + 2 * HOUR + 999
  const { summary } = await getBillingOverview(stack.ctx, user.id)
  expect(summary.monthlyUsage).toMatchObject({ serverSessions: 1, runningServers: 1, amountOwedDollars: 1.75 })
  expect(summary.monthlyUsage.hoursUsed * 3600).toBeCloseTo(7199)
  const { runs } = await getBillingHistory(stack.ctx, user.id)
  expect(runs).toEqual([{ start: start + 300, end: stack.clock.now }])
})

test('a plan past its end is not a plan, even before we ask Stripe', async () => {
  const user = await stack.newUser()
  await stack.insertPlan(user.id, { cancelAtPeriodEnd: true, cancelAt: stack.clock.now + DAY })
  stack.clock.now += DAY
  const { summary } = await getBillingOverview(stack.ctx, user.id)
  expect(summary.subscription).toBeNull()
})
