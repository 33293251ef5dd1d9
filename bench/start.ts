import type { Server } from '../src/domain/wire.ts'
import { median, timed } from './median.ts'
import { newPerson, type Person } from './people.ts'
import type { BenchSite } from './site.ts'
import { atMost, type Row, told } from './table.ts'

const STARTS = 20

/** How long "Start Server" takes to answer: each start by somebody new, one after another, on the built Worker. */
export async function benchStart(site: BenchSite): Promise<Row[]> {
  const times: number[] = []
  for (let i = 0; i <= STARTS; i++) {
    const person = await newPerson(site)
    const ms = await timed(() => start(person))
    // The first one warms up.
    if (i) times.push(ms)
    await stop(person)
  }
  return [
    atMost(`Start answers, median of ${STARTS}`, median(times), 150, 'ms'),
    told('Start answers, slowest', `${Math.round(Math.max(...times))} ms`),
  ]
}

export async function start(person: Person): Promise<void> {
  const response = await person.call('POST', '/api/v1/aws/auto_cloud_start_request', {})
  if (response.status !== 202) throw new Error(`A start answered ${response.status}: ${await response.text()}`)
  await response.text()
}

export async function stop(person: Person): Promise<void> {
  const [server] = await listServers(person)
  if (!server) throw new Error('There is nothing to stop.')
  await person.call('POST', '/api/v1/aws/stop_server', { server_id: server.server_id, session_id: server.id })
}

async function listServers(person: Person): Promise<Server[]> {
  const response = await person.call('GET', '/api/v1/servers/get_servers')
  return ((await response.json()) as { servers: Server[] }).servers
}

/** Waits until the person's newest server is there, or is no more. */
export async function untilServer(person: Person, state: 'active' | 'ended'): Promise<void> {
  for (;;) {
    const [server] = await listServers(person)
    if (server && (state === 'active' ? server.active : !server.active && !server.pending)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
