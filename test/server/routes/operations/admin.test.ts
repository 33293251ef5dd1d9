import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import {
  apiTokens,
  auditLog,
  bills,
  environments,
  invoices,
  lineGroups,
  lineWaits,
  places,
  plans,
  runs,
  signIns,
  users,
} from '../../../../db/schema.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../src/domain/instant.ts'
import { newId } from '../../../../src/server/id.ts'
import { change, openPage, openSite, SITE } from '../../../../testing/stack/site.ts'

const site = await openSite()
const { db } = site
const WHY = { reason: 'They asked us to.', confirmed: true }
const admin = await site.signInAs('admin')

const act = (path: string, body: object = {}, cookie = admin.cookie) =>
  change(site, 'POST', path, cookie, { ...WHY, ...body })
const open = async (path: string, cookie = admin.cookie) => {
  const response = await site.request(path, { headers: { Cookie: cookie } })
  return { status: response.status, text: await response.text() }
}
const actsOn = async (subject: string) =>
  (await db.select().from(auditLog).where(eq(auditLog.subject, subject))).map(({ act, actor, reason }) => [
    act,
    actor,
    reason,
  ])
const recorded = (name: string) => [name, admin.userId, WHY.reason]

async function newRun(userId: string): Promise<string> {
  const [id, placeId, now] = [newId('ses'), newId('srv'), Date.now()]
  const place = { instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1a' }
  await db.insert(places).values({ ...place, id: placeId, position: 1, reservedBy: id })
  const times = { requestedAt: now - 9_000, runningAt: now - 5_000, billedFrom: now - 4_000, confirmedAt: now }
  await db.insert(runs).values({ ...place, ...times, id, userId, placeId, instanceId: `i-${id}` })
  return id
}

test('force stop ends the run as its user could, once, and says so in the audit log and to its user', async () => {
  const ada = await site.signInAs('user')
  const run = await newRun(ada.userId)
  expect((await act(`/admin/runs/${run}/stop`)).status).toBe(200)
  const [row] = await db.select().from(runs).where(eq(runs.id, run))
  expect(row?.stopRequestedAt).not.toBeNull()
  expect(await actsOn(run)).toEqual([recorded('stop_run')])
  await site.settle()
  expect(site.mails.filter(({ subject }) => subject === 'We stopped your server')).toHaveLength(1)
  expect((await act(`/admin/runs/${run}/stop`)).status).toBe(409)
  expect(await actsOn(run)).toHaveLength(1)
  expect((await act('/admin/runs/ses_nobody/stop')).status).toBe(404)
})

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
  expect(await refusal()).toEqual({ error: expect.stringContaining('We suspended'), page: '/contact_sales' })
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
  expect(corrections).toMatchObject([{ seconds: -3_600, amountCents: -175, reason: WHY.reason }])
  expect(await actsOn(id)).toEqual([recorded('correct_bill')])
  expect((await open(`/admin/audit?of=${id}`)).text).toContain(
    '<dt>Billed time now</dt><dd>1h 0m 0s</dd></div><div><dt>Billed time before</dt><dd>2h 0m 0s</dd>',
  )
  expect((await act('/admin/bills/correct', { bill: id, seconds: '' })).status).toBe(422)
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

test('adds, drains, resumes, and retires places', async () => {
  const input = { type: 'g6.12xlarge', zone: 'us-east-1f', template: '', gpus: '4', count: '2' }
  expect((await act('/admin/places', { ...input, zone: 'mars' })).status).toBe(422)
  expect((await act('/admin/places', input)).status).toBe(200)
  const ours = () => db.select().from(places).where(eq(places.availabilityZone, 'us-east-1f'))
  const [first] = await ours()
  const id = first?.id ?? ''
  expect(await ours()).toHaveLength(2)
  const to = (what: string) => act('/admin/places/change', { place: id, act: what })
  expect((await to('explode')).status).toBe(422)
  for (const what of ['drain', 'drain', 'resume', 'retire', 'resume']) expect((await to(what)).status).toBe(200)
  expect((await actsOn(id)).map(([name]) => name)).toEqual([
    'add_places',
    'drain_place',
    'resume_place',
    'retire_place',
  ])
  expect((await open(`/admin/audit?of=${id}`)).text).toContain(
    '<dt>Launch template</dt><dd>—</dd></div><div><dt>GPUs</dt><dd>4</dd></div><div><dt>Places</dt><dd>2</dd>',
  )
  expect((await act('/admin/places/change', { place: 'srv_none', act: 'drain' })).status).toBe(404)
  const { text } = await open(`/admin/places?q=${id.toLowerCase()}`)
  expect(text).toContain('badge-gray">retired<')
  expect(text.split('<tr>')).toHaveLength(3)
})

test('nothing happens without a reason of at most 200 characters and a tick', async () => {
  const ada = await site.signInAs('user')
  const at = `/admin/people/${ada.userId}/suspend`
  for (const body of [{ reason: ' ' }, { confirmed: false }, { reason: 'x'.repeat(201) }])
    expect((await act(at, body)).status).toBe(422)
  expect(await actsOn(ada.userId)).toEqual([])
  expect((await act(at, { reason: 'x'.repeat(200) })).status).toBe(200)
})

test('admins can act on each other, but not on themselves', async () => {
  const run = await newRun(admin.userId)
  const self = `/admin/people/${admin.userId}`
  const own = [`${self}/suspend`, `${self}/lift`, `${self}/plan`, `${self}/end_plan`, `${self}/sign_out`]
  for (const path of [...own, `/admin/runs/${run}/stop`])
    expect((await act(path, { plan: 'premium' })).status, path).toBe(403)
  expect(await actsOn(admin.userId)).toEqual([])
  const other = await site.signInAs('admin')
  expect((await act(`/admin/people/${other.userId}/sign_out`)).status).toBe(200)
  expect((await open(self)).text).toContain('This is your own account')
})

test('after 15 minutes, an admin must confirm the password first, and then returns', async () => {
  const late = await site.signInAs('admin')
  const ada = await site.signInAs('user')
  const at = `/admin/people/${ada.userId}`
  const age = (ms: number) =>
    db
      .update(signIns)
      .set({ createdAt: Date.now() - ms })
      .where(eq(signIns.id, late.signInId))
  await age(14.9 * 60_000)
  expect((await open(at, late.cookie)).text).toContain('Suspend…')
  await age(15 * 60_000)
  const page = await open(at, late.cookie)
  expect(page.text).toContain(`/admin/confirm?to=${encodeURIComponent(at)}`)
  expect(page.text).not.toContain('Suspend…')
  expect((await act(`${at}/suspend`, {}, late.cookie)).status).toBe(403)

  const { cookie, token } = await openPage(site, late.cookie)
  const post = (path: string, fields: Record<string, string>) =>
    site.request(path, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        'Sec-Fetch-Site': 'same-origin',
        Referer: SITE + at,
        Cookie: cookie,
      },
      body: new URLSearchParams({ authenticity_token: token, ...fields }).toString(),
    })
  const sent = await post(`${at}/suspend`, { reason: 'x', confirmed: '1' })
  expect([sent.status, sent.headers.get('Location')]).toEqual([303, `/admin/confirm?to=${encodeURIComponent(at)}`])
  const wrong = await post('/admin/confirm', { to: at, 'user[current_password]': 'wrong' })
  expect([wrong.status, wrong.headers.get('Location')]).toEqual([303, '/admin/confirm'])
  expect(await actsOn(ada.userId)).toEqual([])

  await db.update(signIns).set({ passwordAt: Date.now() }).where(eq(signIns.id, late.signInId))
  const done = await post(`${at}/suspend`, { reason: 'x', confirmed: '1' })
  expect([done.status, done.headers.get('Location')]).toEqual([303, at])
  expect(await actsOn(ada.userId)).toHaveLength(1)
})

