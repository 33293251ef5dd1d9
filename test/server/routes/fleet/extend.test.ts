import { createHmac } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { places, runEvents, runs } from '../../../../db/schema/fleet.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { deriveKeys } from '../../../../src/server/crypto/keys.ts'
import { runLinkPath } from '../../../../src/server/crypto/run-links.ts'
import { accountApp, accountContext } from '../../../../testing/people/account-app.ts'
import { openAppBrowser } from '../../../../testing/people/app-browser.ts'

const [MINUTE, HOUR] = [60_000, 3_600_000]

async function setup(row: Partial<typeof runs.$inferInsert> = {}) {
  const { ctx, clock, settle, takeLines } = accountContext()
  const [userId, placeId, id] = [newId('user'), newId('srv'), newId('ses')]
  const at = clock.ms
  await ctx.db
    .insert(users)
    .values({ id: userId, email: `${userId}@example.com`, name: 'Ada', passwordHash: 'x', createdAt: at })
  await ctx.db
    .insert(places)
    .values({ id: placeId, instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1a', position: 1 })
  const end = at + 10 * MINUTE
  await ctx.db
    .insert(runs)
    .values({ id, userId, placeId, instanceType: 'g6.4xlarge', requestedAt: at, endsAt: end, ...row })
  const browser = openAppBrowser(accountApp(ctx))
  const path = runLinkPath(ctx.config.secretKey, 'extend', id)
  // Its page's token, which every form of this browser sends.
  await browser.open(path)
  const read = async () => (await ctx.db.select().from(runs).where(eq(runs.id, id)))[0]
  const open = async (address = path) => {
    const response = await browser.request(address)
    const html = await response.text()
    const fields = Object.fromEntries(
      [...html.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    ) as Record<string, string>
    return {
      status: response.status,
      headers: response.headers,
      html,
      fields,
      buttons: html.match(/Add (<!-- -->)?(an hour|\d+ minutes)/g)?.length ?? 0,
    }
  }
  const post = (fields: Record<string, string>, of = id) => browser.form(`/servers/${of}/extend`, fields)
  const recorded = async () =>
    (await ctx.db.select().from(runEvents).where(eq(runEvents.runId, id))).map(({ what, detail, by }) => [
      what,
      detail,
      by,
    ])
  return { ctx, clock, settle, takeLines, browser, id, path, end, read, open, post, recorded }
}

test('the link shows one button, which adds an hour without signing in; opening it adds nothing', async () => {
  const { open, post, read, end, recorded, browser, path, takeLines } = await setup()
  await browser.request(path, { method: 'HEAD' })
  const page = await open()
  expect([page.status, page.buttons, (await read())?.endsAt]).toEqual([200, 1, end])
  expect(page.headers.get('Referrer-Policy')).toBe('no-referrer')
  expect(page.headers.get('Cache-Control')).toBe('private, no-store')
  expect(page.html).toContain('<meta name="robots" content="noindex')
  const { key = '', ends_at = '' } = page.fields
  const answer = await post({ key, ends_at })
  expect([answer.status, answer.headers.get('Location')]).toEqual([303, path])
  expect((await read())?.endsAt).toBe(end + HOUR)
  expect((await open()).html).toContain('You have an hour more.')
  expect(await recorded()).toEqual([['end_moved', new Date(end + HOUR).toISOString(), 'mail']])
  // A second click on the same page.
  await post({ key, ends_at })
  expect((await read())?.endsAt).toBe(end + HOUR)
  expect((await open()).html).toContain('The end has moved since you opened this page.')
  const again = await open()
  await post({ key, ends_at: again.fields.ends_at ?? '' })
  expect((await read())?.endsAt).toBe(end + 2 * HOUR)
  expect(JSON.stringify(takeLines())).not.toContain(key)
})

test("nobody extends without its key, with another run's, or without the page's token", async () => {
  const { ctx, open, post, read, end, id, browser } = await setup()
  const eve = await setup()
  const page = await open()
  const { key = '', ends_at = '' } = page.fields
  const other = (await eve.open()).fields.key ?? ''
  const [derived] = deriveKeys(ctx.config.secretKey, 'mail-off')
  const ofAnotherPurpose = createHmac('sha256', derived.key).update(id).digest('base64url')
  for (const wrong of ['', 'x', other, ofAnotherPurpose, key.slice(1), `${key}A`]) {
    expect((await open(`/servers/${id}/extend?key=${wrong}`)).status, wrong).toBe(404)
    await post({ key: wrong, ends_at })
  }
  expect((await open(`/servers/ses_none/extend?key=${key}`)).status).toBe(404)
  const stranger = openAppBrowser(accountApp((await setup()).ctx))
  expect((await stranger.form(`/servers/${id}/extend`, { key, ends_at })).status).not.toBe(200)
  expect((await browser.json('POST', `/servers/${id}/extend`, { key: 'x', ends_at })).status).toBe(404)
  expect((await read())?.endsAt).toBe(end)
})

test('an address may try 30 keys an hour', async () => {
  const { browser, id, path, clock } = await setup()
  const status = async (of: string, address = '203.0.113.7') =>
    (await browser.request(of, { headers: { 'CF-Connecting-IP': address } })).status
  for (let tries = 1; tries <= 30; tries++)
    expect(await status(`/servers/${id}/extend?key=${tries}`), String(tries)).toBe(404)
  expect([await status(path), await status(path, '198.51.100.7')]).toEqual([429, 200])
  clock.ms += HOUR
  expect(await status(path)).toBe(200)
})

test('the link ends with its run', async () => {
  const { open, post, read, end, clock } = await setup()
  const { fields } = await open()
  clock.ms = end
  const page = await open()
  expect([page.status, page.buttons]).toEqual([200, 0])
  expect(page.html).toContain('This server has stopped, so this link no longer works.')
  await post({ key: fields.key ?? '', ends_at: fields.ends_at ?? '' })
  expect((await read())?.endsAt).toBe(end)
  const stopped = await setup({ stopRequestedAt: 1 })
  expect((await stopped.open()).buttons).toBe(0)
  const endless = await setup({ endsAt: null })
  expect((await endless.open()).html).toContain('No end time is set. It runs until you stop it.')
})

test('a trial is extended while its minutes last, and its page says when they end', async () => {
  const { open, post, read, end, ctx, id } = await setup()
  const free = end + 7 * MINUTE
  await ctx.db.update(runs).set({ mustStopAt: free }).where(eq(runs.id, id))
  const first = await open()
  expect([first.buttons, first.html.includes('It then stops when your free minutes are used up')]).toEqual([1, true])
  expect(first.html).not.toContain('You pay')
  await post({ key: first.fields.key ?? '', ends_at: first.fields.ends_at ?? '' })
  expect((await read())?.endsAt).toBe(end + HOUR)
  const page = await open()
  expect(page.html).toContain('You have 7 minutes more.')
  expect([page.buttons, page.html.includes('It can&#x27;t run longer than your free minutes.')]).toEqual([0, true])
  expect(page.html).toContain(`dateTime="${new Date(free).toISOString()}"`)
  await post({ key: first.fields.key ?? '', ends_at: new Date(end + HOUR).toISOString() })
  expect((await read())?.endsAt).toBe(end + HOUR)
})

test("a smaller plan's end is not extended", async () => {
  const { open, post, read, end, path } = await setup({ planEnds: true })
  const page = await open()
  expect([page.buttons, page.html.includes('Your plan no longer includes it then.')]).toEqual([0, true])
  const key = path.split('key=')[1] ?? ''
  await post({ key, ends_at: new Date(end).toISOString() })
  expect((await read())?.endsAt).toBe(end)
})
