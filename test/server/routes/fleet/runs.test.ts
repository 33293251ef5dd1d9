import { eq, sql } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { bills, plans } from '../../../../db/schema/billing.ts'
import { doorLinks, launches, places, runs } from '../../../../db/schema/fleet.ts'
import type { RunCostSum } from '../../../../src/domain/money/run-cost.ts'
import type { ProviderRecord, RunEvent, Server } from '../../../../src/domain/wire/fleet.ts'
import { findStatement } from '../../../../src/server/billing/bills/billing-history.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { ownDatabase } from '../../../../testing/stack/own-database.ts'
import { openSite, SITE } from '../../../../testing/stack/site.ts'
import { testContext } from '../../../../testing/stack/test-context.ts'

type Shown = { server: Server; events: RunEvent[]; cost: RunCostSum; provider: ProviderRecord | null }

const HOUR = 3_600_000
/** The boundary of two billed cycles, long ago. */
const BOUNDARY = Date.UTC(2024, 1, 29, 8, 30)

const database = await ownDatabase()
const site = await openSite({}, database)
const placeId = newId('srv')
await site.db
  .insert(places)
  .values({ id: placeId, instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1b', position: 7 })

const get = (path: string, cookie: string) => site.request(path, { headers: { Cookie: cookie } })
const show = async (id: string, cookie: string) => (await (await get(`/api/v1/servers/${id}`, cookie)).json()) as Shown

/** Someone who signed up long ago. */
async function old(billedUntil = 0) {
  const person = await site.signInAs('user')
  await site.db
    .update(users)
    .set({ createdAt: BOUNDARY - 800 * HOUR, billedUntil })
    .where(eq(users.id, person.userId))
  return person
}

async function insertRun(
  userId: string,
  from: number,
  until: number | null,
  more: Partial<typeof runs.$inferInsert> = {},
) {
  const id = newId('ses')
  await site.db.insert(runs).values({
    id,
    userId,
    placeId,
    instanceType: 'g6.4xlarge',
    availabilityZone: 'us-east-1b',
    requestedAt: from - 41_000,
    runningAt: from - 20_000,
    billedFrom: from,
    confirmedAt: until ?? from,
    meteredUntil: until,
    stopRequestedAt: until,
    endedAt: until,
    endedBecause: until === null ? null : 'you',
    instanceId: 'i-1',
    ...more,
  })
  return id
}

async function insertBill(userId: string, start: number, end: number, bill: { seconds: number; amountCents: number }) {
  const id = newId('bill')
  const row = {
    id,
    userId,
    periodStart: start,
    periodEnd: end,
    includedHours: 5,
    trial: false,
    ...bill,
    createdAt: end,
  }
  await site.db.insert(bills).values({ ...row, planType: 'basic' })
  return id
}

describe('a run', () => {
  test.each([
    { endsAt: 2 * HOUR, mustStopAt: null, shown: 2 * HOUR, trial: false },
    { endsAt: HOUR - 1_000, mustStopAt: HOUR, shown: HOUR - 1_000, trial: false },
    { endsAt: HOUR, mustStopAt: HOUR, shown: HOUR, trial: true },
    { endsAt: null, mustStopAt: HOUR, shown: HOUR, trial: true },
  ])('shows the end that comes first: $endsAt, and $mustStopAt of the trial', async ({ shown, trial, ...ends }) => {
    const { cookie, userId } = await old()
    const from = Math.floor(Date.now() / 1000) * 1000
    const at = (ms: number | null) => (ms === null ? null : from + ms)
    const id = await insertRun(userId, from, null, { endsAt: at(ends.endsAt), mustStopAt: at(ends.mustStopAt) })
    const page = await (await get(`/servers/${id}`, cookie)).text()
    const iso = new Date(from + shown).toISOString()
    expect(page.match(new RegExp(`Ends</dt><dd><time[^>]*datetime="${iso}"`, 'i'))).not.toBeNull()
    expect(page.includes('when your free minutes are used up')).toBe(trial)
  })

  test.each([
    { inTrial: true, runs: false, shown: false },
    { inTrial: true, runs: true, shown: true },
    { inTrial: false, runs: false, shown: true },
  ])('says that no end is set, but not while a trial starts: $inTrial, $runs', async ({ inTrial, runs, shown }) => {
    const { cookie, userId } = await old()
    const from = Date.now() - HOUR
    const id = await insertRun(userId, from, null, { inTrial, ...(runs ? {} : { billedFrom: null }) })
    const page = await (await get(`/servers/${id}`, cookie)).text()
    expect(page.includes('no end set')).toBe(shown)
  })

  test('says that a run without another end ends with its program', async () => {
    const { cookie, userId } = await old()
    const id = await insertRun(userId, Date.now() - HOUR, null, { untilExit: true })
    const page = await (await get(`/servers/${id}`, cookie)).text()
    expect([page.includes('ends with its program'), page.includes('no end set')]).toEqual([true, false])
  })

  test("shows what happened, what it cost, and EC2's times; somebody else's is not found", async () => {
    const { cookie, userId } = await old()
    const eve = await site.signInAs('user')
    const from = Date.now() - 20 * HOUR
    const id = await insertRun(userId, from, from + 600_999, { name: '<b>=lap</b>', maxGpus: 1 })
    const launch = { runId: id, placeId, createdAt: from - 40_000 }
    await site.db.insert(launches).values([
      { ...launch, token: newId('launch'), outcome: 'refused', refusalCode: 'InsufficientInstanceCapacity' },
      {
        ...launch,
        token: newId('launch'),
        createdAt: from - 39_000,
        outcome: 'gone',
        instanceId: 'i-1',
        launchedAt: from - 38_000,
        endedAt: from + 602_000,
        endReason: 'User initiated (2024-01-01 00:00:00 GMT)',
      },
    ])
    const { server, events, cost, provider } = await show(id, cookie)
    expect(server).toMatchObject({ id, name: '<b>=lap</b>', active: false })
    expect(events.map(({ what }) => what).toSorted()).toEqual(
      [
        'requested',
        'place_refused',
        'launched',
        'booting',
        'running',
        'answered',
        'stopped',
        'meter_ended',
        'machine_ended',
        'gone',
      ].toSorted(),
    )
    expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).toSorted())
    // Without script, every time of day on its page says that it's UTC.
    const sent = await (await get(`/servers/${id}`, cookie)).text()
    const times = [...sent.matchAll(/<time dateTime="\d+-\d+-\d+T[^>]*>([^<]*)</gi)].map(([, text]) => text)
    expect(times.length).toBeGreaterThan(5)
    expect(times.filter((text) => text?.includes(':') && !text.endsWith(' UTC'))).toEqual([])
    // Without a plan, nothing is included.
    const seconds = Math.floor((from + 600_999) / 1000) - Math.ceil(from / 1000)
    expect(cost).toEqual({
      seconds,
      included_seconds: 0,
      billed_seconds: seconds,
      dollars: (seconds * 4861) / 1e7,
    })
    expect(provider).toEqual({
      launched_at: new Date(from - 38_000).toISOString(),
      ended_at: new Date(from + 602_000).toISOString(),
      reason: 'User initiated (2024-01-01 00:00:00 GMT)',
    })
    const page = await (await get(`/servers/${id}`, cookie)).text()
    expect(page).toContain('&lt;b&gt;=lap&lt;/b&gt;')
    expect(page).toContain('Start again like this one')
    expect(page).toContain('<input type="hidden" name="max_gpus" value="1"/>')
    for (const path of [`/api/v1/servers/${id}`, `/servers/${id}`]) {
      expect((await get(path, eve.cookie)).status).toBe(404)
      expect((await get(`${path}x`, cookie)).status).toBe(404)
    }
    expect((await get(`/servers/${id}`, eve.cookie)).headers.get('Content-Type')).toBe('text/html; charset=UTF-8')
    expect(await get(`/servers/${id}`, eve.cookie).then((answer) => answer.text())).not.toContain('lap')
  })

  test('has a line for each of its bills, equal to what their statements say', async () => {
    const { cookie, userId } = await old(BOUNDARY + 800 * HOUR)
    // Five hours are included in each: the earlier run uses four.
    await insertRun(userId, BOUNDARY - 100 * HOUR, BOUNDARY - 96 * HOUR)
    const id = await insertRun(userId, BOUNDARY - 2 * HOUR - 300, BOUNDARY + 6 * HOUR + 500)
    const first = await insertBill(userId, BOUNDARY - 700 * HOUR, BOUNDARY, { seconds: 21_600, amountCents: 175 })
    const second = await insertBill(userId, BOUNDARY, BOUNDARY + 700 * HOUR, { seconds: 21_600, amountCents: 175 })
    const { cost } = await show(id, cookie)
    expect(cost).toEqual({ seconds: 28_800, included_seconds: 21_600, billed_seconds: 7_200, dollars: 3.49992 })
    const page = await (await get(`/servers/${id}`, cookie)).text()
    const context = testContext({ db: site.db })
    for (const bill of [first, second]) {
      const lines = (await findStatement(context, userId, bill))?.lines ?? []
      expect(lines.find(({ session_id }) => session_id === id)?.dollars).toBe(1.74996)
      expect(page).toContain(`href="/billing_history/${bill}"`)
      expect(await (await get(`/billing_history/${bill}`, cookie)).text()).toContain(`href="/servers/${id}"`)
    }
  })

  test('counts the plan of the open month, up to now while it runs', async () => {
    const { cookie, userId } = await old()
    const anchor = Math.floor(Date.now() / 1000) * 1000 - 48 * HOUR
    await site.db.insert(plans).values({
      id: newId('sub'),
      userId,
      planType: 'basic',
      subType: 'paid',
      status: 'active',
      anchor,
      hours: 5,
      createdAt: anchor,
    })
    const ended = await insertRun(userId, anchor + HOUR, anchor + 5 * HOUR)
    const id = await insertRun(userId, anchor + 45 * HOUR, null)
    const { cost, provider, server } = await show(id, cookie)
    expect(server.active).toBe(true)
    expect(provider).toBeNull()
    expect(cost.included_seconds).toBe(3_600)
    expect(cost.seconds).toBeGreaterThanOrEqual(3 * 3_600 - 1)
    expect(cost.billed_seconds).toBe(cost.seconds - 3_600)
    expect(cost.dollars).toBe((cost.billed_seconds * 4861) / 1e7)
    const page = await (await get(`/servers/${id}`, cookie)).text()
    expect(page).toContain('Refresh')
    expect(page).toContain('href="/stop_server"')
    expect(page).not.toContain('Start again like this one')
    expect(await (await get(`/servers/${ended}`, cookie)).text()).not.toContain('/stop_server')
  })
})

describe('all runs', () => {
  test('are listed 50 a page, newest first, and found by name, month, and status', async () => {
    const { cookie, userId } = await site.signInAs('user')
    const eve = await site.signInAs('user')
    for (let i = 0; i < 51; i++)
      await insertRun(userId, BOUNDARY + i * HOUR, BOUNDARY + i * HOUR + 60_000, { name: i ? null : '100%_Lap' })
    const failed = await insertRun(userId, BOUNDARY + 800 * HOUR, BOUNDARY + 801 * HOUR, { errorMessage: 'Lost.' })
    const list = async (query: string, as = cookie) =>
      (await (await get(`/api/v1/servers${query}`, as)).json()) as { servers: Server[]; page: number; pages: number }
    const first = await list('')
    expect([first.servers.length, first.page, first.pages, first.servers[0]?.id]).toEqual([50, 1, 2, failed])
    const second = await list('?page=2')
    expect([second.servers.length, second.page, second.pages]).toEqual([2, 2, 2])
    expect(new Set([...first.servers, ...second.servers].map(({ id }) => id)).size).toBe(52)
    expect(await list('?page=3')).toEqual({ servers: [], page: 3, pages: 2 })
    expect(await list('', eve.cookie)).toEqual({ servers: [], page: 1, pages: 1 })
    // Wildcards stand for themselves, and the case doesn't matter.
    expect((await list('?q=100%25_lap')).servers).toHaveLength(1)
    expect((await list('?q=%25')).servers).toHaveLength(1)
    const jana = await site.signInAs('user')
    await insertRun(jana.userId, BOUNDARY, BOUNDARY + 60_000, { name: 'ÜBUNG Äpfel, Ёлка Ωmega' })
    for (const q of ['ÜBUNG', 'Übung', 'übung', 'äpfel', 'ÄPFEL', 'ёлка', 'ωmega', 'übung ä'])
      expect([q, (await list(`?q=${encodeURIComponent(q)}`, jana.cookie)).servers.length]).toEqual([q, 1])
    expect((await list('?q=%C3%9Cbungen', jana.cookie)).servers).toEqual([])
    expect((await list('?q=nobody')).servers).toEqual([])
    expect((await list('?month=2024-04')).servers.map(({ id }) => id)).toEqual([failed])
    expect((await list('?status=error')).servers.map(({ id }) => id)).toEqual([failed])
    expect((await list('?status=running')).servers).toEqual([])
    const page = await (await get('/servers?month=2024-04', cookie)).text()
    expect(page).toContain(`href="/servers/${failed}"`)
    expect(page).toContain('href="/servers.csv?month=2024-04"')
    // A month is one in UTC, so its times are too.
    expect(page).toContain('Month requested (UTC)')
    // The script turns each <time> into the reader's zone.
    expect(page).not.toContain('<time')
    expect(await (await get('/servers', cookie)).text()).toContain('<time')
    expect(await (await get('/servers?page=2', cookie)).text()).toContain('>Newer</a>')
    const beyond = async (query: string) => (await get(`/servers?${query}`, cookie)).headers.get('Location')
    expect(await beyond('page=101')).toBe('/servers?page=2')
    expect(await beyond('q=lap&page=2')).toBe('/servers?q=lap')
    expect(await (await get('/servers', eve.cookie)).text()).toContain('No servers yet.')
  })

  test('are refused if the query makes no sense: as JSON, a page, or a file', async () => {
    const { cookie, userId } = await site.signInAs('user')
    const { headers } = await site.tokenOf(userId, 'read')
    for (const query of ['page=abc', 'page=0', 'month=2026-13', 'status=gone', `q=${'x'.repeat(101)}`]) {
      const refused = await get(`/api/v1/servers?${query}`, cookie)
      expect([query, refused.status]).toEqual([query, 422])
      expect(await refused.json()).toMatchObject({ code: 'invalid' })
      expect((await site.request(`/servers.csv?${query}`, { headers })).status).toBe(422)
      const page = await get(`/servers?${query}`, cookie)
      expect([page.status, page.headers.get('Content-Type')]).toEqual([422, 'text/html; charset=UTF-8'])
      expect(await page.text()).toContain('href="/servers"')
    }
    // A form sends what nobody chose.
    expect((await get('/servers?q=&month=&status=', cookie)).status).toBe(200)
    expect((await get('/api/v1/servers?month=', cookie)).status).toBe(422)
    expect((await get('/billing_history.csv?month=2026-13', cookie)).status).toBe(422)
    expect((await get('/billing_history.csv?month=', cookie)).status).toBe(200)
  })

  test('say who else may get in, each its own guests', async () => {
    const withDoor = await openSite({ DOOR_DOMAIN: 'door.test', FLEET: {} as never }, database)
    const [ada, eve] = [await site.signInAs('user'), await site.signInAs('user')]
    const now = Date.now()
    const live = { ipAddress: '192.0.2.1', privateAddress: '10.0.0.1', doorLabel: 'a'.repeat(20) }
    const mine = await insertRun(ada.userId, now - HOUR, null, live)
    const hers = await insertRun(eve.userId, now - HOUR, null, { ...live, doorLabel: 'b'.repeat(20) })
    const page = async (id: string, cookie: string) =>
      (await withDoor.request(`/servers/${id}`, { headers: { Cookie: cookie } })).text()
    const guest = { id: newId('gst'), hash: newId('gst'), createdAt: now, expiresAt: now + HOUR }
    await site.db.insert(doorLinks).values({ ...guest, runId: mine })
    expect(await page(mine, ada.cookie)).toMatch(/You and (<!-- -->)?a guest(<!-- -->)? can get in/)
    expect(await page(hers, eve.cookie)).toContain('Private: only you.')
  })

  test('can be downloaded, filtered, with a link to each', async () => {
    const { cookie, userId } = await site.signInAs('user')
    const id = await insertRun(userId, BOUNDARY, BOUNDARY + 61_000, { name: '=cmd()', costUnits: 61 * 4861 })
    await insertRun(userId, BOUNDARY + 800 * HOUR, BOUNDARY + 801 * HOUR)
    const file = await get('/servers.csv?month=2024-02', cookie)
    expect(file.headers.get('Content-Disposition')).toBe('attachment; filename="proving-ground-servers-2024-02.csv"')
    const bytes = new Uint8Array(await file.arrayBuffer())
    // Excel takes a file without a byte-order mark for one of its own code page.
    expect([...bytes.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
    const lines = new TextDecoder().decode(bytes).trim().split('\r\n')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain(`"${id}","'=cmd()","stopped",`)
    expect(lines[1]).toContain('"61","0.0296521","g6.4xlarge","us-east-1b","","","","","you","","",')
    expect(lines[1]).toMatch(new RegExp(`"${SITE}/servers/${id}"$`))
  })
  test('fit into a file and an export, even if they exceed what the database puts into one answer', async () => {
    const { cookie, userId } = await site.signInAs('user')
    // 13 MB; some share a moment.
    await site.db.run(sql`INSERT INTO server_sessions (id, user_id, server_id, instance_type, requested_at, ended_at,
        hours_look_at, error_message)
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      SELECT printf('ses_${sql.raw(userId)}%06d', i), ${userId}, ${placeId}, 'g6.4xlarge', ${BOUNDARY} + i / 3, ${BOUNDARY} + i, 0,
        printf('%3500s', i) FROM n`)
    await expect(site.db.select().from(runs).where(eq(runs.userId, userId))).rejects.toMatchObject({
      cause: { code: 'RESPONSE_TOO_LARGE' },
    })
    const file = (await (await get('/servers.csv', cookie)).text()).trim().split('\r\n').slice(1)
    const newestFirst = Array.from({ length: 3_001 }, (_, i) => `ses_${userId}${String(3_000 - i).padStart(6, '0')}`)
    expect(file.map((line) => line.split('"')[1])).toEqual(newestFirst)
    // Each run that ends leaves a notice.
    await site.db.run(sql`INSERT INTO notices (id, user_id, kind, at, title, text)
      SELECT 'ntc_' || id, user_id, 'ended', requested_at, 'Stopped', error_message FROM server_sessions WHERE user_id = ${userId}`)
    const exported = (await (await get('/api/v1/users/export', cookie)).json()) as Record<
      'servers' | 'notices',
      { id: string }[]
    >
    expect(exported.servers.map(({ id }) => id)).toEqual(newestFirst.toReversed())
    expect(exported.notices.map(({ id }) => id)).toEqual(newestFirst.toReversed().map((id) => `ntc_${id}`))
  })
})
