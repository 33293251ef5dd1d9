import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { apiTokens, users } from '../../../../../db/schema/accounts.ts'
import { bills, invoices, plans } from '../../../../../db/schema/billing.ts'
import { places } from '../../../../../db/schema/fleet.ts'
import { newId } from '../../../../../src/server/crypto/id.ts'
import { openAdminConsole, REASON } from '../../../../../testing/people/admin-console.ts'
import { change } from '../../../../../testing/stack/site.ts'

const { site, db, act, open, actsOn, recorded, newRun } = await openAdminConsole()

test('a suspended person starts nothing and reads why, until it is lifted', async () => {
  const ada = await site.signInAs('user')
  await db.insert(places).values({ id: newId('srv'), instanceType: 'g6', availabilityZone: 'a', position: 0 })
  const now = Date.now()
  const plan = { planType: 'basic', subType: 'paid', status: 'active', anchor: now, hours: 5, createdAt: now } as const
  await db.insert(plans).values({ ...plan, id: newId('sub'), userId: ada.userId })
  const start = () => change(site, 'POST', '/api/v1/aws/auto_cloud_start_request', ada.cookie)
  const refusal = async () => {
    await site.settle()
    const { text } = await open('/api/v1/billings/summary', ada.cookie)
    return JSON.parse(text).start_refusal
  }
  const told = () => site.told.filter((id) => id === ada.userId)
  expect([await refusal(), told()]).toEqual([null, []])
  expect((await act(`/admin/people/${ada.userId}/suspend`)).status).toBe(200)
  expect(await refusal()).toEqual({
    code: 'held',
    error: expect.stringContaining('We suspended'),
    page: '/contact_sales',
  })
  expect(told()).toEqual([ada.userId])
  const refused = await start()
  expect([refused.status, await refused.json()]).toMatchObject([
    403,
    { error: expect.stringContaining('We suspended') },
  ])
  expect((await open('/account_overview', ada.cookie)).text).toContain('We suspended your account')
  expect((await act(`/admin/people/${ada.userId}/suspend`)).status).toBe(409)
  expect((await act(`/admin/people/${ada.userId}/lift`)).status).toBe(200)
  expect([await refusal(), told()]).toEqual([null, [ada.userId, ada.userId]])
  expect((await start()).status).toBe(202)
  expect((await act(`/admin/people/${ada.userId}/lift`)).status).toBe(409)
  expect(await actsOn(ada.userId)).toEqual([recorded('suspend'), recorded('lift')])
})

test('paying an invoice does not lift what an operator suspended', async () => {
  const ada = await site.signInAs('suspended')
  await act(`/admin/people/${ada.userId}/suspend`)
  await db.update(users).set({ suspendedAt: null }).where(eq(users.id, ada.userId))
  expect((await open(`/admin/people/${ada.userId}`)).text).toContain('Suspended by an operator')
  expect((await act(`/admin/people/${ada.userId}/lift`)).status).toBe(200)
})

test('grants and ends a plan, and refuses invalid hours', async () => {
  const ada = await site.signInAs('user')
  const at = `/admin/people/${ada.userId}`
  expect((await act(`${at}/plan`, { plan: 'premium', hours: '-1' })).status).toBe(422)
  expect((await act(`${at}/plan`, { plan: 'gold' })).status).toBe(422)
  expect((await act(`${at}/plan`, { plan: 'premium', hours: '' })).status).toBe(200)
  const current = () => db.select().from(plans).where(sql`user_id = ${ada.userId} AND ended_at IS NULL`)
  expect(await current()).toMatchObject([{ planType: 'premium', hours: 30 }])
  expect((await act(`${at}/end_plan`)).status).toBe(200)
  expect(await current()).toEqual([])
  expect(await actsOn(ada.userId)).toEqual([recorded('grant_plan'), recorded('end_plan')])
  const log = (await open(`/admin/audit?of=${ada.userId}`)).text
  expect(log).toContain('<dt>Plan</dt><dd>Premium</dd></div><div><dt>Hours a month</dt><dd>30</dd>')
  expect((await open(`/admin/audit.csv?of=${ada.userId}`)).text).toContain('"{""type"":""premium"",""hours"":30}"')
})

