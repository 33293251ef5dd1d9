import { createHmac } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { places, runs } from '../../../../db/schema/fleet.ts'
import { MAIL_KINDS, type MailKind } from '../../../../src/domain/notice.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { deriveKeys, type KeyPurpose } from '../../../../src/server/crypto/keys.ts'
import { runLinkPath } from '../../../../src/server/crypto/run-links.ts'
import { emailBinding } from '../../../../src/server/mail/email-binding.ts'
import { budgetReachedMail } from '../../../../src/server/mail/money-letters.ts'
import { noticeQuery, tellQueries } from '../../../../src/server/mail/notices.ts'
import { offUrl } from '../../../../src/server/mail/off-link.ts'
import { deliverMail } from '../../../../src/server/mail/outbox.ts'
import { BUCKET, change, openPage, openSite, SITE } from '../../../../testing/stack/site.ts'
import { testContext } from '../../../../testing/stack/test-context.ts'

const site = await openSite(BUCKET)
const ctx = testContext({ db: site.db, config: { origins: [SITE], secretKey: site.env.SECRET_KEY } })
afterEach(() => site.settle())

const message = (cents: number) =>
  budgetReachedMail(SITE, { cents, chargedCents: cents, stops: false, from: 0, until: 1 })
const get = async (path: string, cookie: string) => site.request(path, { headers: { Cookie: cookie } })
/** Without the marks that React leaves between texts. */
const page = async (path: string, cookie: string) => (await (await get(path, cookie)).text()).replaceAll('<!-- -->', '')
const json = async (cookie: string) => (await get('/api/v1/notices', cookie)).json()
const mutedOf = async (id: string) => (await site.findUser(id))?.mutedMails

async function person(count = 2) {
  const ada = await site.signInAs('user')
  for (let i = 1; i <= count; i++) await noticeQuery({ ...ctx, now: () => i * 1000 }, ada.userId, message(i * 100))
  return ada
}

test('every page counts the unread ones, in the bell and in its title; the page lists them, newest first', async () => {
  const { cookie } = await person()
  for (const path of ['/devices', '/pricing', '/docs/cli']) {
    const html = await page(path, cookie)
    expect(html, path).toContain('aria-label="Notices, 2 unread"')
    expect(html, path).toMatch(/<title>\(2\) /)
    // So that it stays up to date.
    expect(html, path).toMatch(/<script type="module" async="" src="[^"]*(client|public)/)
  }
  const list = await page('/notices', cookie)
  expect([...list.matchAll(/<strong>([^<]+)<\/strong>/g)].map(([, title]) => title)).toEqual([
    'Your budget of $2.00 is used up',
    'Your budget of $1.00 is used up',
  ])
  expect(list).toContain('Mark all as read')
  expect(await page('/pricing', '')).not.toContain('btn bell')
})

test('marked as read on one device, they are read on all, and open pages hear of it', async () => {
  const { userId, cookie } = await person()
  site.told.splice(0)
  const { notices: seen } = await json(cookie)
  await noticeQuery({ ...ctx, now: () => 3000 }, userId, message(300))
  // What came since this page was loaded stays unread.
  const answer = await change(site, 'POST', '/api/v1/notices/read', cookie, { until: seen[0].at })
  expect(answer.status).toBe(200)
  await site.settle()
  expect(site.told).toEqual([userId])
  const after = await json(cookie)
  expect([after.unread, after.notices.map(({ read }: { read: boolean }) => read)]).toEqual([1, [false, true, true]])
  expect(await page('/devices', cookie)).toContain('aria-label="Notices, 1 unread"')
  await change(site, 'POST', '/api/v1/notices/read', cookie)
  await change(site, 'POST', '/api/v1/notices/read', cookie)
  await site.settle()
  expect(site.told).toEqual([userId, userId])
  expect(await page('/devices', cookie)).toContain('aria-label="Notices"')
  expect((await change(site, 'POST', '/api/v1/notices/read', cookie, { until: 'x' })).status).toBe(422)
})

test("nobody sees or marks another person's notices", async () => {
  const { cookie } = await person()
  const eve = await site.signInAs('user')
  expect(await json(eve.cookie)).toEqual({ notices: [], unread: 0 })
  expect(await page('/notices/latest', eve.cookie)).not.toContain('budget')
  await change(site, 'POST', '/api/v1/notices/read', eve.cookie)
  expect((await json(cookie)).unread).toBe(2)
})

