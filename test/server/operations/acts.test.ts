import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../db/schema/accounts.ts'
import { launches, places, runs } from '../../../db/schema/fleet.ts'
import { openAdminConsole } from '../../../testing/people/admin-console.ts'
import { openPage, openSite, SITE } from '../../../testing/stack/site.ts'
import { localEc2 } from '../../dev/ec2/local-ec2.ts'

const { site, db, admin, act, open, actsOn: recordsOf, newRun } = await openAdminConsole()
const other = await site.signInAs('admin')
const actsOn = async (subject: string) => (await recordsOf(subject)).map(([name]) => name)
const formId = (html: string, form: string) => new RegExp(`name="act_id" value="([^"]+\\.${form})"`).exec(html)?.[1]

async function submit(path: string, from: string, fields: Record<string, string>) {
  const { cookie, token } = await openPage(site, admin.cookie)
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'Sec-Fetch-Site': 'same-origin' }
  const response = await site.request(path, {
    method: 'POST',
    headers: { ...headers, Referer: SITE + from, Cookie: cookie },
    body: new URLSearchParams({ authenticity_token: token, ...fields }).toString(),
  })
  const flash = response.headers.getSetCookie().map((line) => line.split(';')[0])
  return { to: response.headers.get('Location'), cookie: [cookie, ...flash].join('; ') }
}

test("a run's page force stops it, and returns to the page", async () => {
  const ada = await site.signInAs('user')
  const run = await newRun(ada.userId)
  const at = `/admin/runs/${run}`
  const act_id = formId((await open(at)).text, 'stop') ?? 'no form'
  expect(act_id).toMatch(/^act_/)
  expect((await submit(`${at}/stop`, at, { reason: 'Mining coins.', confirmed: '1', act_id })).to).toBe(at)
  expect(await actsOn(run)).toEqual(['stop_run'])
  expect((await open(at)).text).not.toContain('Force stop')
})

test("a run's page offers no stop for an ended run, for the admin's own, or before confirming", async () => {
  const ada = await site.signInAs('user')
  const over = await newRun(ada.userId, { stopRequestedAt: Date.now(), endedAt: Date.now() })
  const [mine, fresh] = [await newRun(other.userId), await newRun(ada.userId)]
  for (const [run, cookie] of [
    [over, admin.cookie],
    [mine, other.cookie],
  ]) {
    const { text: html } = await open(`/admin/runs/${run}`, cookie)
    expect(html).toContain(`Run ${run}`)
    expect(/Force stop|confirm it’s you/.test(html)).toBe(false)
  }
  const late = await openSite()
  const { cookie, signInId } = await late.signInAs('admin')
  const anHourAgo = Date.now() - 60 * 60_000
  await db.run(`UPDATE sign_ins SET created_at = ${anHourAgo} WHERE id = '${signInId}'`)
  const { text: html } = await open(`/admin/runs/${fresh}`, cookie, late)
  expect(html).toContain(`/admin/confirm?to=${encodeURIComponent(`/admin/runs/${fresh}`)}`)
  expect(html).toContain('confirm it’s you')
  expect(html).not.toContain('Force stop')
})

