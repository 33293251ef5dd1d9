import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { plans } from '../../../../db/schema/billing.ts'
import { fileFolders } from '../../../../db/schema/files.ts'
import { signature } from '../../../../dev/stripe/webhooks.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { callsOf, openBillingSite } from '../../../../testing/stack/billing-site.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'
import { BUCKET, openSite } from '../../../../testing/stack/site.ts'

const { site, stripe, clock, post, get } = await openBillingSite(BUCKET)

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

test('until plans are for sale, the buttons say so and do nothing, and the call is refused', async () => {
  const { cookie } = await site.signInAs('user')
  const waiting = callsOf(await openSite({ STRIPE_API_BASE: stripe.apiBase, PLANS_FOR_SALE: 'false' }))
  const page = await (await waiting.get('/subscriptions', cookie)).text()
  const bought = await waiting.post('/api/v1/subscriptions/create_checkout_session', cookie, { plan_type: 'basic' })
  const sentence = 'Plans are not for sale yet. Contact sales if you need one now.'
  expect([bought.status, await bought.json()]).toEqual([422, expect.objectContaining({ Errors: [sentence] })])
  expect(page.match(/<button[^>]*disabled[^>]*>Coming Soon!<\/button>/g)).toHaveLength(2)
  expect(page).toContain('Most Popular')
  expect(page).toContain('<a href="/contact_sales">Contact sales</a> to get one')
})

test('a downgrade says beforehand, and again once it is chosen, what becomes of files that it does not include', async () => {
  const { cookie, userId } = await site.signInAs('user')
  const bought = await post('/api/v1/subscriptions/create_checkout_session', cookie, { plan_type: 'premium' })
  const { url } = (await bought.json()) as { url: string }
  await fetch(url, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ card: 'good' }) })
  await get('/account_overview?checkout=done', cookie)
  const shown = async () => (await get('/subscriptions/change?plan_type=basic', cookie)).text()
  expect(await shown()).not.toContain('Your files use')
  await site.db.insert(fileFolders).values({ userId, prefix: newId('sub'), createdAt: 1, usedBytes: 11_000_000_000 })
  const words =
    'Your files use 11 GB, and Basic includes 10 GB. Once it begins, you can only read and delete them. 7 days'
  expect(await shown()).toContain(words)
  const changed = await post('/api/v1/subscriptions/change_plan', cookie, { plan_type: 'basic' })
  expect(await changed.json()).toMatchObject({ message: expect.stringContaining(words) })
})

test('who chooses a plan sees which one does not include their files', async () => {
  const { cookie, userId } = await site.signInAs('user')
  const shown = async () => (await get('/subscriptions', cookie)).text()
  expect(await shown()).not.toContain('Your files use')
  await site.db.insert(fileFolders).values({ userId, prefix: newId('sub'), createdAt: 1, usedBytes: 11_000_000_000 })
  const page = await shown()
  expect(page.match(/Your files use 11 GB, and \w+ includes 10 GB\. /g)).toEqual([
    'Your files use 11 GB, and Basic includes 10 GB. ',
  ])
  expect(page.indexOf('Your files use')).toBeLessThan(page.indexOf('/create_checkout_session'))
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
  const notices = () => Promise.all(pages.map(async (path) => (await (await get(path, cookie)).text()).includes(link)))
  expect(await notices()).toEqual(pages.map(() => false))
  expect((await get('/subscriptions/pay', cookie)).headers.get('Location')).toBe('/billing_history')

  clock.ahead = 32 * 86_400_000
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
