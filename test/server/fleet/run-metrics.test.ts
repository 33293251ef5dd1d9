import { createClient } from '@libsql/client'
import { beforeAll, expect, inject, test } from 'vitest'
import type { Metrics, Sample } from '../../../src/domain/run-metrics.ts'
import type { Server } from '../../../src/domain/wire/fleet.ts'
import { type Client, newPerson } from '../../../testing/people/client.ts'
import { type Machine, machinesOf } from '../../../testing/people/machines.ts'

const url = inject('url')
const database = createClient({ url: inject('databaseUrl') })
const { nextOf, say, startMachine } = machinesOf(url, inject('databaseUrl'))

let ada: Awaited<ReturnType<typeof newPerson>>
let machine: Machine

beforeAll(async () => {
  ada = await newPerson(url)
  machine = await startMachine(ada)
})

const read = (person: Client, id: string, query = '') => person.get(`/api/v1/servers/${id}/metrics${query}`)
const metricsOf = async (query = '') => (await read(ada, machine.id, query)).body as unknown as Metrics

/** The clock of the whole stack, as its newest server has it. */
const now = async () => Date.parse(((await ada.get('/api/v1/billings/summary')).body as { as_of: string }).as_of)

const busy = (at: number, more: Partial<Sample> = {}) => ({
  at,
  gpu_percent: 97,
  gpu_memory_bytes: 20_000_000_000,
  cpu_percent: 12,
  memory_bytes: 8_000_000_000,
  disk_bytes: 40_000_000_000,
  disk_total_bytes: 100_000_000_000,
  sent_bytes: 5_000,
  received_bytes: 6_000,
  ...more,
})

const sample = async (...samples: unknown[]) => say(machine, { first: await nextOf(machine), samples })

test('a sample is shown as the machine sent it, once, and never from the future', async () => {
  const at = (await now()) + 3_600_000
  expect((await sample(busy(at))).status).toBe(200)
  const { every_seconds, samples } = await metricsOf()
  const last = samples.at(-1)
  expect(every_seconds).toBe(10)
  expect(Date.parse(last?.at ?? '')).toBeLessThan(at - 3_000_000)
  const { disk_total_bytes, ...shown } = busy(0)
  expect(last).toEqual({ ...shown, at: last?.at })
  // Again, because an answer was lost: what isn't newer adds nothing.
  await sample(busy(Date.parse(last?.at ?? '') - 1, { gpu_percent: 1 }))
  expect((await metricsOf(`?since=${last?.at}`)).samples.every(({ gpu_percent }) => gpu_percent !== 1)).toBe(true)
})

test('a figure that makes no sense is unknown, and no line waits because of it', async () => {
  const next = await nextOf(machine)
  const at = (await now()) + 3_600_000
  const odd = {
    ...busy(at),
    gpu_percent: 101,
    cpu_percent: -1,
    memory_bytes: 'much',
    sent_bytes: 1e16,
    disk_bytes: undefined,
  }
  const answer = await say(machine, { first: next, lines: [['stdout', 'a line']], samples: [odd] })
  expect([answer.status, await answer.json()]).toMatchObject([200, { next: next + 1 }])
  const unknown = { gpu_percent: null, cpu_percent: null, memory_bytes: null, sent_bytes: null, disk_bytes: null }
  expect((await metricsOf()).samples.at(-1)).toMatchObject({ ...unknown, received_bytes: 6_000 })
})

test('samples are told by the time they are from', async () => {
  const { samples } = await metricsOf()
  const second = samples.at(-1)?.at ?? ''
  expect((await metricsOf(`?since=${second}`)).samples[0]?.at).toBe(second)
  expect((await metricsOf('?since=2020-01-01T00:00:00Z')).every_seconds).toBe(3_600)
  expect((await metricsOf('?since=2999-01-01T00:00:00%2B02:00')).samples).toEqual([])
  for (const wrong of ['yesterday', '', '1700000000', '2026-01-01']) {
    const refused = await read(ada, machine.id, `?since=${wrong}`)
    expect([wrong, refused.status, refused.body]).toMatchObject([wrong, 422, { code: 'invalid' }])
  }
})

test("nobody sees how busy another account's machine is", async () => {
  const bob = await newPerson(url)
  expect((await read(bob, machine.id)).status).toBe(404)
  expect((await read(bob, 'ses_none')).status).toBe(404)
  expect((await fetch(`${url}/api/v1/servers/${machine.id}/metrics`)).status).toBe(401)
})

test('a disk that is 90 % full says so on its server until there is room again', async () => {
  const isFull = async () => {
    const servers = (await ada.get('/api/v1/servers/get_servers')).body.servers as Server[]
    return servers.find(({ id }) => id === machine.id)?.disk_nearly_full
  }
  const later = (await now()) + 3_600_000
  await sample(busy(later, { disk_bytes: 90_000_000_000 }))
  expect(await isFull()).toBe(true)
  await sample(busy(later, { disk_bytes: 84_000_000_000 }))
  expect(await isFull()).toBe(false)
})

test('tells the operator when a server has sent 200 GB, and again each time that doubles', async () => {
  const told = async () => {
    // Each has an email: another within the hour is for another matter.
    const sql = 'SELECT matter FROM alerts WHERE matter LIKE ?'
    return (await database.execute({ sql, args: [`traffic:${machine.id}%`] })).rows.length
  }
  const later = (await now()) + 7_200_000
  const sent = async (second: number, sent_bytes: number, host_sent_bytes?: number) => {
    await sample({ ...busy(later + 1_000 * second, { sent_bytes }), host_sent_bytes })
    return told()
  }
  expect(await sent(1, 199e9)).toBe(0)
  // Its container has started again. The same sample again counts once.
  expect(await sent(2, 0.5e9)).toBe(0)
  expect(await sent(2, 0.5e9)).toBe(0)
  expect(await sent(3, 1e9)).toBe(1)
  expect(await sent(4, 200e9)).toBe(1)
  expect(await sent(5, 201e9)).toBe(2)
  // What /data uploads is only in the count of the whole machine. The larger one counts.
  expect(await sent(6, 202e9, 799e9)).toBe(2)
  expect(await sent(7, 203e9, 801e9)).toBe(3)
})

test('at most 60 samples come at once', async () => {
  const at = await now()
  const many = Array.from({ length: 61 }, (_, i) => busy(at + i))
  expect((await sample(...many)).status).toBe(400)
  expect((await sample(...many.slice(1))).status).toBe(200)
})
