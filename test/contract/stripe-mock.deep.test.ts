import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stripePayments } from '../../src/server/billing/stripe.ts'
import { priceLookupKey } from '../../src/server/billing/stripe-objects.ts'
import type { Payments } from '../../src/server/ports/payments.ts'
import { serve } from '../../testing/stack/serve.ts'
import { startStripeMock, stripeMock } from '../../testing/stack/stripe-mock.ts'
import { isSkipped } from '../../testing/stack/third-party.ts'

const env = { STRIPE_SECRET_KEY: 'sk_test_123', STRIPE_WEBHOOK_SECRET: 'whsec_test' }

/** The mock's only price is not ours, so we answer price calls here and forward the rest. */
function answerPricesBefore(upstream: string, price: object): Promise<string> {
  return serve(async (request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url?.startsWith('/v1/prices')) {
      response.end(JSON.stringify({ object: 'list', data: [price], has_more: false }))
      return
    }
    const body = Buffer.concat(await request.toArray())
    const { authorization = '' } = request.headers
    const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' }
    const { method = 'GET' } = request
    const sent = method === 'GET' ? { method, headers } : { method, headers, body }
    const answer = await fetch(`${upstream}${request.url}`, sent)
    response.writeHead(answer.status).end(await answer.text())
  })
}