test('if two admins stop a server at once, one does, and the other reads that it is stopping', async () => {
  const ada = await site.signInAs('user')
  const run = await newRun(ada.userId)
  const answers = await Promise.all([admin, other].map(({ cookie }) => act(`/admin/runs/${run}/stop`, {}, cookie)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  expect(await actsOn(run)).toEqual(['stop_run'])
})

test('a form acts once, however often it is sent', async () => {
  const act_id = formId((await open('/admin/places')).text, 'add')
  const input = { type: 'g6.4xlarge', zone: 'us-east-1e', template: '', gpus: '1', count: '3', act_id }
  const answers = await Promise.all([1, 2, 3].map(() => act('/admin/places', input)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  const later = await act('/admin/places', { ...input, zone: 'us-east-1d' })
  expect([later.status, await later.json()]).toMatchObject([409, { error: expect.stringContaining('reload the page') }])
  const added = await db.select().from(places).where(eq(places.availabilityZone, 'us-east-1e'))
  expect(added).toHaveLength(3)
  expect(formId((await open('/admin/places')).text, 'add')).not.toBe(act_id)
  expect((await act('/admin/places', { ...input, act_id: 'chosen by hand' })).status).toBe(200)
})

test('two granted plans in one form leave one, and a closed account gets none', async () => {
  const ada = await site.signInAs('user')
  const at = `/admin/people/${ada.userId}`
  const act_id = formId((await open(at)).text, 'grant')
  const grant = () => act(`${at}/plan`, { plan: 'basic', hours: '', act_id })
  expect([(await grant()).status, (await grant()).status]).toEqual([200, 409])
  await db.update(users).set({ closedAt: Date.now() }).where(eq(users.id, ada.userId))
  const closed = await act(`${at}/plan`, { plan: 'premium', hours: '' })
  expect([closed.status, await closed.json()]).toMatchObject([409, { error: 'This account is closed.' }])
  expect(await actsOn(ada.userId)).toEqual(['grant_plan'])
})

test('if two admins end a plan at once, one does', async () => {
  const ada = await site.signInAs('user')
  const at = `/admin/people/${ada.userId}`
  await act(`${at}/plan`, { plan: 'basic', hours: '' })
  const answers = await Promise.all([admin, other].map(({ cookie }) => act(`${at}/end_plan`, {}, cookie)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  expect((await actsOn(ada.userId)).sort()).toEqual(['end_plan', 'grant_plan'])
})

test('a refused form is open again, with everything typed except the tick', async () => {
  const ada = await site.signInAs('user')
  const at = `/admin/people/${ada.userId}`
  const act_id = formId((await open(at)).text, 'grant') ?? ''
  const refused = await submit(`${at}/plan`, at, { plan: 'premium', hours: '7', reason: 'A <prize>', act_id })
  expect(refused.to).toBe(at)
  const { text: html } = await open(at, refused.cookie)
  const [form = ''] = html.match(/<details class="fold" open="">.*?<\/details>/s) ?? []
  expect(form).toContain('Grant a plan…')
  expect(form).toContain('value="A &lt;prize&gt;"')
  expect(form).toContain('<option value="premium" selected="">')
  expect(form).toMatch(/name="hours"[^>]*value="7"/)
  expect(form).not.toContain('checked')
  expect(html.split('<details class="fold" open="">')).toHaveLength(2)
})

test('an admin whose rights have ended can’t act', async () => {
  const ada = await site.signInAs('user')
  const former = await site.signInAs('admin')
  const at = `/admin/people/${ada.userId}`
  const act_id = formId((await open(at, former.cookie)).text, 'suspend')
  await db.update(users).set({ admin: false }).where(eq(users.id, former.userId))
  expect((await act(`${at}/suspend`, { act_id }, former.cookie)).status).toBe(403)
  expect((await act('/admin/confirm', { to: at }, former.cookie)).status).toBe(403)
  expect(await actsOn(ada.userId)).toEqual([])
})

test("drift shows and ends an instance that nobody owns, but not a live run's", async () => {
  const cloud = await localEc2()
  const far = await openSite({ EC2_ENDPOINT: cloud.ec2.endpoint })
  const launched = (tags: Record<string, string>) =>
    cloud.launchOne({
      TagSpecifications: [
        { ResourceType: 'instance', Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) },
      ],
    })
  const ada = await site.signInAs('user')
  const lost = await launched({ app: 'proving-ground', launch: 'launch_lost', session: 'ses_lost', user: ada.userId })
  const owned = await launched({ app: 'proving-ground', launch: 'launch_owned' })
  const foreign = await launched({ app: 'something else' })
  const run = await newRun(ada.userId, { instanceId: owned })
  const gone = await newRun((await site.signInAs('user')).userId, { instanceId: 'i-00000000000000000' })
  const { placeId = '' } = (await db.select().from(runs).where(eq(runs.id, run)))[0] ?? {}
  const launch = { runId: run, placeId, createdAt: Date.now(), instanceId: owned, outcome: 'launched' as const }
  await db.insert(launches).values({ ...launch, token: 'launch_owned' })
  cloud.advance(5_000)

  const { text: page } = await open('/admin/drift', admin.cookie, far)
  expect([page.includes(lost), page.includes(owned), page.includes(foreign), page.includes(gone)]).toEqual([
    true,
    false,
    false,
    true,
  ])
  const end = (...instances: string[]) => act('/admin/instances/end', { instances }, admin.cookie, far)
  expect((await end(foreign)).status).toBe(404)
  expect((await end('i-123')).status).toBe(422)
  const refused = await end(owned)
  expect([refused.status, await refused.json()]).toMatchObject([409, { error: expect.stringContaining(run) }])
  cloud.ec2.inject('UnauthorizedOperation', 1, { action: 'TerminateInstances' })
  expect((await end(lost)).status).toBe(502)
  expect((await end()).status).toBe(422)
  // What can't be ended doesn't keep the others, and is named.
  const ended = await end(lost, owned)
  expect([ended.status, await ended.json()]).toMatchObject([
    200,
    { message: expect.stringMatching(new RegExp(`^EC2 is ending 1 of 2\\. ${owned}: .*${run}`)) },
  ])
  expect((await end(lost)).status).toBe(409)
  // If none can be ended, each says why.
  const none = await end('i-00000000000000001', owned)
  expect([none.status, await none.json()]).toMatchObject([
    expect.toBeOneOf([404, 409]),
    {
      error: expect.stringMatching(
        new RegExp(`^EC2 is ending 0 of 2\\. (?=.*i-00000000000000001: .*have)(?=.*${owned}: .*${run})`),
      ),
    },
  ])
  expect((await actsOn(lost)).sort()).toEqual(['end_instance', 'end_instance', 'end_instance_failed'])
  expect(await actsOn(owned)).toEqual([])
  expect((await cloud.find(owned))?.State?.Name).toBe('running')
})