test('returns only to pages of the console', async () => {
  for (const to of [
    '//evil.example',
    'https://evil.example/admin',
    '/admin/../dashboard',
    '/dashboard',
    '/admin\\evil',
  ])
    expect((await open(`/admin/confirm?to=${encodeURIComponent(to)}`)).text).toContain(
      'name="to" value="/admin/people"',
    )
  const { text } = await open('/admin/confirm?to=/admin/audit?act=lift')
  expect(text).toContain('name="to" value="/admin/audit?act=lift"')
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
  expect((await open('/admin/people?q=nobody-like-it')).text).toContain('No one found.')
  expect((await open('/admin/people/user_nobody')).status).toBe(404)
})

test('nobody can change or delete entries of the audit log', async () => {
  const [row] = await db.select().from(auditLog).limit(1)
  const id = row?.id ?? ''
  await expect(db.update(auditLog).set({ reason: 'x' }).where(eq(auditLog.id, id))).rejects.toThrow()
  await expect(db.delete(auditLog).where(eq(auditLog.id, id))).rejects.toThrow()
  await expect(
    db.run(
      sql`INSERT OR REPLACE INTO audit_log (id, at, actor, act, subject, reason) VALUES (${id}, 0, 'x', 'lift', 'x', 'x')`,
    ),
  ).rejects.toThrow()
  expect(await db.select().from(auditLog).where(eq(auditLog.id, id))).toEqual([row])
})