test('people choose their emails by kind', async () => {
  const { userId, cookie } = await site.signInAs('user')
  const form = await page('/mails', cookie)
  for (const kind of Object.keys(MAIL_KINDS))
    expect(form).toMatch(new RegExp(`checked[^>]*name="${kind}"|name="${kind}"[^>]*checked`))
  // A label leads to the first element of its ID.
  const ids = [...form.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
  expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
  expect(form).toContain('We always email you about security and about money you owe.')
  const wanted = Object.fromEntries(Object.keys(MAIL_KINDS).map((kind) => [kind, kind !== 'hours']))
  expect((await change(site, 'POST', '/api/v1/mails', cookie, wanted)).status).toBe(200)
  expect(await mutedOf(userId)).toEqual(['hours'])
  // Nothing else can be switched off.
  await change(site, 'POST', '/api/v1/mails', cookie, { ...wanted, hours: true, owed: false, account: false })
  expect(await mutedOf(userId)).toEqual([])
})

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded', 'Sec-Fetch-Site': 'same-origin' }

test('a kind that is left out stays as it is; a box that is not checked is off', async () => {
  const { userId, cookie } = await site.signInAs('user')
  const choose = async (wanted: object) => (await change(site, 'POST', '/api/v1/mails', cookie, wanted)).json()
  expect((await choose({ hours: false, plan: false })).mails).toMatchObject({ hours: false, plan: false, line: true })
  expect((await choose({ plan: true })).mails).toMatchObject({ hours: false, plan: true, line: true })
  expect((await choose({})).mails).toMatchObject({ hours: false, plan: true })
  expect(await mutedOf(userId)).toEqual(['hours'])

  // As browsers send the form: its hidden fields, and the boxes that are checked.
  const own = await openPage(site, cookie)
  const form = await page('/mails', cookie)
  const hidden = [...form.matchAll(/<input type="hidden" name="(\w+)" value="0"\/>/g)].map(([, name = '']) => [
    name,
    '0',
  ])
  const fields = [['authenticity_token', own.token], ...hidden, ['hours', 'on'], ['line', 'on']]
  const sent = await site.request('/api/v1/mails', {
    method: 'POST',
    headers: { ...FORM, Cookie: own.cookie, Referer: `${SITE}/mails` },
    body: new URLSearchParams(fields).toString(),
  })
  expect(sent.status).toBe(303)
  const off = Object.keys(MAIL_KINDS).filter((kind) => kind !== 'hours' && kind !== 'line')
  expect((await mutedOf(userId))?.sort()).toEqual(off.sort())
})

async function linkOf(kind: MailKind = 'hours') {
  const { userId } = await site.signInAs('user')
  const path = offUrl(ctx, userId, kind).slice(SITE.length)
  const post = (body: string, headers: Record<string, string> = {}, to = path) =>
    site.request(to, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    })
  return { userId, path, post }
}

const ONE_CLICK = 'List-Unsubscribe=One-Click'

test('a link in an email shows one button; opening it changes nothing, pressing it turns off that kind', async () => {
  const { userId, path, post } = await linkOf()
  await site.request(path, { method: 'HEAD' })
  const shown = await site.request(path)
  const html = await shown.text()
  expect([shown.status, html.match(/<button[^>]*>Turn them off/g)?.length]).toEqual([200, 1])
  expect(shown.headers.get('Referrer-Policy')).toBe('no-referrer')
  expect(html).toContain('<meta name="robots" content="noindex')
  expect(await mutedOf(userId)).toEqual([])
  expect(await (await post('by=button', { 'Sec-Fetch-Site': 'same-origin' })).text()).toContain(
    'We no longer email you when your plan&#x27;s hours run low.',
  )
  await post('by=button', { 'Sec-Fetch-Site': 'same-origin' })
  expect(await mutedOf(userId)).toEqual(['hours'])
})

test('a mail provider turns it off with one click, without a cookie or an origin (RFC 8058)', async () => {
  const { userId, post } = await linkOf()
  expect((await post(ONE_CLICK)).status).toBe(200)
  expect(await mutedOf(userId)).toEqual(['hours'])
  const parts = '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n'
  const other = await linkOf('plan')
  expect((await other.post(parts, { 'Content-Type': 'multipart/form-data; boundary=x' })).status).toBe(200)
  expect(await mutedOf(other.userId)).toEqual(['plan'])
})

function keyOf(purpose: KeyPurpose, userId: string, kind: string): string {
  const [{ key }] = deriveKeys(site.env.SECRET_KEY, purpose)
  return createHmac('sha256', key)
    .update(JSON.stringify([userId, kind]))
    .digest('base64url')
}

