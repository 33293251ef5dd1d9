import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { bills } from '../../../../db/schema/billing.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { openBillingSite } from '../../../../testing/stack/billing-site.ts'
import { SITE } from '../../../../testing/stack/site.ts'

const { site, stripe, post, get } = await openBillingSite()

async function insertRecord(userId: string) {
  const id = newId('bill')
  await site.db.insert(bills).values({
    id,
    userId,
    periodStart: Date.UTC(2028, 0, 31, 8),
    periodEnd: Date.UTC(2028, 1, 29, 8),
    planType: 'basic',
    includedHours: 5,
    trial: false,
    seconds: 18_011,
    amountCents: 1,
    createdAt: Date.UTC(2028, 2, 1),
  })
  return id
}

test('history: the fields of the contract, the kind, the plan, and the due date, only your own, newest first', async () => {
  const { cookie, userId } = await site.signInAs('user')
  const other = await site.signInAs('user')
  const id = await insertRecord(userId)
  const body = await (await get('/api/v1/billings/history', cookie)).json()
  expect(body).toEqual({
    billings: [
      {
        id,
        kind: 'usage',
        start_date: '2028-01-31',
        end_date: '2028-02-29',
        amount_owed: 0.01,
        seconds_used: 18_011,
        paid: false,
        overdue: false,
        transaction_id: null,
        plan: 'Basic',
        due_date: null,
        invoice_number: null,
        amount_refunded: 0,
        dispute: null,
      },
    ],
  })
  expect(await (await get('/api/v1/billings/history', other.cookie)).json()).toEqual({ billings: [] })
  expect((await get(`/billing_history/${id}`, cookie)).status).toBe(200)
  expect((await get(`/billing_history/${id}`, other.cookie)).status).toBe(404)
})

test('the CSV is a download, for one month on request', async () => {
  const { cookie, userId } = await site.signInAs('user')
  await insertRecord(userId)
  const all = await get('/billing_history.csv', cookie)
  expect([all.headers.get('Content-Type'), all.headers.get('Content-Disposition')]).toEqual([
    'text/csv; charset=utf-8',
    'attachment; filename="proving-ground-bills.csv"',
  ])
  const bytes = new Uint8Array(await all.arrayBuffer())
  // Excel takes a file without a byte-order mark for one of its own code page.
  expect([...bytes.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
  const lines = new TextDecoder().decode(bytes).split('\r\n')
  expect(lines[1]).toBe('2028-01-31,2028-02-29,0.01,18011,false,false,,Usage,Basic,,,0.00,')
  const other = await get('/billing_history.csv?month=2027-12', cookie)
  expect(other.headers.get('Content-Disposition')).toBe('attachment; filename="proving-ground-bills-2027-12.csv"')
  expect((await other.text()).trim().split('\r\n')).toHaveLength(1)
})

test('the portal: for the caller’s own customer, a form needs the page’s token, and only its pages let forms lead there', async () => {
  const { cookie, userId } = await site.signInAs('user')
  const open = () => post('/api/v1/billings/portal', cookie)
  const shown = async () => {
    const page = await get('/billing_history', cookie)
    const [bound] = (page.headers.get('Set-Cookie') ?? '').split(';')
    return { csp: page.headers.get('Content-Security-Policy'), html: await page.text(), bound }
  }
  expect((await open()).status).toBe(404)
  expect((await shown()).html).not.toContain('Payment method and receipts')
  expect((await shown()).csp).toContain("form-action 'self';")

  const made = await fetch(`${stripe.apiBase}/v1/customers`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk' },
    body: new URLSearchParams({ email: 'own@example.com' }),
  })
  const { id } = (await made.json()) as { id: string }
  await site.db.update(users).set({ stripeCustomerId: id }).where(eq(users.id, userId))
  const { html, csp, bound } = await shown()
  expect(csp).toContain("form-action 'self' https://billing.stripe.com;")
  const good = await open()
  expect(good.status).toBe(200)
  const { url } = (await good.json()) as { url: string }
  expect(await (await fetch(url)).text()).toContain('own@example.com')

  const token = /name="authenticity_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
  const press = (fields: Record<string, string>) =>
    site.request('/api/v1/billings/portal', {
      method: 'POST',
      headers: { Cookie: `${cookie}; ${bound}`, Origin: SITE, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    })
  const pressed = await press({ authenticity_token: token, customer: 'cus_other' })
  expect([pressed.status, pressed.headers.get('Location')]).toEqual([303, expect.stringContaining('/p/session/bps_')])
  const forged = await press({})
  expect(forged.headers.get('Location') ?? '').not.toContain('/p/session/')
})
