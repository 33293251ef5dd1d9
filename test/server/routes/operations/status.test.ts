import { expect, test, vi } from 'vitest'
import { incidents, statusChecks } from '../../../../db/schema/operations.ts'
import { openSite, type Site } from '../../../../testing/stack/site.ts'

// Hot reload keeps no pages.
vi.stubEnv('DEV', false)

let sites = 0
/** A site that has kept no page yet. */
const newSite = (more = {}) => openSite({ SITE_ORIGINS: `http://status-${++sites}.test`, ...more })
const now = Date.now()
const { db } = await newSite()

async function read(opened: Site | Promise<Site> = newSite()): Promise<string> {
  const site = await opened
  const response = await site.request('/status')
  expect(response.status).toBe(200)
  return (await response.text())
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .replaceAll('&#x27;', "'")
}

test('before the first check, says that it cannot tell', async () => {
  expect(await read()).toContain("We can't tell right now")
})

test('says that people can start servers, since when, and what the last interruption was', async () => {
  await db.insert(statusChecks).values({ id: 'starts', firstAt: now - 10 * 86_400_000, lastAt: now })
  expect(await read()).toMatch(/You can start servers.*Since.*100%.*None in the last 90 days/)
  const startedAt =
    Date.UTC(new Date(now).getUTCFullYear(), new Date(now).getUTCMonth(), new Date(now).getUTCDate()) - 7_200_000
  await db.insert(incidents).values({ id: 'inc_1', kind: 'failing', startedAt, endedAt: startedAt + 3_600_000 })
  const page = await read()
  expect(page).toMatch(/You can start servers.*99\.\d\d%.*Servers failed to start.*1h 0m 0s/)
})

test('says what is wrong; failing starts take priority over a full fleet', async () => {
  await db.insert(incidents).values({ id: 'inc_2', kind: 'full', startedAt: now })
  expect(await read()).toContain('All servers are in use')
  await db.insert(incidents).values({ id: 'inc_3', kind: 'failing', startedAt: now })
  expect(await read()).toContain('Servers are failing to start')
})

test('says that it cannot tell while the database or the checks are down', async () => {
  expect(await read(newSite({ LIBSQL_URL: 'http://127.0.0.1:1' }))).toContain("can't reach our database")
  await db.update(statusChecks).set({ lastAt: now - 600_000 })
  expect(await read()).toContain("Our checks aren't running")
})

test('asks the database again after half a minute, and then keeps no failure', async () => {
  const SITE_ORIGINS = 'http://status-kept.test'
  const site = await openSite({ SITE_ORIGINS })
  const broken = await openSite({ SITE_ORIGINS, LIBSQL_URL: 'http://127.0.0.1:1' })
  const first = await read(site)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 29_000 })
  expect(await read(broken)).toBe(first)
  vi.setSystemTime(Date.now() + 1_000)
  expect(await read(broken)).toContain("can't reach our database")
  expect(await read(site)).not.toContain("can't reach our database")
  vi.useRealTimers()
})
