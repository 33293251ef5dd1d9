import * as z from 'zod/mini'
import { AppError } from '../../../domain/error.ts'
import { isMonth, WRITE_MONTH } from '../../../domain/instant.ts'
import { billMonth, billsToCsv } from '../../../domain/money/bill.ts'
import { BUDGET_PAGE } from '../../../domain/money/budget.ts'
import * as shape from '../../../domain/wire/billing.ts'
import { listBills, toBillingRecord } from '../../billing/bills/billing-history.ts'
import { openPortal } from '../../billing/bills/portal.ts'
import { countUsage, toSummary, usageQueries } from '../../billing/bills/usage.ts'
import { signedIn } from '../../http/app-env.ts'
import { checkbox, numberOrNull } from '../../http/fields.ts'
import { answer } from '../../http/reply.ts'
import { route } from '../../http/route.ts'

export const billings = [
  route('GET /api/v1/billings/summary', {
    access: 'user',
    scope: 'read',
    reads: usageQueries,
    byItself: true,
    summary: "See this month's usage and your plan",
    answers: [200, shape.summary],
  }).answer((c, [history, runs]) => {
    return c.json(toSummary(countUsage(history, runs, c.var.ctx.now())))
  }),
  route('GET /api/v1/billings/history', {
    access: 'user',
    scope: 'read',
    byItself: true,
    summary: 'List your bills, newest first',
    description: [
      'Usage, payments of the plan, and corrections.',
      'A correction is a separate entry: what it adds to the bill of the same period, negative for a credit.',
    ],
    answers: [200, z.object({ billings: z.array(shape.billing) })],
  }).answer(async (c) => {
    const bills = await listBills(c.var.ctx, signedIn(c).user.id)
    return c.json({ billings: bills.map(toBillingRecord) })
  }),
  route('POST /api/v1/billings/portal', {
    access: 'user',
    form: { at: '/billing_history', done: '/billing_history' },
    summary: "Open Stripe's page with your payment method and receipts",
    description: 'The address works for a few minutes. A form gets 303.',
    answers: [200, z.object({ url: z.url() })],
    refuses: ['not_found', 'provider_failed'],
    when: { 404: 'before the first checkout', 429: 'twenty an hour' },
  }).answer(async (c) => {
    const url = await openPortal(c.var.ctx, signedIn(c).user.id)
    return c.get('form') ? c.redirect(url, 303) : c.json({ url })
  }),
  route('POST /api/v1/billings/budget', {
    access: 'user',
    form: { at: BUDGET_PAGE, done: BUDGET_PAGE },
    takes: z.object({ dollars: numberOrNull, stops: checkbox }),
    summary: 'Set or remove your monthly budget',
    description: [
      '`dollars` is [what server time may cost in a month](billing.md#budgets), in whole dollars; `stops` is whether we then stop your server.',
      '`dollars` is required; null removes the budget.',
    ],
    answers: [200, z.object({ message: z.string(), budget: shape.budget })],
    refuses: ['invalid'],
    when: { 429: 'sixty an hour' },
  }).answer(async (c) => {
    const { setBudget } = await import('../../billing/bills/budget.ts')
    return answer(c, await setBudget(c.var.ctx, signedIn(c).user.id, c.req.valid('json')))
  }),
  route('POST /api/v1/billings/charge_card', {
    access: 'user',
    form: { at: '/settings/billing', done: '/settings/billing', back: true },
    takes: z.object({ on: checkbox }),
    summary: 'Choose whether we charge your card for usage',
    description: [
      '`on` is whether [we charge your card for usage](billing.md#how-we-collect-it).',
      "`true` applies to invoices we haven't finalized yet, `false` also to open ones.",
    ],
    answers: [200, z.object({ message: z.string(), charges_card: z.boolean() })],
    when: { 429: 'twenty an hour' },
  }).answer(async (c) => {
    const { setCharging } = await import('../../billing/bills/charge-consent.ts')
    return answer(c, await setCharging(c.var.ctx, signedIn(c).user.id, c.req.valid('json')), {
      carry: { about: 'billing' },
    })
  }),
  route('GET /billing_history.csv', {
    access: 'user',
    kind: 'page',
    scope: 'read',
    file: true,
    description: [
      '200: what `GET /api/v1/billings/history` lists as CSV (UTF-8 with a byte-order mark), with kind, plan, due date, invoice number, refunds, and the dispute as the last columns.',
      "`month` (`YYYY-MM`, of its first day in UTC) is optional, and part of the file's name.",
    ],
    query: { month: 'YYYY-MM, in UTC' },
    refuses: ['invalid'],
  }).answer(async (c) => {
    const month = c.req.query('month')
    if (month && !isMonth(month)) throw new AppError('invalid', WRITE_MONTH)
    const bills = await listBills(c.var.ctx, signedIn(c).user.id)
    const shown = month ? bills.filter((bill) => billMonth(bill) === month) : bills
    c.header('Content-Type', 'text/csv; charset=utf-8')
    c.header(
      'Content-Disposition',
      `attachment; filename="${['proving-ground-bills', month].filter(Boolean).join('-')}.csv"`,
    )
    return c.body(billsToCsv(shown))
  }),
]
