import { eq } from 'drizzle-orm'
import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { environments, places, runs } from '../../../../../db/schema/fleet.ts'
import { lineGroups, lineWaits } from '../../../../../db/schema/line.ts'
import { warmSettings } from '../../../../../db/schema/warm.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../../src/domain/instant.ts'
import { Places } from '../../../../../src/pages/admin/Places.tsx'
import { openAdminConsole } from '../../../../../testing/people/admin-console.ts'

const { site, db, act, open, actsOn, recorded, newRun } = await openAdminConsole()
const WARM = { kind: 'g6.4xlarge us-east-1e', hours: 'soon', count: '1', time_zone: '', price: '' }

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
  expect(text.match(/badge-gray/g)).toHaveLength(1)
})

test('keeps machines warm in some hours of a kind, with a reason, and says what that costs', async () => {
  const input = {
    kind: 'g6.4xlarge us-east-1e',
    hours: 'sat 9-12',
    count: '5',
    time_zone: 'Europe/Berlin',
    price: '1.40',
  }
  for (const wrong of [
    { kind: 'g6.4xlarge mars' },
    { hours: 'soon' },
    { count: '51' },
    { time_zone: 'Mars/Olympus' },
    { price: '-1' },
    { reason: '' },
  ])
    expect((await act('/admin/places/warm', { ...input, ...wrong })).status, JSON.stringify(wrong)).toBe(422)
  expect((await act('/admin/places/warm', input)).status).toBe(200)
  const later = { ...input, hours: 'mon-tue 8-10', count: '1', time_zone: '', price: '' }
  expect((await act('/admin/places/warm', later)).status).toBe(200)
  expect((await actsOn('g6.4xlarge us-east-1e')).map(([name]) => name)).toEqual(['keep_warm', 'keep_warm'])
  const shown = (await open('/admin/places')).text.replaceAll('<wbr/>', '').replaceAll('<!-- -->', '')
  expect(shown).toContain('mon-tue 8-10: 1, sat 9-12: 5 (Europe/Berlin)')
  // 15 hours and 4, with the quarter of an hour before: 1.25 and twice 0.25.
  expect(shown).toContain('20.75 machine hours, $29.05')
  expect((await open('/admin/audit?act=keep_warm')).text).toContain(
    '<dt>Kept warm</dt><dd>mon-tue 8-10: 1, sat 9-12: 5</dd></div><div><dt>Time zone</dt><dd>Europe/Berlin</dd>',
  )
  expect((await act('/admin/places/warm', { ...input, hours: 'always', count: '0' })).status).toBe(200)
  expect(await db.$count(warmSettings)).toBe(0)
})

test('says what machines would cost before it keeps them warm, without a reason', async () => {
  const input = { ...WARM, hours: 'sat 9-12', count: '5', price: '1.40', reason: '', only: 'cost' }
  const before = await actsOn(WARM.kind)
  const answer = await act('/admin/places/warm', input)
  expect([answer.status, await answer.json()]).toEqual([
    200,
    {
      message:
        'At most 16.25 machine hours, $22.75 a week, including 15 minutes to get ready. They cost $7.00 an hour while they wait.',
    },
  ])
  const refused = await act('/admin/places/warm', { ...input, hours: 'soon' })
  expect([refused.status, await refused.json()]).toMatchObject([
    422,
    { error: expect.stringContaining('Write the hours') },
  ])
  expect(await db.$count(warmSettings)).toBe(0)
  expect(await actsOn(WARM.kind)).toEqual(before)

  // The form comes back open, with the answer in it and what was typed.
  const line = { time_zone: 'UTC', hours: '', wanted: 0, ready: 0, others: 0, hour_dollars: null, week: null }
  const warm = [{ ...line, type: 'g6.4xlarge', zone: 'us-east-1a', suggested: '' }]
  const flash = { kind: 'info', message: 'At most $1.', values: { act_id: 'act.warm', hours: 'sat 9-12' } } as const
  const acting = { csrfToken: '', actId: 'act', confirmAt: null, flash }
  const [, form = ''] = renderToString(Places({ places: [], warm, q: '', acting })).split(
    '<details class="fold" open="">',
  )
  expect(form).toContain('At most $1.')
  expect(form).toMatch(/<input[^>]*name="hours"[^>]*value="sat 9-12"/)
})

