import { openDatabase } from '../../db/client.ts'
import { signIns, users } from '../../db/schema/accounts.ts'
import { plans } from '../../db/schema/billing.ts'
import type { Server } from '../../src/domain/wire/fleet.ts'
import { issueSignInToken } from '../../src/server/accounts/credentials/sign-in-token.ts'
import { newId } from '../../src/server/crypto/id.ts'
import { waitFor } from './client.ts'

export type Person = {
  id: string
  cookie: string
  call(method: string, path: string, body?: unknown): Promise<Response>
}

/** A signed-in person on a trial, written straight to the database, because signing up is not what we measure. */
export async function newSignedInPerson(site: {
  url: string
  databaseUrl: string
  secretKey: string
}): Promise<Person> {
  const db = openDatabase(site.databaseUrl)
  const now = Date.now()
  const [id, signInId] = [newId('user'), newId('in')]
  const expiresAt = now + 3_600_000
  await db.batch([
    db.insert(users).values({
      id,
      email: `${id.toLowerCase()}@example.com`,
      name: 'Ada',
      passwordHash: 'none',
      confirmedAt: now,
      createdAt: now,
    }),
    db.insert(plans).values({
      id: newId('sub'),
      userId: id,
      planType: 'demo',
      subType: 'demo',
      status: 'trialing',
      anchor: now,
      hours: 0.5,
      createdAt: now,
    }),
    db.insert(signIns).values({ id: signInId, userId: id, createdAt: now, lastSeenAt: now, expiresAt }),
  ])
  const config = { secretKey: site.secretKey }
  const token = await issueSignInToken({ now: Date.now, config } as Parameters<typeof issueSignInToken>[0], {
    id: signInId,
    expiresAt,
  })
  const cookie = `sign_in=${token}`
  return {
    id,
    cookie,
    call: (method, path, body) =>
      fetch(site.url + path, {
        method,
        headers: {
          Cookie: cookie,
          Origin: site.url,
          'Sec-Fetch-Site': 'same-origin',
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  }
}

export async function start(person: Person): Promise<void> {
  const response = await person.call('POST', '/api/v1/aws/auto_cloud_start_request', {})
  if (response.status !== 202) throw new Error(`A start answered ${response.status}: ${await response.text()}`)
  await response.text()
}

export async function stop(person: Person): Promise<void> {
  const [server] = await listServers(person)
  if (!server) throw new Error('There is no run to stop.')
  await person.call('POST', '/api/v1/aws/stop_server', { server_id: server.server_id, session_id: server.id })
}

async function listServers(person: Person): Promise<Server[]> {
  const response = await person.call('GET', '/api/v1/servers/get_servers')
  return ((await response.json()) as { servers: Server[] }).servers
}

/** Waits until the person's newest server is active or has ended. */
export async function untilServer(person: Person, state: 'active' | 'ended'): Promise<void> {
  await waitFor(async () => {
    const [server] = await listServers(person)
    return server && (state === 'active' ? server.active : !server.active && !server.pending)
  })
}