test('credits a bill, once', async () => {
  const ada = await site.signInAs('user')
  const id = newId('bill')
  const start = Date.UTC(2026, 8, 1)
  const bill = {
    periodStart: start,
    periodEnd: start + 30 * 86_400_000,
    includedHours: 0,
    trial: false,
    createdAt: start,
  }
  await db.insert(bills).values({ ...bill, id, userId: ada.userId, seconds: 7_200, amountCents: 350 })
  await db.insert(invoices).values({ billId: id, userId: ada.userId, step: 'sent', createdAt: start })
  for (const _ of [1, 2]) expect((await act('/admin/bills/correct', { bill: id, seconds: '3600' })).status).toBe(200)
  const corrections = await db.select().from(bills).where(eq(bills.corrects, id))
  expect(corrections).toMatchObject([{ seconds: -3_600, amountCents: -175, reason: REASON }])
  expect(await actsOn(id)).toEqual([recorded('correct_bill')])
  expect((await open(`/admin/audit?of=${id}`)).text).toContain(
    '<dt>Billed time now</dt><dd>1h 0m 0s</dd></div><div><dt>Billed time before</dt><dd>2h 0m 0s</dd>',
  )
  expect((await act('/admin/bills/correct', { bill: id, seconds: '' })).status).toBe(422)
})

test("holds a bill's invoice, which ends its suspension, and releases it", async () => {
  const ada = await site.signInAs('user')
  const id = newId('bill')
  const start = Date.UTC(2026, 8, 1)
  const period = { periodStart: start, periodEnd: start + 30 * 86_400_000, includedHours: 0, trial: false }
  await db
    .insert(bills)
    .values({ ...period, id, userId: ada.userId, seconds: 7_200, amountCents: 350, createdAt: start })
  const sent = { step: 'sent', status: 'open', dueAt: start, remainingCents: 350, createdAt: start } as const
  await db.insert(invoices).values({ ...sent, billId: id, userId: ada.userId })
  await db.update(users).set({ suspendedAt: start }).where(eq(users.id, ada.userId))
  const suspendedAt = async () =>
    (await db.select().from(users).where(eq(users.id, ada.userId)))[0]?.suspendedAt ?? null
  const page = async () => (await open(`/admin/people/${ada.userId}`)).text
  expect(await page()).not.toContain('Release an invoice')
  expect((await act('/admin/bills/release', { bill: id })).status).toBe(409)
  expect((await act('/admin/bills/hold', { bill: id, reason: '' })).status).toBe(422)
  expect(await suspendedAt()).toBe(start)
  expect((await act('/admin/bills/hold', { bill: id })).status).toBe(200)
  expect(await suspendedAt()).toBeNull()
  expect(await page()).toMatch(/Release an invoice[\s\S]*>held</)
  expect((await act('/admin/bills/hold', { bill: id })).status).toBe(409)
  expect((await act('/admin/bills/release', { bill: id })).status).toBe(200)
  expect((await act('/admin/bills/hold', { bill: 'bill_x' })).status).toBe(404)
  expect(await actsOn(id)).toEqual([recorded('hold_invoice'), recorded('release_invoice')])
})

test('signs someone out everywhere, tokens included, and nobody else', async () => {
  const [ada, bob] = [await site.signInAs('user'), await site.signInAs('user')]
  await site.tokenOf(ada.userId, 'read')
  expect((await act(`/admin/people/${ada.userId}/sign_out`)).status).toBe(200)
  expect((await open('/devices', ada.cookie)).status).toBe(302)
  expect((await open('/devices', bob.cookie)).status).toBe(200)
  const [token] = await db.select().from(apiTokens).where(eq(apiTokens.userId, ada.userId))
  expect(token?.revokedAt).not.toBeNull()
})

test('finds people by name, address, and the IDs of what they own', async () => {
  const ada = await site.signInAs('user')
  const bob = await site.signInAs('user')
  await db.update(users).set({ name: 'آدا_100%' }).where(eq(users.id, ada.userId))
  const run = await newRun(ada.userId)
  for (const q of [ada.userId, ada.userId.toLowerCase(), 'آدا', '_100%', run, `i-${run}`]) {
    const { text } = await open(`/admin/people?q=${encodeURIComponent(q)}`)
    expect([q, text.includes(`/admin/people/${ada.userId}`), text.includes(bob.userId)]).toEqual([q, true, false])
  }
  expect((await open('/admin/people?q=%25')).text).not.toContain(bob.userId)
  expect(await open(`/admin/people?q=${'a'.repeat(60_000)}`)).toMatchObject({ status: 200 })
  expect((await open('/admin/people?q=nobody-like-it')).text).toContain('No one found.')
  expect((await open('/admin/people/user_nobody')).status).toBe(404)
})
