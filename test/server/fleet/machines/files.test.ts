import { eq } from 'drizzle-orm'
import { beforeAll, expect, inject, test } from 'vitest'
import { openDatabase } from '../../../../db/client.ts'
import { fileFolders } from '../../../../db/schema/files.ts'
import { runs } from '../../../../db/schema/fleet.ts'
import type { Server } from '../../../../src/domain/wire/fleet.ts'
import { giveMachineFiles, type MachineFiles } from '../../../../src/server/fleet/machines/files.ts'
import { publishesPorts } from '../../../../src/server/fleet/machines/run-key.ts'
import { type Client, newPerson, waitFor } from '../../../../testing/people/client.ts'
import { testContext } from '../../../../testing/stack/test-context.ts'

const url = inject('url')
const db = openDatabase(inject('databaseUrl'))

type Proof = { document: string; signature: string }
type Machine = { id: string; placeId: string; address: string; proof: Proof }

let ada: Client
let machine: Machine

const rowOf = async (id: string) => {
  const [row] = await db.select().from(runs).where(eq(runs.id, id))
  if (!row) throw new Error(`no ${id}`)
  return row
}

async function startMachine(person: Client): Promise<Machine> {
  const { body } = await person.post('/api/v1/aws/auto_cloud_start_request')
  const { id } = body.server
  const row = await waitFor(async () => {
    const found = await rowOf(id)
    return found.billedFrom !== null && found
  })
  const proof = (await (await fetch(`${url}/dev/identity/${row.instanceId}`)).json()) as Proof
  return { id, placeId: row.placeId, address: row.ipAddress ?? '', proof }
}

const post = (path: string, body: object, address: string | null) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(address && { 'CF-Connecting-IP': address }) },
    body: JSON.stringify(body),
  })
/** As a door says it. */
const asOwner = { headers: { 'x-door-visitor': 'owner' } }
const ask = ({ proof, address }: Pick<Machine, 'proof'> & { address: string | null }) =>
  post('/machines/credentials', proof, address)
const say = ({ proof, address }: Machine, phase: string) => post('/machines/files', { ...proof, phase }, address)

const written = (change: (document: Record<string, unknown>) => void): string => {
  const document = JSON.parse(Buffer.from(machine.proof.document, 'base64').toString())
  change(document)
  return Buffer.from(JSON.stringify(document, null, 2)).toString('base64')
}

beforeAll(async () => {
  ada = await newPerson(url)
  machine = await startMachine(ada)
})

test('machines get nothing where others reach them past their door', async () => {
  const given = giveMachineFiles(testContext({ config: { doorOnly: false } }), null, machine.address)
  const none = { code: 'not_found', message: 'Machines get no files here.' }
  await expect(given).rejects.toMatchObject(none)
  const run = (untilExit: boolean, doorLabel: string | null) => ({ untilExit, doorLabel })
  const isOpen = (runs: ReturnType<typeof run>[]) => runs.map(publishesPorts)
  expect(isOpen([run(false, null), run(false, 'a'), run(true, 'a'), run(true, null)])).toEqual([
    true,
    true,
    true,
    false,
  ])
})

test("a run's machine gets credentials for its own user's files, for less than 30 minutes", async () => {
  const answer = await ask(machine)
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
  const given = (await answer.json()) as MachineFiles
  const own = (await ada.post('/api/v1/files/credentials', { mode: 'read' })).body.credentials
  expect(given).toMatchObject({ Version: 1, Mode: 'write', Prefix: own.prefix, Bucket: own.bucket })
  expect(given.Prefix).toMatch(/^.{16,}\/files\/$/)
  const clock = (await (await fetch(`${url}/dev/clock`)).json()) as { now: string }
  const seconds = (Date.parse(given.Expiration) - Date.parse(clock.now)) / 1000
  expect(seconds).toBeGreaterThan(60)
  expect(seconds).toBeLessThanOrEqual(27 * 60)
  // The machine of the local stack asked before its simulator answered, and said what it did.
  expect(await rowOf(machine.id)).toMatchObject({ filesPhase: 'loaded', filesMode: 'write' })
})