test('a link turns off its own kind of its own account, and nothing else', async () => {
  const [mine, other] = [await linkOf(), await linkOf('plan')]
  const key = new URLSearchParams(mine.path.split('?')[1]).get('key') ?? ''
  const extend =
    new URLSearchParams(runLinkPath(site.env.SECRET_KEY, 'extend', mine.userId).split('?')[1]).get('key') ?? ''
  const wrong: [string, Record<string, string>][] = [
    ["another account's", { of: other.userId, kind: 'hours', key }],
    ['another kind', { of: mine.userId, kind: 'budget', key }],
    ['security', { of: mine.userId, kind: 'account', key }],
    ['money owed', { of: mine.userId, kind: 'owed', key }],
    ['no such kind', { of: mine.userId, kind: 'toString', key }],
    ["another link's key", { of: mine.userId, kind: 'hours', key: extend }],
    ["another purpose's key", { of: mine.userId, kind: 'hours', key: keyOf('extend', mine.userId, 'hours') }],
    [
      'money owed, with the key it would have',
      { of: mine.userId, kind: 'owed', key: keyOf('mail-off', mine.userId, 'owed') },
    ],
    ['no key', { of: mine.userId, kind: 'hours', key: '' }],
    ['a longer key', { of: mine.userId, kind: 'hours', key: `${key}AA` }],
  ]
  for (const [what, query] of wrong) {
    const path = `/mails/off?${new URLSearchParams(query)}`
    expect((await mine.post(ONE_CLICK, {}, path)).status, what).toBe(404)
    expect((await mine.post('by=button', { 'Sec-Fetch-Site': 'same-origin' }, path)).status, what).toBe(404)
    expect((await site.request(path)).status, what).toBe(404)
  }
  expect([await mutedOf(mine.userId), await mutedOf(other.userId)]).toEqual([[], []])
  // A scanner that posts, and another site's page.
  expect((await mine.post('')).status).toBe(400)
  expect((await mine.post(ONE_CLICK, { Origin: 'https://evil.example' })).status).toBe(403)
  expect((await mine.post(ONE_CLICK, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
  expect(await mutedOf(mine.userId)).toEqual([])
  expect(JSON.stringify(site.takeLines())).not.toContain(key)
})

test('the email carries the headers that mail providers read', async () => {
  const { userId } = await site.signInAs('user')
  const email = (await site.findUser(userId))?.email ?? ''
  for (const query of tellQueries(ctx, { id: userId, email }, message(100))) await query
  await deliverMail({ ...ctx, mailer: emailBinding(site.env), log: () => {} })
  const mail = site.mails.find(({ to }) => to === email) as (typeof site.mails)[number] & {
    headers?: Record<string, string>
  }
  expect(mail.headers).toEqual({
    'List-Unsubscribe': `<${offUrl(ctx, userId, 'budget')}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  })
  expect(mail).not.toHaveProperty('offUrl')
})

/** A live server that ends in this many minutes. */
async function withEnd(minutes: number, row: Partial<typeof runs.$inferInsert> = {}) {
  const ada = await site.signInAs('user')
  const [id, placeId, now] = [newId('ses'), newId('srv'), Date.now()]
  await site.db.insert(places).values({ id: placeId, instanceType: 'g6', availabilityZone: 'a', position: 1 })
  const run = { id, userId: ada.userId, placeId, instanceType: 'g6', requestedAt: now - 3_600_000 }
  await site.db.insert(runs).values({ ...run, endsAt: now + minutes * 60_000, ...row })
  return { ...ada, id, now }
}

test('every page warns of the end in the last ten minutes, with one click for another hour', async () => {
  const { cookie, id, userId } = await withEnd(8)
  for (const path of ['/devices', '/pricing', '/notices/latest']) {
    const html = await page(path, cookie)
    expect(html, path).toMatch(/stops in <strong class="mono" data-countdown="[^"]+">0?7:5\d|08:00<\/strong>/)
    expect(html, path).toContain('Add an hour')
    expect(html, path).toContain(`action="/api/v1/servers/${id}"`)
  }
  expect(await page('/dashboard', cookie)).not.toContain('data-countdown')
  // A trial's minutes are written as everywhere.
  const trial = await withEnd(60, { mustStopAt: Date.now() + 4 * 60_000 })
  expect(await page('/devices', trial.cookie)).toMatch(
    /stops in <strong class="mono" data-countdown="[^"]+">(4\.00|3\.\d\d)<\/strong>(<!-- -->)? minutes/,
  )
  await site.db.update(runs).set({ stopRequestedAt: 1 }).where(eq(runs.userId, userId))
  expect(await page('/devices', cookie)).not.toContain('data-countdown')
})

test('before that, a page knows when to look again; an end set at the last moment needs no warning', async () => {
  const early = await withEnd(30)
  const html = await page('/devices', early.cookie)
  expect(html).not.toContain('data-countdown')
  const look = Number(/data-look="(\d+)"/.exec(html)?.[1])
  expect(look).toBeGreaterThan(19 * 60_000)
  expect(look).toBeLessThanOrEqual(20 * 60_000)
  const late = await withEnd(8, { endsSetAt: Date.now() - 1000 })
  expect(await page('/devices', late.cookie)).not.toContain('data-countdown')
})

test('a trial adds what it has left, and offers a plan once it has nothing', async () => {
  const some = await withEnd(8, { mustStopAt: Date.now() + 20.5 * 60_000 })
  expect(await page('/devices', some.cookie)).toContain('Add 12 minutes')
  const none = await withEnd(60, { mustStopAt: Date.now() + 4 * 60_000 })
  const html = await page('/devices', none.cookie)
  expect(html).toContain('Choose a plan to keep it')
  expect(html).not.toContain('Add ')
})
