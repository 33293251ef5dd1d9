import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { signIns } from '../../db/schema/accounts.ts'
import { bills } from '../../db/schema/billing.ts'
import { jobs, places, runs } from '../../db/schema/fleet.ts'
import { newId } from '../../src/server/crypto/id.ts'
import { change, openSite } from '../../testing/stack/site.ts'

const site = await openSite()
let people = 0

async function personWithServer() {
  const person = await site.signInAs('user')
  const [placeId, runId, now] = [newId('srv'), newId('ses'), Date.now()]
  await site.db
    .insert(places)
    .values({ id: placeId, instanceType: 'g6.xlarge', availabilityZone: 'a', position: 1, reservedBy: runId })
  await site.db.insert(runs).values({
    id: runId,
    userId: person.userId,
    placeId,
    instanceType: 'g6.xlarge',
    requestedAt: now,
    runningAt: now,
    billedFrom: now,
    ipAddress: `203.0.113.${++people}`,
  })
  return { ...person, placeId, runId, address: `203.0.113.${people}` }
}

test('other people’s ids open nothing and answer like unknown ids', async () => {
  const [victim, eve] = [await personWithServer(), await personWithServer()]
  const both = async (
    method: string,
    path: (id: string) => string,
    body: (id: string) => unknown,
    theirs: string,
    nobodys: string,
  ) => {
    const answers = []
    for (const id of [theirs, nobodys]) {
      const response = await change(site, method, path(id), eve.cookie, body(id))
      answers.push([response.status, await response.json()])
    }
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]?.[0]).toBe(404)
  }
  const stop = '/api/v1/aws/stop_server'
  await both(
    'POST',
    () => stop,
    (id) => ({ server_id: victim.placeId, session_id: id }),
    victim.runId,
    newId('ses'),
  )
  await both(
    'POST',
    () => stop,
    (id) => ({ server_id: id, session_id: eve.runId }),
    victim.placeId,
    newId('srv'),
  )
  await both(
    'POST',
    () => '/api/v1/aws/check_server_ip_status',
    (id) => ({ ip_address: id }),
    victim.address,
    '203.0.113.250',
  )
  await both(
    'DELETE',
    (id) => `/api/v1/users/sign_ins/${id}`,
    () => ({}),
    victim.signInId,
    newId('in'),
  )

  const [run] = await site.db.select().from(runs).where(eq(runs.id, victim.runId))
  expect(run).toMatchObject({ stopRequestedAt: null, endedAt: null })
  const [signIn] = await site.db.select().from(signIns).where(eq(signIns.id, victim.signInId))
  expect(signIn?.revokedAt).toBeNull()
  expect(await site.db.$count(jobs, eq(jobs.userId, victim.userId))).toBe(0)
})

test('someone else’s statement gets the same page as a statement that does not exist', async () => {
  const [victim, eve] = [await site.signInAs('user'), await site.signInAs('user')]
  const [id, nobodys] = [newId('bill'), newId('bill')]
  const period = { periodStart: Date.UTC(2028, 0, 1), periodEnd: Date.UTC(2028, 1, 1), createdAt: Date.UTC(2028, 1, 1) }
  const bill = { includedHours: 0, trial: false, seconds: 18_011, amountCents: 876 }
  await site.db.insert(bills).values({ id, userId: victim.userId, ...period, ...bill })
  const open = async (statement: string, cookie: string) => {
    const response = await site.request(`/billing_history/${statement}`, { headers: { Cookie: cookie } })
    const html = (await response.text()).replaceAll(statement, 'ID').replace(/content="[\w-]{60,}"/g, '')
    return { status: response.status, html: html.replace(/value="[\w-]{60,}"/g, '') }
  }
  expect((await open(id, victim.cookie)).html).toContain('18,011')
  const [theirs, none] = [await open(id, eve.cookie), await open(nobodys, eve.cookie)]
  expect(theirs).toEqual(none)
  expect(theirs.status).toBe(404)
})

test('lists contain only your own rows', async () => {
  const [victim, eve] = [await personWithServer(), await personWithServer()]
  const markOf = (path: string) =>
    path.endsWith('sign_ins') ? eve.signInId : path === '/devices' ? eve.userId : eve.runId
  for (const path of [
    '/api/v1/servers/get_servers',
    '/api/v1/users/sign_ins',
    '/api/v1/users/export',
    '/dashboard',
    '/devices',
  ]) {
    const text = await (await site.request(path, { headers: { Cookie: eve.cookie } })).text()
    expect(text, path).toContain(markOf(path))
    for (const id of [victim.userId, victim.signInId, victim.runId]) expect(text, path).not.toContain(id)
  }
})
