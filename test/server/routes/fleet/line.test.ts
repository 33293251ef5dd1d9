import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { plans } from '../../../../db/schema/billing.ts'
import { places } from '../../../../db/schema/fleet.ts'
import { line, lineGroupPeople, lineGroups } from '../../../../db/schema/line.ts'
import { instantText, toIso } from '../../../../src/domain/instant.ts'
import type { LinePlace } from '../../../../src/domain/wire/fleet.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { openPage, openSite, SITE } from '../../../../testing/stack/site.ts'

const site = await openSite()
const [small, large] = [newId('srv'), newId('srv')]
await site.db.insert(places).values([
  { id: small, instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1b', position: 1, reservedBy: 'ses_1' },
  { id: large, instanceType: 'g6.12xlarge', gpus: 4, availabilityZone: 'us-east-1b', position: 2, reservedBy: 'ses_2' },
])

async function customer() {
  const person = await site.signInAs('user')
  await site.giveEndedTrial(person.userId)
  return person
}
type Person = { cookie: string }
type Body = { line: LinePlace | null; message?: string; error?: string }

async function call(method: string, { cookie }: Person, json?: object, on = site) {
  const response = await on.request('/api/v1/line', {
    method,
    headers: { Cookie: cookie, Origin: SITE, ...(json && { 'Content-Type': 'application/json' }) },
    ...(json && { body: JSON.stringify(json) }),
  })
  return { status: response.status, body: (await response.json()) as Body }
}
/** Sends the page's form without script. */
async function plainForm(person: Person) {
  const { cookie, token } = await openPage(site, person.cookie)
  return (fields: Record<string, string>) =>
    site.request('/api/v1/line', {
      method: 'POST',
      headers: { Cookie: cookie, Origin: SITE, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ...fields, authenticity_token: token }).toString(),
    })
}
const textOf = (html: string) =>
  html
    .replace(/^[^>]*>/, '')
    .replaceAll('<!-- -->', '')
    .replace(/<\/section>.*/s, '')
    .replaceAll(/<\/(h2|div|header)>/g, ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
const join = (person: Person, json: object = { max_gpus: 1, start: true }) => call('POST', person, json)

test('joins, shows, and leaves the line', async () => {
  const [ada, ben] = [await customer(), await customer()]
  expect(await call('GET', ada)).toEqual({ status: 200, body: { line: null } })
  const joined = await join(ada)
  expect(joined.status).toBe(201)
  expect(joined.body.line).toEqual({
    size: 1,
    position: 1,
    estimate_seconds: null,
    held_until: null,
    starts_by_itself: true,
  })
  expect((await join(ben, { max_gpus: 1, start: false })).body.line).toMatchObject({
    position: 2,
    starts_by_itself: false,
  })
  expect((await call('GET', ada)).body.line).toEqual(joined.body.line)
  expect(await call('DELETE', ada)).toMatchObject({ status: 200, body: { line: null } })
  expect((await call('DELETE', ada)).status).toBe(200)
  await call('DELETE', ben)
})

test('refuses as a start would', async () => {
  expect((await join(await site.signInAs('user'))).status).toBe(402)
  expect((await join(await site.signInAs('suspended'))).status).toBe(402)
  const ada = await customer()
  expect((await join(ada, { max_gpus: 0.5, start: true })).status).toBe(422)
  expect((await join(ada, { vehicle: 'balloon', start: true })).status).toBe(422)
  await site.db.update(places).set({ reservedBy: null }).where(eq(places.id, small))
  expect(await join(ada)).toMatchObject({ status: 409, body: { error: expect.stringContaining('free') } })
  await site.db.update(places).set({ reservedBy: 'ses_1' }).where(eq(places.id, small))
  expect(await site.db.$count(line)).toBe(0)
})

test('plain forms work without script, and lead to the page', async () => {
  const ada = await customer()
  const page = async () => (await site.request('/line', { headers: { Cookie: ada.cookie } })).text()
  const html = await page()
  expect(html).toContain('Join the line')
  // Their plan includes the small machine only.
  expect(html).toContain('1 × L4')
  expect(html).not.toContain('4 × L4')
  const post = await plainForm(ada)
  const joined = await post({ max_gpus: '1', start: 'false' })
  expect([joined.status, joined.headers.get('location')]).toEqual([303, '/line'])
  expect(await page()).toContain('Leave the line')
  await site.db.update(line).set({ givenAt: Date.now(), heldUntil: Date.now() + 300_000 })
  await site.db.update(places).set({ reservedBy: ada.userId }).where(eq(places.id, small))
  expect(await page()).toContain('A server is yours')
  const dashboard = await (await site.request('/dashboard', { headers: { Cookie: ada.cookie } })).text()
  expect(dashboard).toContain('A server is yours until')
  const left = await post({ _method: 'delete' })
  expect([left.status, left.headers.get('location')]).toEqual([303, '/line'])
  expect(await site.db.$count(places, sql`id = ${small} AND reserved_by IS NULL`)).toBe(1)
  await site.db.update(places).set({ reservedBy: 'ses_1' }).where(eq(places.id, small))
})

test('without script, changing what happens keeps what the server starts with, and so does starting it', async () => {
  const ada = await customer()
  const page = async (query = '') => (await site.request(`/line${query}`, { headers: { Cookie: ada.cookie } })).text()
  /** The fields that the form with this button sends. */
  const formOf = (html: string, button: string) => {
    const form = html.split('<form').find((one) => one.includes(`>${button}</button>`)) ?? ''
    const hidden = [...form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)]
    return Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]))
  }
  const wishes = { environment: 'Mountains', vehicle: 'ugv', stop_after: '3600' }
  const post = await plainForm(ada)
  const checked = /name="start"[^>]*checked=""[^>]*value="(\w+)"|name="start"[^>]*value="(\w+)"[^>]*checked=""/
  const byItself = async () =>
    checked
      .exec(await page())
      ?.slice(1)
      .find(Boolean)
  expect(await byItself()).toBe('true')
  // A trial's minutes run only while its user is there.
  const [id, at] = [newId('sub'), Date.now()]
  const trial = { planType: 'demo', subType: 'demo', status: 'trialing', hours: 0.5 } as const
  await site.db.insert(plans).values({ id, userId: ada.userId, ...trial, anchor: at, createdAt: at })
  expect(await byItself()).toBe('false')
  await site.db.delete(plans).where(eq(plans.id, id))
  // Whoever comes without a choice gets their last one, at first 4 hours; none is a choice as well.
  expect(formOf(await page(), 'Wait in line')).toMatchObject({ stop_after: '14400' })
  expect(formOf(await page('?stop_after='), 'Wait in line')).not.toHaveProperty('stop_after')
  const joining = formOf(await page(`?${new URLSearchParams(wishes)}`), 'Wait in line')
  expect(joining).toMatchObject(wishes)
  await post({ ...joining, max_gpus: '1', start: 'true', name: 'Course 3' })
  const kept = async () => (await site.db.select().from(line).where(eq(line.userId, ada.userId)))[0]
  const joined = (await kept())?.wishes
  expect(joined).toMatchObject({ environment: 'Mountains', vehicle: 'ugv', name: 'Course 3', stopAfterMs: 3_600_000 })
  const waiting = await page()
  expect(waiting.replaceAll('<!-- -->', '')).toContain('for Mountains, UGV on 1 × L4')
  await post({ ...formOf(waiting, 'Save'), start: 'false' })
  expect(await kept()).toMatchObject({ start: false, wishes: joined })
  await site.db.update(line).set({ givenAt: Date.now(), heldUntil: Date.now() + 300_000 })
  expect(formOf(await page(), 'Start Server')).toMatchObject({ ...wishes, name: 'Course 3', max_gpus: '1' })
  await post({ _method: 'delete' })
})

