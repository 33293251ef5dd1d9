import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { plans } from '../../../../db/schema/billing.ts'
import { places, runs } from '../../../../db/schema/fleet.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { openBillingSite } from '../../../../testing/stack/billing-site.ts'

const { site, post, get } = await openBillingSite()

test('the budget: set, shown, refused, and removed, each person their own', async () => {
  const [ada, eve] = [await site.signInAs('user'), await site.signInAs('user')]
  const set = async (body: object) => {
    const answer = await post('/api/v1/billings/budget', ada.cookie, body)
    return { status: answer.status, body: await answer.json() }
  }
  const shown = async (cookie: string) => {
    const html = (await (await get('/settings/billing', cookie)).text()).replaceAll('<!-- -->', '')
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
  expect(await (await get('/settings/billing', ada.cookie)).text()).toContain('$20.00')
  expect(await shown(eve.cookie)).toMatchObject({ dollars: '', stops: false })
  const refusals = {
    0: 'Use whole dollars, $1 or more.',
    20.5: 'Use whole dollars, $1 or more.',
    1000001: 'Use at most $1,000,000.00.',
  }
  for (const [dollars, error] of Object.entries(refusals))
    expect(await set({ dollars: Number(dollars), stops: true })).toMatchObject({ status: 422, body: { error } })
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
    const page = await (await get('/settings/billing', cookie)).text()
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
  expect(await refusal()).toEqual({ code: 'budget', error, page: '/settings/billing#budget' })
  // Without script, the dashboard says so as well.
  expect(await startButton()).toEqual({
    disabled: true,
    hint: `id="start-hint">${error}</span> <a href="/settings/billing#budget">Change your budget</a></p>`,
  })
  const refused = await post('/api/v1/aws/auto_cloud_start_request', cookie, {})
  expect([refused.status, await refused.json()]).toMatchObject([402, { error, page: '/settings/billing#budget' }])
})
