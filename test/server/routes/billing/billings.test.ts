import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bills, places, plans, runs, users } from '../../../../db/schema.ts'
import { type StripeStandIn, startStripe } from '../../../../dev/stripe/stand-in.ts'
import { signature } from '../../../../dev/stripe/webhooks.ts'
import { newId } from '../../../../src/server/id.ts'
import { temporaryFolder } from '../../../../testing/stack/at-end.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'
import { openSite, SITE } from '../../../../testing/stack/site.ts'

describe('the billing routes', () => {
  const dataDir = temporaryFolder('billings')
  /** How far Stripe's clock is ahead of ours. */
  let ahead = 0
  let stripe: StripeStandIn
  let site: Awaited<ReturnType<typeof openSite>>
  beforeAll(async () => {
    stripe = await startStripe({ dataDir, webhookSecret: 'whsec_x', now: () => Date.now() + ahead })
    site = await openSite({ STRIPE_API_BASE: stripe.apiBase, PLANS_FOR_SALE: 'true' })
  })
  afterAll(async () => {
    await stripe.close()
  })

  afterEach(() => expect(inBrief(site.takeLines())).toEqual([]))

  const post = (path: string, cookie: string, body?: unknown) =>
    site.request(path, {
      method: 'POST',
      headers: {
        Cookie: cookie,
        Origin: SITE,
        'Sec-Fetch-Site': 'same-origin',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const get = (path: string, cookie: string) => site.request(path, { headers: { Cookie: cookie } })

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
      'attachment; filename="billing-history.csv"',
    ])
    expect((await all.text()).split('\r\n')[1]).toBe('2028-01-31,2028-02-29,0.01,18011,false,false,,Usage,Basic,')
    expect((await (await get('/billing_history.csv?month=2027-12', cookie)).text()).trim().split('\r\n')).toHaveLength(
      1,
    )
  })

  test('checkout: takes a plan by name, never a price; refusals carry Errors', async () => {
    const { cookie } = await site.signInAs('user')
    const buy = (body: unknown) => post('/api/v1/subscriptions/create_checkout_session', cookie, body)
    const good = await buy({ plan_type: 'premium', price: 1, unit_amount: 1 })
    const { url } = (await good.json()) as { url: string }
    expect(good.status).toBe(200)
    expect(await (await fetch(url)).text()).toContain('$250.00')
    for (const plan_type of ['enterprise', 'demo', 'x', undefined]) {
      const bad = await buy({ plan_type })
      expect([bad.status, ((await bad.json()) as { Errors: string[] }).Errors.length]).toEqual([422, 1])
    }
    stripe.inject('error')
    const down = await buy({ plan_type: 'premium' })
    expect([down.status, ((await down.json()) as { Errors: string[] }).Errors.length]).toEqual([503, 1])
    expect(inBrief(site.takeLines())).toEqual(['request_failed unavailable'])
  })

  test('cancel: 404 without a plan, otherwise the plan that will end and the sentence', async () => {
    const { cookie, userId } = await site.signInAs('user')
    const cancel = () => post('/api/v1/subscriptions/cancel_subscription_at_period_end', cookie)
    expect((await cancel()).status).toBe(404)
    await site.db.insert(plans).values({
      id: newId('sub'),
      userId,
      planType: 'enterprise',
      subType: 'paid',
      status: 'active',
      anchor: Date.now() - 1000,
      hours: 100,
      createdAt: Date.now(),
    })
    const answer = await cancel()
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({
      subscription: { plan_type: 'enterprise', cancel_at_period_end: true, status: 'active' },
      message: 'Your subscription has been cancelled and will not renew.',
    })
  })

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

  test('the budget: set, shown, refused, and removed, each person their own', async () => {
    const [ada, eve] = [await site.signInAs('user'), await site.signInAs('user')]
    const set = async (body: object) => {
      const answer = await post('/api/v1/billings/budget', ada.cookie, body)
      return { status: answer.status, body: await answer.json() }
    }
    const shown = async (cookie: string) => {
      const html = (await (await get('/budget', cookie)).text()).replaceAll('<!-- -->', '')
      return {
        dollars: /name="dollars"[^>]* value="(\d*)"/.exec(html)?.[1] ?? '',
        stops: /<input [^>]*name="stops"[^>]* checked=""/.test(html),
        html,
      }
    }
    expect(await shown(ada.cookie)).toMatchObject({ dollars: '', stops: false })
    expect(await set({ dollars: 20, stops: true })).toEqual({
      status: 200,
      body: { message: 'Budget saved.', budget: { dollars: 20, stops: true } },
    })
    expect(await set({ stops: true })).toMatchObject({
      status: 400,
      body: { error: 'The field "dollars" is missing or has the wrong type.' },
    })
    expect(await shown(ada.cookie)).toMatchObject({
      dollars: '20',
      stops: true,
      html: expect.stringContaining('$0.00 of $20.00'),
    })
    expect(await (await get('/account_overview', ada.cookie)).text()).toContain('$20.00')
    expect(await shown(eve.cookie)).toMatchObject({ dollars: '', stops: false })
    for (const dollars of [0, 20.5, 1_000_001, 'much'])
      expect(await set({ dollars, stops: true })).toMatchObject({
        status: 422,
        body: { error: 'A budget is in whole dollars, from $1.00 to $1,000,000.00.' },
      })
    expect((await shown(ada.cookie)).dollars).toBe('20')
    expect(await set({ dollars: null })).toMatchObject({
      status: 200,
      body: { message: 'Budget removed.', budget: null },
    })
    expect((await shown(ada.cookie)).dollars).toBe('')
  })

  test('the budget page says when it is used up, also while nothing runs, and what that means', async () => {
    const { cookie, userId } = await site.signInAs('user')
    const now = Math.floor(Date.now() / 1000) * 1000
    await site.db.insert(plans).values({
      id: newId('sub'),
      userId,
      planType: 'basic',
      subType: 'paid',
      status: 'active',
      anchor: now - 86_400_000,
      hours: 0,
      createdAt: now,
    })
    await site.db
      .update(users)
      .set({ createdAt: now - 86_400_000 })
      .where(eq(users.id, userId))
    const placeId = newId('srv')
    await site.db.insert(places).values({ id: placeId, instanceType: 'g6.4xlarge', availabilityZone: 'a', position: 1 })
    const spend = async (seconds: number) => {
      await site.db.delete(runs).where(eq(runs.userId, userId))
      const [from, until] = [now - 10_000_000, now - 10_000_000 + seconds * 1000]
      const place = { placeId, instanceType: 'g6.4xlarge' }
      await site.db.insert(runs).values({
        ...place,
        id: newId('ses'),
        userId,
        requestedAt: from,
        runningAt: from,
        billedFrom: from,
        confirmedAt: until,
        meteredUntil: until,
        stopRequestedAt: until,
        endedAt: until,
      })
    }
    const says = async (stops: boolean) => {
      await post('/api/v1/billings/budget', cookie, { dollars: 1, stops })
      const page = await (await get('/budget', cookie)).text()
      return /This month&#x27;s budget is used up[^<]*/.exec(page)?.[0] ?? null
    }
    const refusal = async () => (await (await get('/api/v1/billings/summary', cookie)).json()).start_refusal
    const startButton = async () => {
      const page = (await (await get('/dashboard', cookie)).text()).replaceAll('<!-- -->', '')
      const [button = ''] = /<button[^>]*id="start-server"[^>]*>/.exec(page) ?? []
      return { disabled: /disabled=""/.test(button), hint: /id="start-hint".*?<\/p>/.exec(page)?.[0] }
    }
    // 99.5 cents round up to the whole dollar.
    await spend(2046)
    expect([await says(true), await refusal(), await says(false)]).toEqual([null, null, null])
    await spend(2047)
    expect(await says(false)).toContain('You can still start servers')
    expect([await refusal(), (await startButton()).disabled]).toEqual([null, false])
    expect(await says(true)).toContain('you can&#x27;t start servers')
    const error = 'Your budget for this month is used up. Raise it to start servers.'
    expect(await refusal()).toEqual({ error, page: '/budget' })
    // Without script, the dashboard says so as well.
    expect(await startButton()).toEqual({
      disabled: true,
      hint: `id="start-hint">${error}</span> <a href="/budget">Change your budget</a></p>`,
    })
    const refused = await post('/api/v1/aws/auto_cloud_start_request', cookie, {})
    expect([refused.status, await refused.json()]).toMatchObject([402, { error, page: '/budget' }])
  })

  test('gives visitors nothing', async () => {
    for (const path of ['/api/v1/billings/history', '/api/v1/billings/summary'])
      expect((await site.request(path)).status).toBe(401)
    for (const path of ['/billing_history', '/billing_history/x', '/billing_history.csv', '/subscriptions'])
      expect((await site.request(path)).headers.get('Location')).toBe('/sign_in')
  })

  test('until plans are for sale, the buttons say so and do nothing, and the call is refused', async () => {
    const { cookie } = await site.signInAs('user')
    const selling = site
    site = await openSite({ STRIPE_API_BASE: stripe.apiBase, PLANS_FOR_SALE: 'false' })
    const page = await (await get('/subscriptions', cookie)).text()
    const bought = await post('/api/v1/subscriptions/create_checkout_session', cookie, { plan_type: 'basic' })
    site = selling
    const sentence = 'Plans are not for sale yet. Contact sales if you need one now.'
    expect([bought.status, await bought.json()]).toEqual([422, expect.objectContaining({ Errors: [sentence] })])
    expect(page.match(/<button[^>]*disabled[^>]*>Coming Soon!<\/button>/g)).toHaveLength(2)
    expect(page).toContain('Most Popular')
    expect(page).toContain('<a href="/contact_sales">Contact sales</a> to get one')
  })

  test('the seventh checkout page of an hour: 429, with the time to wait', async () => {
    const { cookie } = await site.signInAs('user')
    const buy = () => post('/api/v1/subscriptions/create_checkout_session', cookie, { plan_type: 'basic' })
    for (let n = 0; n < 6; n++) expect((await buy()).status).toBe(200)
    const seventh = await buy()
    expect([seventh.status, Number(seventh.headers.get('Retry-After'))]).toEqual([429, expect.any(Number)])
    expect(Number(seventh.headers.get('Retry-After'))).toBeGreaterThan(3500)
    expect(((await seventh.json()) as { Errors: string[] }).Errors).toHaveLength(1)
  })

  test('an upgrade that the bank asks about: the page says what to do, leads to Stripe, and notices the payment', async () => {
    const { cookie, userId } = await site.signInAs('user')
    const bought = await post('/api/v1/subscriptions/create_checkout_session', cookie, { plan_type: 'basic' })
    const { url } = (await bought.json()) as { url: string }
    await fetch(url, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ card: 'bank_asks' }) })
    await get('/account_overview?checkout=done', cookie)
    const shown = async () => (await (await get('/subscriptions', cookie)).text()).replaceAll('<!-- -->', '')
    expect(await shown()).toContain('Upgrade to Premium')

    const asked = await post('/api/v1/subscriptions/change_plan', cookie, { plan_type: 'premium' })
    expect([asked.status, await asked.json()]).toEqual([
      402,
      expect.objectContaining({
        errors: [
          "Your bank wants you to confirm this payment. Confirm it on Stripe's page, and your plan changes at once.",
        ],
        page: '/subscriptions/pay',
      }),
    ])
    expect(await shown()).toContain('you stay on Basic and we charge nothing')
    const again = await get('/subscriptions/change?plan_type=premium', cookie)
    expect([again.status, again.headers.get('Location')]).toEqual([303, '/subscriptions'])
    const stranger = await site.signInAs('user')
    expect((await get('/subscriptions/pay', stranger.cookie)).headers.get('Location')).toBe('/billing_history')

    const way = await get('/subscriptions/pay', cookie)
    expect(way.headers.get('Location')).toContain(`${stripe.apiBase}/i/in_`)
    await fetch(way.headers.get('Location') ?? '', { method: 'POST', redirect: 'manual' })
    // No webhook reaches this site: the page asks Stripe.
    expect(await shown()).toContain('Your plan: Premium')

    const lapsed = Date.now() - 1000
    await site.db.update(plans).set({ planType: 'basic', upgradeUntil: lapsed }).where(eq(plans.userId, userId))
    expect(await shown()).toContain('confirmed with your bank in time')
  })

  test('an unpaid plan: every page says so, a start names the page to pay on, and that leads to Stripe', async () => {
    const { cookie, userId } = await site.signInAs('user')
    const bought = await post('/api/v1/subscriptions/create_checkout_session', cookie, { plan_type: 'basic' })
    const { url } = (await bought.json()) as { url: string }
    await fetch(url, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ card: 'declined_later' }) })
    await get('/account_overview?checkout=done', cookie)
    const pages = ['/dashboard', '/subscriptions', '/account_overview', '/billing_history', '/devices', '/pricing']
    const link = '<a href="/subscriptions/pay">Pay the open invoice</a>'
    const notices = () =>
      Promise.all(pages.map(async (path) => (await (await get(path, cookie)).text()).includes(link)))
    expect(await notices()).toEqual(pages.map(() => false))
    expect((await get('/subscriptions/pay', cookie)).headers.get('Location')).toBe('/billing_history')

    ahead = 32 * 86_400_000
    await stripe.settle()
    const [plan] = await site.db.select().from(plans).where(eq(plans.userId, userId))
    const event = JSON.stringify({
      id: `evt_${newId('req')}`,
      type: 'invoice.payment_failed',
      data: {
        object: {
          id: 'in_x',
          object: 'invoice',
          parent: { type: 'subscription_details', subscription_details: { subscription: plan?.stripeSubscriptionId } },
        },
      },
    })
    const told = await site.request('/webhooks/stripe', {
      method: 'POST',
      headers: { 'Stripe-Signature': signature(event, 'whsec_x', Math.floor(Date.now() / 1000)) },
      body: event,
    })
    expect(told.status).toBe(200)
    expect(await notices()).toEqual(pages.map(() => true))
    const refused = await post('/api/v1/aws/auto_cloud_start_request', cookie)
    expect([refused.status, await refused.json()]).toEqual([
      402,
      expect.objectContaining({
        errors: ['Your plan is unpaid. Pay the open invoice to start servers again.'],
        page: '/subscriptions/pay',
        server: null,
      }),
    ])
    const summary = (await (await get('/api/v1/billings/summary', cookie)).json()) as { subscription: object }
    expect(summary.subscription).toMatchObject({ status: 'past_due' })
    const way = await get('/subscriptions/pay', cookie)
    expect([way.status, way.headers.get('Location')]).toEqual([303, expect.stringContaining(`${stripe.apiBase}/i/in_`)])
    await fetch(way.headers.get('Location') ?? '', { method: 'POST', redirect: 'manual' })
    // We ask Stripe itself, and there is nothing left to pay.
    const back = await get('/subscriptions/pay', cookie)
    expect(back.headers.get('Location')).toBe('/billing_history')
    expect(await notices()).toEqual(pages.map(() => false))
  })
})
