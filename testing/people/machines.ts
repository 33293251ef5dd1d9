import { eq } from 'drizzle-orm'
import { openDatabase } from '../../db/client.ts'
import { runs } from '../../db/schema/fleet.ts'
import type { LogPart } from '../../src/domain/run-log.ts'
import { type Client, waitFor } from './client.ts'

type Proof = { document: string; signature: string }
export type Machine = { id: string; placeId: string; address: string; proof: Proof; key: string }
export type Post = { first: number; lines?: [source: string, text: string][]; [field: string]: unknown }

/** Machines that say what a test wants, after what the stand-in lets them say. */
export function machinesOf(url: string, databaseUrl: string) {
  const db = openDatabase(databaseUrl)

  const post = (path: string, body: string, headers: Record<string, string>) =>
    fetch(url + path, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body })

  const askKey = (proof: Proof, address: string) =>
    post('/machines/key', JSON.stringify(proof), { 'CF-Connecting-IP': address })

  async function startMachine(person: Client, wishes: object = {}): Promise<Machine> {
    const { body } = await person.post('/api/v1/aws/auto_cloud_start_request', wishes)
    const { id } = body.server
    const row = await waitFor(async () => {
      const [found] = await db.select().from(runs).where(eq(runs.id, id))
      return found?.billedFrom != null && found
    })
    const proof = (await (await fetch(`${url}/dev/identity/${row.instanceId}`)).json()) as Proof
    const address = row.ipAddress ?? ''
    await waitFor(async () => {
      const { lines } = (await person.get(`/api/v1/servers/${id}/log`)).body as unknown as LogPart
      return lines.some(({ text }) => text === 'Simulator ready on port 5173')
    })
    const { key } = (await (await askKey(proof, address)).json()) as { key: string }
    return { id, placeId: row.placeId, address, proof, key }
  }

  const say = ({ key }: Pick<Machine, 'key'>, { first, lines = [], ...more }: Post) => {
    const said = lines.map(([source, text], i) => ({ at: 1_000 + i, source, text }))
    const body = JSON.stringify({ boot: 'b', first, lines: said, samples: [], complete: false, ...more })
    return post('/machines/log', body, { Authorization: `Bearer ${key}` })
  }

  const nextOf = async (machine: Machine) =>
    ((await (await say(machine, { first: 1 })).json()) as { next: number }).next

  return { askKey, nextOf, post, say, startMachine }
}
