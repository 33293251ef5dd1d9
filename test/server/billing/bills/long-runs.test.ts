import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { plans } from '../../../../db/schema/billing.ts'
import { places, runs } from '../../../../db/schema/fleet.ts'
import { notices, outbox } from '../../../../db/schema/mail.ts'
import { mailLongRuns } from '../../../../src/server/billing/bills/long-runs.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { accountApp, accountContext } from '../../../../testing/people/account-app.ts'
import { openAppBrowser } from '../../../../testing/people/app-browser.ts'

const [SECOND, HOUR] = [1_000, 3_600_000]

async function setup(row: Partial<typeof runs.$inferInsert> = {}) {
  const { ctx, clock, settle } = accountContext()
  const stopped: string[] = []
  const [userId, placeId, id] = [newId('user'), newId('srv'), newId('ses')]
  const at = clock.ms
  const email = `${userId.toLowerCase()}@example.com`
  await ctx.db
    .insert(users)
    .values({ id: userId, email, name: 'Ada', passwordHash: 'x', confirmedAt: at, createdAt: at })
  const plan = { planType: 'basic', subType: 'paid', status: 'active', anchor: at, hours: 5, createdAt: at } as const
  await ctx.db.insert(plans).values({ id: newId('sub'), userId, ...plan })
  const place = { id: placeId, instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1a', position: 1 }
  await ctx.db.insert(places).values(place)
  const times = { requestedAt: at, runningAt: at, billedFrom: at, confirmedAt: at }
  await ctx.db.insert(runs).values({ id, userId, placeId, instanceType: 'g6.4xlarge', ...times, ...row })
  const told = async () =>
    (await ctx.db.select().from(notices).where(eq(notices.userId, userId))).map(({ title, text }) => [title, text])
  const mails = async () => ctx.db.select().from(outbox).where(eq(outbox.recipient, email))
  const runOf = async () => (await ctx.db.select().from(runs).where(eq(runs.id, id)))[0]
  const look = async (after: number) => {
    clock.ms = at + after
    await mailLongRuns(ctx)
    await settle()
  }
  return { ctx, clock, id, userId, told, mails, look, runOf, stopped }
}

test('a server that runs for a day, two, three: one email and one notice each, with what it costs', async () => {
  const { look, told, mails } = await setup()
  await look(24 * HOUR - SECOND)
  expect(await told()).toEqual([])
  for (const after of [24 * HOUR, 24 * HOUR + 60 * SECOND, 47 * HOUR]) await look(after)
  // 19 hours beyond the plan's 5, at $1.75.
  expect(await told()).toEqual([
    ['Your server has run for 24 hours', '24 h, $33.25 so far. It runs until you stop it.'],
  ])
  expect(await mails()).toHaveLength(1)
  for (const after of [50 * HOUR, 72 * HOUR, 73 * HOUR]) await look(after)
  expect((await told()).map(([title]) => title)).toEqual([
    'Your server has run for 24 hours',
    'Your server has run for 50 hours',
    'Your server has run for 72 hours',
  ])
  expect(await mails()).toHaveLength(3)
})

test('says what it costs in two months together', async () => {
  const { ctx, clock, look, told, userId } = await setup()
  // An hour without a plan comes first.
  const anchor = clock.ms + HOUR
  await ctx.db.update(plans).set({ anchor }).where(eq(plans.userId, userId))
  await look(26 * HOUR)
  expect(await told()).toEqual([
    ['Your server has run for 26 hours', '26 h, $36.75 so far. It runs until you stop it.'],
  ])
})

test.each([
  ['one that is stopping', { stopRequestedAt: 1 }],
  ['one that never answered', { billedFrom: null }],
  ['one that ended', { stopRequestedAt: 1, endedAt: 2 }],
])('says nothing of %s', async (_, row) => {
  const { look, told } = await setup(row)
  await look(25 * HOUR)
  expect(await told()).toEqual([])
})

test('says nothing to people whose account is suspended', async () => {
  const { ctx, look, told, userId } = await setup()
  await ctx.db.update(users).set({ suspendedAt: 1 }).where(eq(users.id, userId))
  await look(25 * HOUR)
  expect(await told()).toEqual([])
})

test('the link in the email shows one button, which stops that server without signing in', async () => {
  const { ctx, look, mails, runOf, id } = await setup()
  await look(24 * HOUR)
  const [mail] = await mails()
  const [, path = ''] = /https?:\/\/[^/]+(\/servers\/\S+\/stop\?key=\S+)/.exec(mail?.text ?? '') ?? []
  const browser = openAppBrowser(accountApp(ctx))
  const page = await browser.request(path)
  const html = await page.text()
  expect([page.status, page.headers.get('referrer-policy')]).toEqual([200, 'no-referrer'])
  expect(html.match(/<button[^>]*>Stop the server/g)).toHaveLength(1)
  await browser.request(path, { method: 'HEAD' })
  expect((await runOf())?.stopRequestedAt).toBeNull()
  await browser.open(path)
  const key = new URLSearchParams(path.split('?')[1]).get('key') ?? ''
  for (const wrong of ['', 'x', key.slice(1)]) {
    await browser.form(`/servers/${id}/stop`, { key: wrong })
    expect((await runOf())?.stopRequestedAt).toBeNull()
  }
  const other = await setup()
  await browser.form(`/servers/${other.id}/stop`, { key })
  expect((await other.runOf())?.stopRequestedAt).toBeNull()

  const done = await browser.form(`/servers/${id}/stop`, { key })
  expect([done.status, done.headers.get('location')]).toEqual([303, `/servers/${id}/stop?key=${key}`])
  expect(await runOf()).toMatchObject({ stopRequestedAt: ctx.now(), endedBecause: 'you' })
  const after = await (await browser.request(path)).text()
  expect(after).toContain('This server has stopped, so this link no longer works.')
  expect(after).not.toContain('Stop the server</button>')
})