test('a machine has a limit of its own: it gets them after its owner has used up theirs', async () => {
  for (let i = 0; i < 60; i++) await ada.post('/api/v1/files/credentials', { mode: 'read' })
  expect((await ada.post('/api/v1/files/credentials', { mode: 'read' })).status).toBe(429)
  expect((await ask(machine)).status).toBe(200)
})

test('nobody else gets them', async () => {
  const { proof, address } = machine
  const refusals = {
    'from another address': { proof, address: '203.0.113.9' },
    'from nowhere': { proof, address: null },
    'a changed document': {
      proof: { ...proof, document: written((it) => Object.assign(it, { privateIp: '10.0.0.9' })) },
      address,
    },
    'no signature': { proof: { ...proof, signature: '' }, address },
    'no base64': { proof: { document: '§', signature: '§' }, address },
  }
  for (const [why, wanted] of Object.entries(refusals)) {
    const answer = await ask(wanted)
    expect([why, answer.status, await answer.json()]).toMatchObject([
      why,
      403,
      { error: 'This is not the machine of a server that runs.' },
    ])
  }
})

test('a machine cannot take back what it said, or say more than it knows', async () => {
  for (const phase of ['failed', 'saved', 'loaded']) {
    expect((await say(machine, phase)).status).toBe(204)
    expect((await rowOf(machine.id)).filesPhase, phase).toBe('loaded')
  }
  expect((await post('/machines/files', { ...machine.proof, phase: 'gone' }, machine.address)).status).toBe(400)
})

test('what the simulator writes is in the files when its server has stopped, and then its machine gets nothing', async () => {
  const page = `http://${machine.address}:5173/data`
  expect(await (await fetch(`${page}/`, asOwner)).json()).toEqual({ mayWrite: true, entries: [] })
  const put = (path: string, body: string) => fetch(`${page}/${path}`, { method: 'PUT', body, ...asOwner })
  expect((await put('runs/flight.csv', 'time_s\n0\n')).status).toBe(204)
  expect(await (await fetch(`${page}/`, asOwner)).json()).toMatchObject({ entries: [{ name: 'runs/', size: null }] })
  await ada.post('/api/v1/aws/stop_server', { session_id: machine.id, server_id: machine.placeId })
  await waitFor(async () => (await rowOf(machine.id)).endedAt !== null)
  const { body } = await ada.get<{ files: { name: string; size: number }[] }>('/api/v1/files?path=runs')
  expect(body.files).toMatchObject([{ name: 'flight.csv', size: 9 }])
  expect((await ask(machine)).status).toBe(403)
  expect((await rowOf(machine.id)).filesPhase).toBe('saved')

  const next = await startMachine(ada)
  const read = await fetch(`http://${next.address}:5173/data/runs/flight.csv`, asOwner)
  expect(await read.text()).toBe('time_s\n0\n')
  expect((await ask({ proof: machine.proof, address: next.address })).status).toBe(403)
})

test('a server that starts with full files can only read them, and its card says why', async () => {
  const eve = await newPerson(url)
  await eve.post('/api/v1/files/credentials', { mode: 'read' })
  // As if counted a moment ago.
  const full = { usedBytes: 1_000_000_000, countedAt: Date.now() + 3_600_000, openUntil: 0 }
  await db.update(fileFolders).set(full).where(eq(fileFolders.userId, eve.id))
  const { id, address } = await startMachine(eve)
  expect(await (await fetch(`http://${address}:5173/data/`, asOwner)).json()).toMatchObject({ mayWrite: false })
  const { body } = await eve.get<{ servers: Server[] }>('/api/v1/servers/get_servers')
  expect(body.servers).toMatchObject([{ id, files_read_only: 'full' }])
  const words = 'Your files were full at the start, so this server can only read /data.'
  expect((await eve.get('/dashboard')).text).toContain(words)
  // Room that comes later doesn't change it, as the card says.
  await db.update(fileFolders).set({ usedBytes: 1 }).where(eq(fileFolders.userId, eve.id))
  expect((await rowOf(id)).filesMode).toBe('read')
  expect((await eve.get('/dashboard')).text).toContain(words)
})
