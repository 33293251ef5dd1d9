import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { signIns } from '../../../db/schema/accounts.ts'
import { plans } from '../../../db/schema/billing.ts'
import { places, runs } from '../../../db/schema/fleet.ts'
import { newId } from '../../../src/server/crypto/id.ts'
import { openSite } from '../../../testing/stack/site.ts'

const site = await openSite()
const PATHS = ['/dashboard', '/subscriptions', '/api/v1/servers/get_servers', '/api/v1/billings/summary']
const get = (path: string, cookie: string) => site.request(path, { headers: { Cookie: cookie } })

/** Someone with a running server, on a plan with this many hours. */
async function newTenant(hours: number) {
  const person = await site.signInAs('user')
  const [placeId, runId, now] = [newId('srv'), newId('ses'), Date.now()]
  await site.db.insert(places).values({ id: placeId, instanceType: 'g6', availabilityZone: 'a', position: 0 })
  await site.db.insert(runs).values({
    id: runId,
    userId: person.userId,
    placeId,
    instanceType: 'g6',
    requestedAt: now,
    runningAt: now,
    billedFrom: now,
  })
  await site.db.insert(plans).values({
    id: newId('sub'),
    userId: person.userId,
    planType: 'basic',
    subType: 'paid',
    status: 'active',
    anchor: now,
    hours,
    createdAt: now,
  })
  return { ...person, runId }
}

test('a route’s reads with the sign-in belong to its own user', async () => {
  const [ada, bob] = [await newTenant(5), await newTenant(7)]
  for (const [me, hours] of [
    [ada, 5],
    [bob, 7],
  ] as const) {
    const list = (await (await get('/api/v1/servers/get_servers', me.cookie)).json()) as { servers: { id: string }[] }
    expect(list.servers.map(({ id }) => id)).toEqual([me.runId])
    const summary = await (await get('/api/v1/billings/summary', me.cookie)).json()
    expect(summary).toMatchObject({ monthlyUsage: { runningServers: 1 }, subscription: { hours } })
    const dashboard = await (await get('/dashboard', me.cookie)).text()
    expect([ada, bob].filter(({ runId }) => dashboard.includes(runId))).toEqual([me])
  }
})

test('a revoked sign-in gets none of it', async () => {
  const { cookie, signInId, runId } = await newTenant(5)
  await site.db.update(signIns).set({ revokedAt: Date.now() }).where(eq(signIns.id, signInId))
  for (const path of PATHS) {
    const response = await get(path, cookie)
    const body = await response.text()
    expect([path, response.status]).toEqual([path, path.startsWith('/api/') ? 401 : 302])
    expect(body).not.toContain(runId)
    expect(body).not.toContain('monthlyUsage')
  }
})