test('the file has the whole log, even beyond what one query reads, and each act once', async () => {
  const subject = newId('srv')
  const at = Date.now()
  await db.run(sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5001)
    INSERT INTO audit_log (id, at, actor, act, subject, reason) SELECT ${subject} || i, ${at}, 'script', 'drain_place', ${subject}, i FROM n`)
  const { text } = await open(`/admin/audit.csv?of=${subject}`)
  const ids = text.trimEnd().split('\r\n').slice(1)
  expect([ids.length, new Set(ids).size]).toEqual([5_001, 5_001])
})

test('the audit log filters by act and by person, and its file is safe for spreadsheets', async () => {
  const ada = await site.signInAs('user')
  await act(`/admin/people/${ada.userId}/suspend`, { reason: '=HYPERLINK("http://evil")' })
  await act(`/admin/people/${ada.userId}/sign_out`)
  const count = async (query: string) => (await open(`/admin/audit?${query}`)).text.split(ada.userId).length - 1
  expect(await count(`of=${ada.userId}&act=suspend`)).toBeGreaterThan(0)
  expect((await open(`/admin/audit?of=${ada.userId}&act=lift`)).text).toContain('No acts match this filter.')
  const file = await open(`/admin/audit.csv?of=${ada.userId}`)
  const lines = file.text.trimEnd().split('\r\n')
  expect(lines).toHaveLength(3)
  expect(lines[2]).toContain('"suspend"')
  expect(lines[2]).toContain(`"'=HYPERLINK(""http://evil"")"`)
  expect(await actsOn(ada.userId)).toHaveLength(2)
})

test('adds, changes, and retires environments, each with a reason', async () => {
  const input = { name: 'Harbor', description: 'Ships.', image: '', from: 'premium', position: '' }
  expect((await act('/admin/environments', { ...input, name: 'a b' })).status).toBe(422)
  expect((await act('/admin/environments', { ...input, reason: '' })).status).toBe(422)
  expect((await act('/admin/environments', input)).status).toBe(200)
  expect((await act('/admin/environments', input)).status).toBe(409)
  const change = { name: 'Harbor', description: '', from: '', position: '' }
  expect((await act('/admin/environments/change', { ...change, image: ':2' })).status).toBe(200)
  const { text } = await open('/admin/environments')
  expect(text).toContain('<span class="mono address">:2</span>')
  expect((await act('/admin/environments/change', { ...change, image: 'machine' })).status).toBe(200)
  const [harbor] = await db.select().from(environments).where(eq(environments.name, 'Harbor'))
  expect(harbor).toMatchObject({ description: 'Ships.', image: null, plans: ['premium', 'enterprise'] })
  expect((await act('/admin/environments/retire', { name: 'Harbor' })).status).toBe(200)
  expect((await act('/admin/environments/retire', { name: 'Harbor' })).status).toBe(404)
  expect((await actsOn(harbor?.id ?? '')).map(([name]) => name)).toEqual([
    'add_environment',
    'change_environment',
    'change_environment',
    'retire_environment',
  ])
  expect((await open(`/admin/audit?of=${harbor?.id}`)).text).toContain('<dt>Plans</dt><dd>Premium, Enterprise</dd>')
})

test('holds places back for a group, shows what it has, and ends it, each with a reason', async () => {
  const from = new Date().toISOString().slice(0, 16)
  const until = new Date(Date.now() + 3_600_000).toISOString().slice(0, 16)
  const input = { name: 'Robot class', gpus: '1', places: '20', from, until, people: 'ada@example.com', code: true }
  expect((await act('/admin/groups', { ...input, reason: '' })).status).toBe(422)
  expect((await act('/admin/groups', { ...input, places: '' })).status).toBe(422)
  const made = await act('/admin/groups', input)
  expect([made.status, JSON.stringify(await made.json())]).toEqual([
    200,
    expect.stringMatching(/Its code is [A-Z-]{9}\./),
  ])
  const [group] = await db.select().from(lineGroups)
  const id = group?.id ?? ''
  const { text } = await open('/admin/line')
  for (const shown of ['Robot class', group?.code ?? '?', '1 × L4']) expect(text).toContain(shown)
  expect((await act('/admin/groups/end', { group: id })).status).toBe(200)
  expect((await act('/admin/groups/end', { group: id })).status).toBe(409)
  expect((await act('/admin/groups/end', { group: 'grp_none' })).status).toBe(404)
  expect(await actsOn(id)).toEqual([recorded('make_group'), recorded('end_group')])
  // Neither the code nor an address is there for good.
  const { text: log } = await open(`/admin/audit?of=${id}`)
  expect(log).toContain('<dt>Places</dt><dd>20</dd>')
  expect(log).not.toContain(group?.code)
  expect(log).not.toContain('ada@example.com')
  const ended = await open('/admin/line')
  expect(ended.text).not.toContain(group?.code)
})

test('shows how long people waited, and by hour of the week when capacity was short', async () => {
  const text = async () => (await open('/admin/line')).text.replaceAll('<!-- -->', '')
  const empty = await text()
  for (const words of ['No wait ended in the last 30 days.', 'Nobody waited, and there was always a free place.'])
    expect(empty).toContain(words)
  // On the same hour of two weeks, 40 and 20 minutes; the chart covers four. The third is over a month ago.
  const hour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 9 * DAY_MS
  const waits = [
    { joinedAt: hour, waitedMs: 40 * MINUTE_MS, served: true },
    { joinedAt: hour - 7 * DAY_MS, waitedMs: 20 * MINUTE_MS, served: false },
    { joinedAt: hour - 35 * DAY_MS, waitedMs: 50 * MINUTE_MS, served: true },
  ]
  await db.insert(lineWaits).values(waits.map((wait) => ({ ...wait, gpus: 4, trial: false, position: 1 })))
  const html = await text()
  const [, day, time] = /^(\w+), .* (\d\d):/.exec(new Date(hour).toUTCString()) ?? []
  const found = (pattern: RegExp) => [...html.matchAll(pattern)].map(([, ...groups]) => groups.join(', '))
  // The scale ends at 20 minutes, which are 116 high.
  expect(found(/height="([1-9][\d.]*)" rx="2"><title>([^<]*)</g)).toEqual([`87, ${day} ${time}:00: 15 min`])
  expect(found(/<th scope="row">([^<]*)<\/th><td class="num">([1-9][\d.]* min)</g)).toEqual([
    `${day} ${time}:00, 15 min`,
  ])
  // Each day begins below its midnight.
  const ticks = ['0, Mon', '64, Tue', '127, Wed', '190, Thu', '253, Fri', '316, Sat', '378, Sun']
  expect(found(/<text x="(\d+)"[^>]*>(\w+)<\/text>/g)).toEqual(ticks)
  expect(found(/data-label="(Got a place|Left|Longest)"[^>]*>([^<]*)/g)).toEqual([
    'Got a place, 1',
    'Left, 1',
    'Longest, 40m 0s',
  ])
})
