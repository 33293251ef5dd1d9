import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type StripeStandIn, startStripe } from '../../dev/stripe/stand-in.ts'
import { stripePayments } from '../../src/server/billing/stripe.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'

const DAY = 86_400_000
const env = { STRIPE_SECRET_KEY: 'sk_test_local', STRIPE_WEBHOOK_SECRET: 'whsec_local' }

describe('the Stripe adapter against the stand-in', () => {
  const dataDir = temporaryFolder('stripe-contract')
  let now = Date.UTC(2028, 0, 31, 9)
  let standIn: StripeStandIn
  const payments = () => stripePayments({ ...env, STRIPE_API_BASE: standIn.apiBase })
  const press = (url: string, card?: string) =>
    fetch(url, { method: 'POST', redirect: 'manual', ...(card && { body: new URLSearchParams({ card }) }) })

  const open = async () => {
    standIn = await startStripe({ dataDir, now: () => now })
  }
  beforeAll(open)
  afterAll(async () => {
    await standIn.close()
  })

  const checkout = (customerId: string) => ({
    customerId,
    userId: 'user_1',
    planType: 'basic' as const,
    successUrl: 'https://site.test/account_overview?checkout=done',
    cancelUrl: 'https://site.test/subscriptions',
  })

  /** A new customer who subscribes on Stripe's page. */
  async function subscribed(
    n: number,
    { planType = 'basic', card }: { planType?: 'basic' | 'premium'; card?: string } = {},
  ) {
    const user = { id: `user_${n}`, email: `${n}@example.com` }
    const customer = await payments().createCustomer(user, `customer-${n}`)
    const session = await payments().createCheckout(
      { ...checkout(customer), userId: user.id, planType },
      `checkout-${n}`,
    )
    const shown = await (await fetch(session.url as string)).text()
    await press(session.url as string, card)
    return { customer, shown, id: (await payments().getCheckout(session.id))?.subscriptionId as string }
  }

  test('creates one customer per key and finds it by its metadata', async () => {
    const user = { id: 'user_0', email: 'zero@example.com' }
    expect(await payments().findCustomer(user)).toBeNull()
    const id = await payments().createCustomer(user, 'customer-0')
    expect(await payments().createCustomer(user, 'customer-0')).toBe(id)
    expect(await payments().findCustomer(user)).toBe(id)
    expect(await payments().findCustomer({ ...user, id: 'someone else' })).toBeNull()
  })

  test('rejects a key reused for another request, and forgets keys after a day', async () => {
    const create = async (email: string) => {
      const headers = { authorization: 'Bearer sk', 'idempotency-key': 'key-a' }
      const body = new URLSearchParams({ email })
      const answer = await fetch(`${standIn.apiBase}/v1/customers`, { method: 'POST', headers, body })
      return [answer.status, ((await answer.json()) as { error?: { type: string } }).error?.type]
    }
    expect(await create('a@example.com')).toEqual([200, undefined])
    expect(await create('b@example.com')).toEqual([400, 'idempotency_error'])
    // Whoever asks something else with a key of an older version gets it all the same.
    expect(await payments().createCustomer({ id: 'c', email: 'c@example.com' }, 'key-a')).toMatch(/^cus_/)
    now += DAY
    expect(await create('b@example.com')).toEqual([200, undefined])
  })

  test('gives up on a call that is never answered', async () => {
    standIn.inject('timeout')
    const impatient = stripePayments({ ...env, STRIPE_API_BASE: standIn.apiBase }, { timeoutMs: 50 })
    const call = impatient.createCustomer({ id: 'c', email: 'c@example.com' }, 'key-c')
    await expect(call).rejects.toMatchObject({ code: 'unavailable' })
    // A slow machine may have given up before the stand-in had read the call.
    standIn.heal()
  })

  test('checks out, renews, and cancels at the end of the period', async () => {
    now = Date.UTC(2028, 0, 31, 9)
    const customer = await payments().createCustomer({ id: 'user_1', email: 'one@example.com' }, 'customer-1')
    const session = await payments().createCheckout(checkout(customer), 'checkout-1')
    expect(session).toMatchObject({ status: 'open', subscriptionId: null })
    const shown = await (await fetch(session.url as string)).text()
    expect(shown).toContain('Pay $25.00')
    expect(shown).toContain('https://site.test/subscriptions')

    const paid = await press(session.url as string)
    expect([paid.status, paid.headers.get('location')]).toEqual([
      303,
      'https://site.test/account_overview?checkout=done',
    ])
    expect((await press(session.url as string)).status).toBe(303)
    const done = await payments().getCheckout(session.id)
    expect(done).toMatchObject({ status: 'complete', url: null })
    const find = () => payments().findSubscription(done?.subscriptionId as string)
    expect(await find()).toMatchObject({
      userId: 'user_1',
      planType: 'basic',
      status: 'active',
      anchor: now,
      cancelAt: null,
      endedAt: null,
    })

    now = Date.UTC(2028, 1, 29, 9)
    expect(await find()).toMatchObject({ anchor: Date.UTC(2028, 0, 31, 9), status: 'active' })
    await payments().cancelAtPeriodEnd(done?.subscriptionId as string, 'cancel-1')
    const end = Date.UTC(2028, 2, 31, 9)
    expect(await find()).toMatchObject({ cancelAtPeriodEnd: true, cancelAt: end, endedAt: null, status: 'active' })
    now = end + 5 * DAY
    expect(await find()).toMatchObject({ status: 'canceled', endedAt: end })
  })

  test('turns past due when a renewal fails, unpaid after two weeks, and active once its latest invoice is paid', async () => {
    now = Date.UTC(2028, 0, 31, 9)
    const { id, shown } = await subscribed(8, { card: 'declined_later' })
    expect(shown).toContain(
      '<button class="quiet" name="card" value="declined_later">Pay, declined at renewals</button>',
    )
    const state = async () => {
      const found = await payments().findSubscription(id)
      return [found?.status, new Date(found?.periodStart ?? 0).toISOString().slice(0, 10)]
    }
    expect([await state(), await payments().findPlanPayPage(id)]).toEqual([['active', '2028-01-31'], null])
    now = Date.UTC(2028, 1, 29, 9)
    expect(await state()).toEqual(['past_due', '2028-02-29'])
    now += 14 * DAY
    expect(await state()).toEqual(['unpaid', '2028-02-29'])
    now = Date.UTC(2028, 2, 31, 9)
    expect(await state()).toEqual(['unpaid', '2028-03-31'])
    const page = await payments().findPlanPayPage(id)
    expect(await (await fetch(page as string)).text()).toContain('Pay $25.00')
    expect((await press(page as string)).status).toBe(303)
    expect([await state(), await payments().findPlanPayPage(id)]).toEqual([['active', '2028-03-31'], null])
    const paidIn = (start: number, end: number) => payments().wasPaidWithin(id, { start, end })
    expect([await paidIn(now, now + 1), await paidIn(now - DAY, now), await paidIn(now + 1, now + DAY)]).toEqual([
      true,
      false,
      false,
    ])
    now = Date.UTC(2028, 3, 30, 9)
    expect(await state()).toEqual(['past_due', '2028-04-30'])
  })

  test('invoices a plan by the lines it charges, and shows receipts and the card in the customer portal', async () => {
    now = Date.UTC(2028, 0, 31, 9)
    const { customer, id } = await subscribed(9, { card: 'declined_later' })
    now = Date.UTC(2028, 1, 29, 9)
    const [second, first] = await payments().listPlanInvoices(id)
    const whose = { subscriptionId: id, customerId: customer, userId: 'user_9', boughtAs: 'basic', cents: 2500 }
    expect(first).toMatchObject({
      status: 'paid',
      billId: null,
      plan: { ...whose, start: Date.UTC(2028, 0, 31, 9), end: now },
    })
    expect(second).toMatchObject({
      status: 'open',
      remainingCents: 2500,
      plan: { ...whose, start: now, end: Date.UTC(2028, 2, 31, 9) },
    })
    const portal = await payments().createPortal({ customerId: customer, returnUrl: 'https://site.test/back' })
    const shown = async () => (await fetch(portal)).text()
    expect(await shown()).toMatch(/declined at renewals.*Open.*\$25\.00.*Paid.*\$25\.00.*https:\/\/site\.test\/back/s)
    expect((await press(portal)).status).toBe(303)
    expect(await shown()).not.toContain('declined')
    await press(second?.hostedUrl as string)
    now = Date.UTC(2028, 2, 31, 9)
    expect((await payments().listPlanInvoices(id)).map(({ status }) => status)).toEqual(['paid', 'paid', 'paid'])
    const nobody = { customerId: 'cus_none', returnUrl: 'https://site.test/back' }
    await expect(payments().createPortal(nobody)).rejects.toMatchObject({ code: 'provider_failed' })
  })

  test('upgrades for the quoted price, changes nothing if declined, and counts no upgrade as payment for a period', async () => {
    now = Date.UTC(2028, 0, 31, 9)
    const { customer, id } = await subscribed(10, { card: 'declined_later' })
    const [start, end] = [now, Date.UTC(2028, 1, 29, 9)]
    now = start + (end - start) / 2
    const upgrade = { from: 'basic', to: 'premium', at: now } as const
    expect(await payments().quoteUpgrade(id, upgrade)).toBe(11_250)
    await expect(payments().upgrade(id, upgrade, 'upgrade-1')).rejects.toMatchObject({ code: 'plan_unpaid' })
    expect([await payments().findSubscription(id), await payments().listPlanInvoices(id)]).toMatchObject([
      { planType: 'basic', upgradedAt: null, scheduleId: null },
      [{ totalCents: 2500 }],
    ])
    await payments().cancelAtPeriodEnd(id, 'cancel-10')
    await press(await payments().createPortal({ customerId: customer, returnUrl: 'https://site.test/back' }))
    await payments().upgrade(id, upgrade, 'upgrade-2')
    await payments().upgrade(id, upgrade, 'upgrade-2')
    // It charges nothing for the plan it already has.
    await payments().upgrade(id, upgrade, 'upgrade-3')
    expect(await payments().findSubscription(id)).toMatchObject({
      planType: 'premium',
      boughtAs: 'premium',
      upgradedAt: now,
      upgradedFrom: 'basic',
      cancelAtPeriodEnd: false,
    })
    const [charge, ...before] = await payments().listPlanInvoices(id)
    expect([charge, before.length]).toMatchObject([{ status: 'paid', plan: { cents: 11_250, start: now, end } }, 1])
    expect(await payments().wasPaidWithin(id, { start: now, end })).toBe(false)
    const outside = payments().quoteUpgrade(id, { from: 'premium', to: 'basic', at: end })
    await expect(outside).rejects.toMatchObject({ code: 'provider_failed' })
  })

  test('changes a plan with the next period, unless the change is undone', async () => {
    now = Date.UTC(2028, 0, 31, 9)
    const { id } = await subscribed(11, { planType: 'premium' })
    const found = async () => {
      const { planType, nextPlanType, scheduleId } = (await payments().findSubscription(id)) ?? {}
      return [planType, nextPlanType, scheduleId !== null]
    }
    const release = async () =>
      payments().releaseSchedule((await payments().findSubscription(id))?.scheduleId as string)
    await payments().scheduleChange(id, 'basic', 'change-1')
    expect(await found()).toEqual(['premium', 'basic', true])
    await expect(payments().cancelAtPeriodEnd(id, 'cancel-11')).rejects.toMatchObject({ code: 'provider_failed' })
    await expect(payments().scheduleChange(id, 'basic', 'change-2')).rejects.toMatchObject({ code: 'provider_failed' })
    await release()
    expect(await found()).toEqual(['premium', null, false])
    now = Date.UTC(2028, 1, 29, 9)
    expect(await found()).toEqual(['premium', null, false])
    await payments().scheduleChange(id, 'basic', 'change-3')
    now = Date.UTC(2028, 2, 31, 9)
    expect(await found()).toEqual(['basic', 'basic', true])
    now = Date.UTC(2028, 3, 30, 9)
    expect(await found()).toEqual(['basic', null, false])
    const charged = (await payments().listPlanInvoices(id)).map(({ totalCents }) => totalCents)
    expect(charged).toEqual([2500, 2500, 25_000, 25_000])
  })

  test('expires abandoned checkouts and refuses payment afterward', async () => {
    const customer = await payments().createCustomer({ id: 'user_2', email: 'two@example.com' }, 'customer-2')
    const session = await payments().createCheckout({ ...checkout(customer), userId: 'user_2' }, 'checkout-2')
    now += DAY
    expect((await payments().getCheckout(session.id))?.status).toBe('expired')
    expect((await press(session.url as string)).status).toBe(400)
    await expect(payments().expireCheckout(session.id)).rejects.toMatchObject({ code: 'provider_failed' })
  })

  test('takes an invoice from draft to paid, even if Pay is pressed twice', async () => {
    const customerId = await payments().createCustomer({ id: 'user_3', email: 'three@example.com' }, 'customer-3')
    const wanted = { customerId, billId: 'bill_3', description: 'Server time', charges: false }
    const draft = await payments().createInvoice(wanted, 'invoice-3')
    expect(draft).toMatchObject({ status: 'draft', billId: 'bill_3', totalCents: 0 })
    const line = { customerId, invoiceId: draft.id, cents: 1234, description: '7,052 seconds' }
    await payments().addInvoiceLine(line, 'line-3')
    await payments().addInvoiceLine(line, 'line-3')
    expect((await payments().findInvoice(draft.id))?.totalCents).toBe(1234)
    const open = await payments().finalizeInvoice({ id: draft.id, charges: false }, 'finalize-3')
    expect(open).toMatchObject({ status: 'open', totalCents: 1234, dueAt: now + 15 * DAY, paidAt: null })
    expect(await payments().finalizeInvoice({ id: draft.id, charges: false }, 'finalize-3')).toEqual(open)
    expect((await payments().sendInvoice(draft.id, 'send-3')).status).toBe('open')
    expect((await payments().findInvoiceOf(customerId, 'bill_3'))?.id).toBe(draft.id)
    expect(await payments().findInvoiceOf(customerId, 'bill_4')).toBeNull()

    now += 16 * DAY
    expect(await (await fetch(open.hostedUrl as string)).text()).toContain('Overdue')
    for (let press_ = 0; press_ < 2; press_++) expect((await press(open.hostedUrl as string)).status).toBe(303)
    expect(await payments().findInvoice(draft.id)).toMatchObject({ status: 'paid', paidAt: now })
    await expect(payments().addInvoiceLine(line, 'line-4')).rejects.toMatchObject({ code: 'provider_failed' })
  })

  test('skips the call on an error, and repeats the error to its key, as Stripe does for a day', async () => {
    const user = { id: 'user_5', email: 'five@example.com' }
    const before = standIn.calls().length
    standIn.inject('error')
    await expect(payments().createCustomer(user, 'customer-5')).rejects.toMatchObject({ retryable: true })
    expect(await payments().findCustomer(user)).toBeNull()
    // The second try takes another key.
    const id = await payments().createCustomer(user, 'customer-5')
    expect(await payments().findCustomer(user)).toBe(id)
    const made = standIn
      .calls()
      .slice(before)
      .filter(({ method }) => method === 'POST')
    expect(made.map(({ status, replayed }) => [status, replayed])).toEqual([
      [500, false],
      [500, true],
      [200, false],
    ])
  })

  test('completes the call on a lost answer, and answers a retry with the same key', async () => {
    const user = { id: 'user_51', email: 'fiftyone@example.com' }
    standIn.inject('lost_response')
    await expect(payments().createCustomer(user, 'customer-51')).rejects.toMatchObject({ code: 'unavailable' })
    const id = await payments().findCustomer(user)
    expect(await payments().createCustomer(user, 'customer-51')).toBe(id)
  })

  test('keeps everything across a restart', async () => {
    const customer = await payments().createCustomer({ id: 'user_6', email: 'six@example.com' }, 'customer-6')
    const session = await payments().createCheckout({ ...checkout(customer), userId: 'user_6' }, 'checkout-6')
    await standIn.close()
    await open()
    expect(await payments().createCustomer({ id: 'user_6', email: 'six@example.com' }, 'customer-6')).toBe(customer)
    expect((await payments().getCheckout(session.id))?.status).toBe('open')
  })

  test('returns null for missing objects and refuses unknown price keys', async () => {
    expect(await payments().findSubscription('sub_none')).toBeNull()
    expect(await payments().findInvoice('in_none')).toBeNull()
    const customer = await payments().createCustomer({ id: 'user_7', email: '7@example.com' }, 'customer-7')
    const enterprise = { ...checkout(customer), planType: 'enterprise' as const }
    await expect(payments().createCheckout(enterprise, 'checkout-7')).rejects.toMatchObject({ code: 'provider_failed' })
  })
})
