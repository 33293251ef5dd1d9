import { expect, onTestFinished, test } from 'vitest'
import { startStripe } from '../../../dev/stripe/stand-in.ts'
import { stripePayments } from '../../../src/server/billing/stripe.ts'
import { temporaryFolder } from '../../../testing/stack/at-end.ts'
import { serve } from '../../../testing/stack/serve.ts'

const env = { STRIPE_SECRET_KEY: 'sk_test_local', STRIPE_WEBHOOK_SECRET: 'whsec_local' }

/** Records every request and answers with `status`. */
async function receiver() {
  const got: { body: string; signature: string }[] = []
  const state = { status: 200, got }
  const origin = await serve(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    got.push({ body, signature: String(request.headers['stripe-signature']) })
    response.writeHead(state.status).end()
  })
  return Object.assign(state, { url: `${origin}/webhooks/stripe` })
}

async function standIn(options: { now: () => number; webhookUrl?: string; dataDir?: string }) {
  const dataDir = options.dataDir ?? temporaryFolder('stripe-webhooks')
  const started = await startStripe({ ...options, dataDir })
  onTestFinished(() => started.close())
  return { ...started, dataDir, payments: stripePayments({ ...env, STRIPE_API_BASE: started.apiBase }) }
}

test('signs events, and rejects a wrong signature, a changed body, or an event over five minutes old', async () => {
  const now = Date.UTC(2028, 5, 1)
  const { url, got } = await receiver()
  const { payments, settle } = await standIn({ now: () => now, webhookUrl: url })
  const customer = await payments.createCustomer({ id: 'user_1', email: 'a@example.com' }, 'k')
  await settle()
  const [event] = got
  if (!event) throw new Error('no event arrived')
  expect(await payments.readEvent(event.body, event.signature, now)).toMatchObject({
    type: 'customer.created',
    about: 'other',
    objectId: customer,
  })
  const refused = { code: 'malformed' }
  await expect(payments.readEvent(event.body.replace('a@', 'b@'), event.signature, now)).rejects.toMatchObject(refused)
  await expect(payments.readEvent(event.body, event.signature, now + 301_000)).rejects.toMatchObject(refused)
  await expect(payments.readEvent(event.body, 't=1,v1=00', now)).rejects.toMatchObject(refused)
  await expect(payments.readEvent(event.body, '', now)).rejects.toMatchObject(refused)
})

test('resends rejected events with growing delays, even after a restart', async () => {
  let now = Date.UTC(2028, 5, 1)
  const target = await receiver()
  target.status = 500
  const first = await standIn({ now: () => now, webhookUrl: target.url })
  await first.payments.createCustomer({ id: 'user_1', email: 'a@example.com' }, 'k')
  await first.settle()
  await first.settle()
  expect(target.got).toHaveLength(1)
  now += 1000
  await first.settle()
  expect(target.got).toHaveLength(2)
  await first.close()

  const second = await standIn({ now: () => now, dataDir: first.dataDir })
  target.status = 200
  now += 5000
  second.setWebhookUrl(target.url)
  await second.settle()
  await second.settle()
  expect(target.got).toHaveLength(3)
  expect(new Set(target.got.map((g) => g.body)).size).toBe(1)
})

test('announces renewals and overdue invoices once as time passes, dated when due', async () => {
  let now = Date.UTC(2028, 0, 31)
  const { url, got } = await receiver()
  const { payments, settle } = await standIn({ now: () => now, webhookUrl: url })
  const customerId = await payments.createCustomer({ id: 'user_1', email: 'a@example.com' }, 'k')
  const session = await payments.createCheckout(
    { customerId, userId: 'user_1', planType: 'premium', successUrl: 'https://s.test/', cancelUrl: 'https://s.test/' },
    'k2',
  )
  await fetch(session.url as string, { method: 'POST', redirect: 'manual' })
  const draft = await payments.createInvoice({ customerId, billId: 'bill_1', description: 'd', charges: false }, 'k3')
  await payments.addInvoiceLine({ customerId, invoiceId: draft.id, cents: 500, description: 'd' }, 'k4')
  await payments.finalizeInvoice({ id: draft.id, charges: false }, 'k5')
  await settle()
  got.splice(0)
  now = Date.UTC(2028, 2, 31, 1)
  await settle()
  await settle()
  const events = got.map((g) => JSON.parse(g.body)).map((e) => [e.type, new Date(e.created * 1000).toISOString()])
  const dated = (type: string) => events.filter(([t]) => t === type).map(([, at]) => at?.slice(0, 10))
  expect(dated('customer.subscription.updated')).toEqual(['2028-02-29', '2028-03-31'])
  expect(dated('invoice.paid')).toEqual(['2028-02-29', '2028-03-31'])
  expect(dated('invoice.overdue')).toEqual(['2028-02-15'])
})