test('blames a wrong field before a missing reason, and marks it', async () => {
  const group = { name: 'Class', gpus: '1', places: '', from: '', until: '', people: '', code: true }
  const environment = { name: 'Reef', description: 'No full stop', image: '', from: 'demo', position: '' }
  for (const [path, body, words] of [
    ['/admin/places', { type: 'g6.4xlarge', zone: '', template: '', gpus: '1', count: '1' }, 'zone must'],
    ['/admin/places', { type: 'g6.4xlarge', zone: 'us-east-1a', template: '', gpus: '', count: '1' }, 'GPUs must'],
    ['/admin/groups', group, 'servers must'],
    ['/admin/environments', environment, 'description must'],
    ['/admin/environments/change', { ...environment, image: 'a b', description: '' }, 'image must'],
    ['/admin/places/warm', WARM, 'Write the hours'],
  ] as const) {
    const refused = await act(path, { ...body, reason: '' })
    expect([refused.status, await refused.json()]).toMatchObject([422, { error: expect.stringContaining(words) }])
  }
  const acting = { csrfToken: '', actId: 'act', confirmAt: null }
  const flash = { kind: 'danger', message: 'Wrong.', field: 'zone', values: { act_id: 'act.add' } } as const
  const html = renderToString(Places({ places: [], warm: [], q: '', acting: { ...acting, flash } }))
  const marked = (html.match(/<(?:input|select)[^>]*aria-invalid="true"[^>]*>/g) ?? []).map(
    (tag) => / id="(.*?)"/.exec(tag)?.[1],
  )
  expect(marked).toEqual(['zone'])
})

test('no two fields of the places share an ID, so each has its label', async () => {
  const ids = [...(await open('/admin/places')).text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
  expect(ids).toEqual([...new Set(ids)])
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

test('holds places back for a group, changes it and its people, and ends it, each with a reason', async () => {
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
  for (const shown of ['Robot class', '20 with 1 × L4']) expect(text).toContain(shown)
  expect((await open(`/admin/groups/${id}`)).text).toContain(group?.code ?? '?')
  expect(text).toContain(`href="/admin/groups/${id}"`)
  const to = async (what: string, body: object = {}) => (await act(`/admin/groups/${id}/${what}`, body)).status
  expect(await to('change', { ...input, places: '19', from: '' })).toBe(200)
  expect(await to('change', { ...input, places: '0', from: '' })).toBe(422)
  expect(await to('add', { people: 'ben@example.com cleo@example.com' })).toBe(200)
  expect(await to('add', { people: 'ben@example.com' })).toBe(409)
  const removed = await act(`/admin/groups/${id}/remove`, { remove: ['ada@example.com'] })
  const { message } = (await removed.json()) as { message: string }
  const code = /^Removed from the group\. The new code is ([A-Z-]{9})\.$/.exec(message)?.[1] ?? '?'
  expect(await to('remove', { remove: ['ada@example.com'] })).toBe(409)
  const page = (await open(`/admin/groups/${id}`)).text
  for (const shown of ['Robot class', '<dd>19</dd>', '<dd>2</dd>', 'cleo@example.com', code])
    expect(page).toContain(shown)
  for (const gone of ['ada@example.com', group?.code]) expect(page).not.toContain(gone)
  expect(await to('end')).toBe(200)
  expect(await to('end')).toBe(409)
  expect((await act('/admin/groups/grp_none/end')).status).toBe(404)
  expect((await open('/admin/groups/grp_none')).status).toBe(404)
  const acts = ['make_group', 'change_group', 'change_group', 'change_group', 'end_group']
  expect(await actsOn(id)).toEqual(acts.map(recorded))
  // Neither the code nor an address is there for good.
  const { text: log } = await open(`/admin/audit?of=${id}`)
  expect(log).toContain('<dt>Servers</dt><dd>20</dd>')
  for (const secret of [code, group?.code, 'ada@example.com']) expect(log).not.toContain(secret)
  for (const path of ['/admin/line', `/admin/groups/${id}`]) expect((await open(path)).text).not.toContain(code)
})

test('shows how long people waited, and by hour of the week when capacity was short', async () => {
  const text = async () => (await open('/admin/line')).text.replaceAll('<!-- -->', '')
  const empty = await text()
  for (const words of ['No wait ended in the last 30 days.', 'No one waited, and a place was always free.'])
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
