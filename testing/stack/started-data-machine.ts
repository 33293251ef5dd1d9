import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { openDatabase } from '../../db/client.ts'
import { runs } from '../../db/schema/fleet.ts'
import type { Stack } from '../../dev/stack.ts'
import { type Client, waitFor } from '../people/client.ts'
import { dataMachine } from './data-machine.ts'
import type { Proof } from './metadata-service.ts'

/** Starts a server, and another machine with the same proof: the stand-in's own doesn't mount anything. */
export async function startedDataMachine(stack: Stack, person: Client, { patience = 30, reconnect = 600 } = {}) {
  const db = openDatabase(stack.services.vars.LIBSQL_URL as string)
  const { body } = await person.post('/api/v1/aws/auto_cloud_start_request')
  const find = async () => (await db.select().from(runs).where(eq(runs.id, body.server.id)))[0]
  const row = await waitFor(async () => {
    const found = await find()
    return found?.billedFrom ? found : null
  })
  const proof = (await (await fetch(`${stack.url}/dev/identity/${row.instanceId}`)).json()) as Proof
  const machine = await dataMachine({ siteUrl: stack.url, address: row.ipAddress ?? '', proof, patience, reconnect })
  return {
    ...machine,
    /** A path in its /data. */
    at: (path: string) => join(machine.data, path),
    async stop() {
      await person.post('/api/v1/aws/stop_server', { session_id: row.id, server_id: row.placeId })
      await waitFor(async () => (await find())?.endedAt)
    },
  }
}
