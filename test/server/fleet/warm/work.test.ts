import { eq, isNull } from 'drizzle-orm'
import { afterAll, expect, test } from 'vitest'
import { places, runs } from '../../../../db/schema/fleet.ts'
import { warmMachines, warmSettings } from '../../../../db/schema/warm.ts'
import { startStack } from '../../../../dev/stack.ts'
import { WEEK_HOURS } from '../../../../src/domain/warm-hours.ts'
import { newPerson, waitFor } from '../../../../testing/people/client.ts'
import { temporaryFolder } from '../../../../testing/stack/at-end.ts'
import { openTestDatabase } from '../../../../testing/stack/database.ts'
import { quickHasher } from '../../../../testing/stack/quick-hasher.ts'

// In a test of its own: elsewhere, the next start could be someone else's.
const stack = await startStack({ dataDir: temporaryFolder('proving-ground-warm'), log: () => {}, ...quickHasher })
const { url } = stack
const db = openTestDatabase(stack.services.vars.LIBSQL_URL ?? '')
afterAll(() => stack.close())
const ZONE = 'us-east-1f'

const post = (path: string, body: object, address: string) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'CF-Connecting-IP': address },
    body: JSON.stringify(body),
  })

test('a machine of the stand-in waits, and becomes the server of whoever starts next', async () => {
  const place = { id: 'srv_warm-test', instanceType: 'g6.4xlarge', availabilityZone: ZONE, gpus: 1, position: -1 }
  await db.insert(places).values(place)
  await db.insert(warmSettings).values({
    instanceType: place.instanceType,
    availabilityZone: ZONE,
    hours: Array(WEEK_HOURS).fill(1),
    timeZone: 'UTC',
  })
  const cron = () => post('/dev/cron', { cron: '* * * * *' }, '')
  await cron()
  const machine = await waitFor(async () => {
    const [found] = await db.select().from(warmMachines).where(isNull(warmMachines.endedAt))
    return found?.readyAt != null && found
  })
  expect(machine.placeId).toBe(place.id)

  const ada = await newPerson(url)
  const { body } = await ada.post('/api/v1/aws/auto_cloud_start_request')
  const run = await waitFor(async () => {
    const [found] = await db.select().from(runs).where(eq(runs.id, body.server.id))
    return found?.billedFrom != null && found
  })
  expect(run).toMatchObject({ placeId: place.id, instanceId: machine.instanceId, warm: true })

  const proof = await (await fetch(`${url}/dev/identity/${run.instanceId}`)).json()
  const again = await post('/machines/work', { ...proof, ready: true }, run.ipAddress ?? '')
  expect([again.status, await again.json()]).toEqual([200, expect.objectContaining({ run: run.id })])
  // Its document is useless elsewhere, and a document that Amazon didn't sign is useless everywhere.
  expect((await post('/machines/work', { ...proof, ready: true }, '203.0.113.7')).status).toBe(403)
  expect((await post('/machines/work', { ...proof, signature: 'AAAA', ready: true }, '')).status).toBe(403)

  await db.delete(warmSettings).where(eq(warmSettings.availabilityZone, ZONE))
  await ada.post('/api/v1/aws/stop_server', { server_id: place.id, session_id: run.id })
  await waitFor(async () => (await db.select().from(runs).where(eq(runs.id, run.id)))[0]?.endedAt != null)
  expect((await post('/machines/work', { ...proof, ready: true }, run.ipAddress ?? '')).status).toBe(403)
})
