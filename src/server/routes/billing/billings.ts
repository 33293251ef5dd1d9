import { Hono } from 'hono'
import * as z from 'zod/mini'
import { AppError } from '../../../domain/error.ts'
import { isMonth, WRITE_MONTH } from '../../../domain/instant.ts'
import { billMonth, billsToCsv } from '../../../domain/money/bill.ts'
import { listBills, toBillingRecord } from '../../billing/bills/billing-history.ts'
import { openPortal } from '../../billing/bills/portal.ts'
import { countUsage, toSummary } from '../../billing/bills/usage.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { body, checkbox, numberOrNull } from '../../http/body.ts'
import { answer } from '../../http/reply.ts'
import { readAlong } from '../../http/site-map.ts'

export const billings = new Hono<AppEnv>()
  .get('/api/v1/billings/summary', (c) => {
    const [history, runs] = readAlong(c, 'GET /api/v1/billings/summary')
    return c.json(toSummary(countUsage(history, runs, c.var.ctx.now())))
  })
  .get('/api/v1/billings/history', async (c) => {
    const bills = await listBills(c.var.ctx, signedIn(c).user.id)
    return c.json({ billings: bills.map(toBillingRecord) })
  })
  .post('/api/v1/billings/portal', async (c) => {
    const url = await openPortal(c.var.ctx, signedIn(c).user.id)
    return c.get('form') ? c.redirect(url, 303) : c.json({ url })
  })
  .post('/api/v1/billings/budget', body(z.object({ dollars: numberOrNull, stops: checkbox })), async (c) => {
    const { setBudget } = await import('../../billing/bills/budget.ts')
    return answer(c, await setBudget(c.var.ctx, signedIn(c).user.id, c.req.valid('json')))
  })
  .post('/api/v1/billings/charge_card', body(z.object({ on: checkbox })), async (c) => {
    const { setCharging } = await import('../../billing/bills/charge-consent.ts')
    return answer(c, await setCharging(c.var.ctx, signedIn(c).user.id, c.req.valid('json')), {
      carry: { about: 'billing' },
    })
  })
  .get('/billing_history.csv', async (c) => {
    const month = c.req.query('month')
    if (month && !isMonth(month)) throw new AppError('invalid', WRITE_MONTH)
    const bills = await listBills(c.var.ctx, signedIn(c).user.id)
    const shown = month ? bills.filter((bill) => billMonth(bill) === month) : bills
    c.header('Content-Type', 'text/csv; charset=utf-8')
    c.header('Content-Disposition', 'attachment; filename="billing-history.csv"')
    return c.body(billsToCsv(shown))
  })