test('shows its people what is held for their group, and until when', async () => {
  const [ada, ben] = [await customer(), await customer()]
  const now = Date.now()
  const group = { gpus: 1, places: 1, startsAt: now - 1_000, endsAt: now + 3_600_000, madeAt: now }
  const email = sql<string>`(SELECT email FROM users WHERE id = ${ada.userId})`
  const [on, later, over] = [newId('grp'), newId('grp'), newId('grp')]
  await site.db.insert(lineGroups).values([
    { ...group, id: on, name: 'Robot class' },
    { ...group, id: later, name: 'Finals', gpus: 4, places: 20, startsAt: now + 60_000 },
    { ...group, id: over, name: 'Last week', endsAt: now - 1 },
  ])
  await site.db.insert(lineGroupPeople).values([on, later, over].map((groupId) => ({ groupId, email, joinedAt: now })))
  const cards = async ({ cookie }: Person) => {
    const html = await (await site.request('/line', { headers: { Cookie: cookie } })).text()
    return html.split('<section').flatMap((card) => (card.includes('You’re in this group') ? textOf(card) : []))
  }
  const at = (ms: number) => instantText(toIso(ms), false)
  expect(await cards(ada)).toEqual([
    `Robot class You’re in this group. We hold 1 server with 1 × L4 for its people until ${at(group.endsAt)}. Start yours on the dashboard.`,
    `Finals You’re in this group. We hold 20 servers with 4 × L4 for its people from ${at(now + 60_000)} until ${at(group.endsAt)}.`,
  ])
  expect(await cards(ben)).toEqual([])
  await site.db.delete(lineGroupPeople)
  await site.db.delete(lineGroups)
})

