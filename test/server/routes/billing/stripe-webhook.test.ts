import { expect, test } from 'vitest'
import { signature } from '../../../../dev/stripe/webhooks.ts'
import { openBillingSite } from '../../../../testing/stack/billing-site.ts'

const { site } = await openBillingSite()

test('the webhook needs no sign-in and no CSRF token, only Stripe’s signature on exactly these bytes', async () => {
  const payload = JSON.stringify({
    id: 'evt_1',
    object: 'event',
    type: 'customer.created',
    data: { object: { id: 'cus_1' } },
  })
  const send = (body: string, signed: string) =>
    site.request('/webhooks/stripe', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json; charset=utf-8', 'Stripe-Signature': signed },
      body,
    })
  const signed = signature(payload, 'whsec_x', Math.floor(Date.now() / 1000))
  expect((await send(payload, signed)).status).toBe(200)
  expect((await send(payload, signed)).status).toBe(200)
  expect((await send(`${payload} `, signed)).status).toBe(400)
  expect((await send(payload, '')).status).toBe(400)

  // An event may be large; what looks unsigned may not.
  const large = JSON.stringify({ ...JSON.parse(payload), id: 'evt_2' }).padEnd(1024 * 1024)
  const now = Math.floor(Date.now() / 1000)
  expect((await send(large, signature(large, 'whsec_x', now))).status).toBe(200)
  expect((await send(large, signature(large, 'whsec_other', now))).status).toBe(400)
  expect((await send(`${large} `, signature(`${large} `, 'whsec_x', now))).status).toBe(413)
  expect((await send(payload.padEnd(64 * 1024 + 1), 'v1=unsigned')).status).toBe(413)
})
