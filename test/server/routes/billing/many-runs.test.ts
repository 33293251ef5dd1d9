import { createClient } from '@libsql/client/http'
import { expect, inject, test } from 'vitest'
import { newPerson, waitFor } from '../../../../testing/people/client.ts'

/** Whole, 400 such runs are more than libSQL puts into one answer: 10 MB. */
const PARAMETERS = { A: '\u0001'.repeat(4_000) }

test('still ends runs and counts costs in a month full of long parameters', async () => {
  const db = createClient({ url: inject('databaseUrl') })
  const person = await newPerson(inject('url'))
  const start = async () => {
    const { body } = await person.post('/api/v1/aws/auto_cloud_start_request', { parameters: PARAMETERS })
    return body.server.id as string
  }
  const stop = async (id: string) => {
    const { server } = (await person.get(`/api/v1/servers/${id}`)).body as unknown as { server: { server_id: string } }
    await person.post('/api/v1/aws/stop_server', { server_id: server.server_id, session_id: id })
    await waitFor(async () => {
      const { rows } = await db.execute({ sql: 'SELECT ended_at FROM server_sessions WHERE id = ?', args: [id] })
      return rows[0]?.ended_at
    })
  }
  const answers = async (id: string) => {
    const { rows } = await db.execute({ sql: 'SELECT billed_from FROM server_sessions WHERE id = ?', args: [id] })
    return rows[0]?.billed_from
  }
  const first = await start()
  await waitFor(() => answers(first))
  await stop(first)
  const last = await start()
  await waitFor(() => answers(last))
  const { rows } = await db.execute('PRAGMA table_info(server_sessions)')
  const columns = rows.map(({ name }) => String(name))
  const changed: Record<string, string> = {
    id: "id || '_' || i",
    door_label: 'NULL',
    metered_until: 'billed_from + 1000',
  }
  const copied = columns.map((name) => changed[name] ?? name)
  await db.execute({
    sql: `INSERT INTO server_sessions (${columns.join()})
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 420)
      SELECT ${copied.join()} FROM server_sessions, n WHERE id = ?`,
    args: [first],
  })
  const paths = ['/api/v1/billings/summary', '/dashboard', `/api/v1/servers/${last}`]
  expect(await Promise.all(paths.map(async (path) => (await person.get(path)).status))).toEqual([200, 200, 200])
  await stop(last)
})