/** stripe-mock rejects requests Stripe would reject, and answers with Stripe's sample objects. */
describe.skipIf(isSkipped(stripeMock))('the Stripe adapter against stripe-mock', () => {
  let mock: Awaited<ReturnType<typeof startStripeMock>>
  let payments: Payments
  beforeAll(async () => {
    mock = await startStripeMock()
    payments = stripePayments({ ...env, STRIPE_API_BASE: mock.url })
  })
  afterAll(() => mock?.close())

  const checkout = {
    customerId: 'cus_1',
    userId: 'user_1',
    planType: 'basic' as const,
    successUrl: 'https://example.com/ok',
    cancelUrl: 'https://example.com/back',
  }

  test('finds and creates customers', async () => {
    expect(await payments.findCustomer({ id: 'user_1', email: 'a@example.com' })).toBeNull()
    expect(await payments.createCustomer({ id: 'user_1', email: 'a@example.com' }, 'key-1')).toMatch(/^cus_/)
  })

  test('refuses to sell at a price we do not advertise', async () => {
    await expect(payments.createCheckout(checkout, 'key-2')).rejects.toMatchObject({ code: 'provider_failed' })
  })

  test('creates, reads, and expires checkout sessions', async () => {
    const proxy = await answerPricesBefore(mock.url, {
      id: 'price_1',
      lookup_key: priceLookupKey('basic'),
      unit_amount: 2500,
    })
    const created = await stripePayments({ ...env, STRIPE_API_BASE: proxy }).createCheckout(checkout, 'key-2')
    expect(created.id).toMatch(/^cs_/)
    expect((await payments.getCheckout(created.id))?.id).toBe(created.id)
    expect((await payments.expireCheckout(created.id)).id).toMatch(/^cs_/)
  })

  test('opens the customer portal', async () => {
    const portal = { customerId: 'cus_1', returnUrl: 'https://example.com/billing_history' }
    expect(await payments.createPortal(portal)).toMatch(/^https:\/\//)
    const nobody = payments.createPortal({ ...portal, customerId: undefined as never })
    await expect(nobody).rejects.toMatchObject({ code: 'provider_failed', retryable: false })
  })

  test('lists the invoices of a plan', async () => {
    expect(Array.isArray(await payments.listPlanInvoices('sub_1'))).toBe(true)
    expect(Array.isArray(await payments.listSubscriptions('cus_1'))).toBe(true)
  })

  test('reads and cancels subscriptions', async () => {
    const subscription = await payments.findSubscription('sub_1')
    expect(subscription).toMatchObject({ id: 'sub_1', planType: null })
    expect(subscription?.anchor).toBeGreaterThan(1_000_000_000_000)
    expect(await payments.findPlanPayPage('sub_1')).toSatisfy(
      (page: string | null) => page === null || page.startsWith('https://'),
    )
    expect(typeof (await payments.wasPaidWithin('sub_1', { start: 0, end: 1 }))).toBe('boolean')
    expect((await payments.cancelAtPeriodEnd('sub_1', 'key-3')).id).toBe('sub_1')
    await payments.cancelNow('sub_1')
  })

  test('quotes and makes an upgrade, undoes a cancellation, and schedules and releases a downgrade', async () => {
    const prices = (planType: 'basic' | 'premium') =>
      answerPricesBefore(mock.url, {
        id: `price_${planType}`,
        lookup_key: priceLookupKey(planType),
        unit_amount: planType === 'basic' ? 2500 : 25_000,
      })
    const premium = await prices('premium')
    const basic = await prices('basic')
    const upgrade = { from: 'basic', to: 'premium', at: Date.now() } as const
    const dear = stripePayments({ ...env, STRIPE_API_BASE: premium })
    expect(typeof (await dear.quoteUpgrade('sub_1', upgrade))).toBe('number')
    await dear.upgrade('sub_1', upgrade, 'key-11')
    await payments.resume('sub_1', 'key-12')
    await stripePayments({ ...env, STRIPE_API_BASE: basic }).scheduleChange('sub_1', 'basic', 'key-13')
    await payments.releaseSchedule('sub_sched_1')
    const wrong = dear.upgrade('sub_1', { ...upgrade, at: Number.NaN }, 'key-14')
    await expect(wrong).rejects.toMatchObject({ code: 'provider_failed' })
  })

  test('creates, finalizes, and sends invoices', async () => {
    const invoice = { customerId: 'cus_1', billId: 'bill_1', description: 'Usage', charges: false }
    const created = await payments.createInvoice(invoice, 'key-4')
    expect(created.id).toMatch(/^in_/)
    await payments.addInvoiceLine({ customerId: 'cus_1', invoiceId: created.id, cents: 175, description: 'x' }, 'key-5')
    expect((await payments.finalizeInvoice({ id: created.id, charges: false }, 'key-6')).id).toBe(created.id)
    expect((await payments.sendInvoice(created.id, 'key-7')).id).toBe(created.id)
    expect((await payments.findInvoice(created.id))?.id).toBe(created.id)
    await payments.findInvoiceOf('cus_1', 'bill_1')
    const charging = await payments.createInvoice({ ...invoice, charges: true }, 'key-15')
    expect((await payments.chargeNothing(charging.id, 'key-16')).id).toBe(charging.id)
    expect((await payments.finalizeInvoice({ id: charging.id, charges: true }, 'key-17')).id).toBe(charging.id)
  })

  test('looks for a card, and makes the plan’s the default', async () => {
    expect([null, 'card', 'bank account', 'payment method']).toContain(await payments.findMethod('cus_1', 0))
    expect([null, 'card', 'bank account', 'payment method']).toContain(
      await payments.adoptCard({ customerId: 'cus_1', subscriptionId: 'sub_1' }, 0),
    )
    const plan = { default_payment_method: { id: 'pm_1', customer: 'cus_1', card: { exp_year: 2030, exp_month: 1 } } }
    const told: string[] = []
    const fetcher: typeof fetch = async (url, init) => {
      if (init?.method === 'GET') return Response.json(plan)
      told.push(`${new URL(String(url)).pathname} ${init?.body}`)
      return fetch(url, init)
    }
    const adopting = stripePayments({ ...env, STRIPE_API_BASE: mock.url }, { fetcher })
    expect(await adopting.adoptCard({ customerId: 'cus_1', subscriptionId: 'sub_1' }, 0)).toBe('card')
    expect(told).toEqual(['/v1/customers/cus_1 invoice_settings[default_payment_method]=pm_1'])
  })

  test('credits open, partly paid, and paid invoices', async () => {
    const credit = { invoiceId: 'in_1', billId: 'bill_2', cents: 88, description: '1800 s less than billed: x' }
    expect(await payments.creditInvoice({ ...credit, toBalanceCents: 0 }, 'key-9')).toMatch(/^cn_/)
    expect(await payments.creditInvoice({ ...credit, toBalanceCents: 8 }, 'key-9b')).toMatch(/^cn_/)
    expect(await payments.creditInvoice({ ...credit, toBalanceCents: 88 }, 'key-10')).toMatch(/^cn_/)
    await payments.findCredit('in_1', 'bill_2')
  })

  test('marks an invalid request as not retryable', async () => {
    const line = { customerId: 'cus_1', invoiceId: 'in_1', cents: 'much' as never, description: 'Usage' }
    await expect(payments.addInvoiceLine(line, 'key-8')).rejects.toMatchObject({
      code: 'provider_failed',
      retryable: false,
    })
  })
})