test('a code starts a server in a place that is held back for its group, by JSON and by the plain form', async () => {
  const now = Date.now()
  const own = newId('srv')
  await site.db
    .insert(places)
    .values({ id: own, instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1b', position: 3 })
  const [ada, ben] = [await customer(), await customer()]
  const id = newId('grp')
  const group = {
    id,
    name: 'Robot class',
    gpus: 1,
    places: 1,
    startsAt: now - 1_000,
    endsAt: now + 3_600_000,
    madeAt: now,
  }
  await site.db.insert(lineGroups).values({ ...group, code: 'BCDF-GHJK' })
  const { cookie, token } = await openPage(site, ada.cookie)
  const start = (code: string, form = false, chosen: Record<string, string> = {}) =>
    site.request('/api/v1/aws/auto_cloud_start_request', {
      method: 'POST',
      headers: {
        Cookie: cookie,
        Origin: SITE,
        'Content-Type': form ? 'application/x-www-form-urlencoded' : 'application/json',
      },
      body: form
        ? new URLSearchParams({ authenticity_token: token, code, ...chosen }).toString()
        : JSON.stringify({ code }),
    })
  const page = async (person: Person) => (await site.request('/line', { headers: { Cookie: person.cookie } })).text()
  expect(await page(ada)).toContain('Have a code?')
  expect((await start('')).status).toBe(503)
  const wrong = await start('BCDF-GHJL')
  expect([wrong.status, await wrong.json()]).toEqual([422, expect.objectContaining({ server: null })])
  // A plain form can't offer a place in line beside the sentence: it leads there, with what was chosen.
  const full = await start('', true, { environment: 'Mountains', stop_after: '3600' })
  expect([full.status, full.headers.get('location')]).toEqual([303, '/line?stop_after=3600&environment=Mountains'])
  const mistyped = await start('BCDF-GHJL', true)
  expect(mistyped.headers.get('location')).toBe('/line?stop_after=')
  const flash = mistyped.headers.getSetCookie().map((one) => one.split(';')[0])
  const asked = await site.request('/line', { headers: { Cookie: [ada.cookie, ...flash].join('; ') } })
  expect(await asked.text()).toMatch(/value="BCDF-GHJL"[^>]*aria-invalid|aria-invalid[^>]*value="BCDF-GHJL"/)
  const started = await start('bcdf ghjk', true)
  expect([started.status, started.headers.get('location')]).toEqual([303, '/dashboard'])
  expect(await site.db.$count(places, sql`id = ${own} AND reserved_by LIKE 'ses_%'`)).toBe(1)
  expect(await page(ada)).toContain('Robot class</h2>')
  expect(await page(ben)).not.toContain('Robot class')
  await site.db.delete(lineGroupPeople)
  await site.db.delete(lineGroups)
  expect(await page(ben)).not.toContain('Have a code?')
  await site.db.update(places).set({ retiredAt: 1 }).where(eq(places.id, own))
})

test('switched off, its routes are unknown and the dashboard offers none', async () => {
  const off = await openSite({ LINE: 'off' })
  const ada = await off.signInAs('user')
  await off.giveEndedTrial(ada.userId)
  for (const method of ['GET', 'DELETE']) expect((await call(method, ada, undefined, off)).status).toBe(404)
  expect((await call('POST', ada, { max_gpus: 1, start: true }, off)).status).toBe(404)
  expect((await off.request('/line', { headers: { Cookie: ada.cookie } })).status).toBe(404)
})
