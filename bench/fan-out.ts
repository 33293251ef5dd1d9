import { Agent, request } from 'node:http'
import { KEEPALIVE, PING_EVERY_MS, SUB_PROTOCOL } from '../src/domain/cable.ts'
import type { Job } from '../src/domain/wire.ts'
import { HeaderSocket } from '../test/support/cable.ts'
import { median, quantile } from './median.ts'
import { newPerson, type Person } from './people.ts'
import type { BenchSite } from './site.ts'
import { atMost, type Row, told } from './table.ts'

const USERS = 1_000
const PUBLISHERS = 8
const PUSHES = 4_000
const WARM_UP = 200

const JOB: Omit<Job, 'id'> = {
  kind: 'server_start',
  status: 'running',
  progress: 'Waiting for the server to come up.',
  result: null,
  error_message: null,
  error_code: null,
  server: null,
  created_at: '2026-11-21T12:00:00.000Z',
  updated_at: '2026-11-21T12:00:01.000Z',
}

/**
 * From posting a change of a job until its frame is at the user's socket, without database and browser: first to one user, one after another;
 * then while 1,000 users are connected and eight of them are told something at any time.
 */
export async function benchFanOut(site: BenchSite): Promise<Row[]> {
  const first = await listen(site)
  for (let i = 0; i < WARM_UP; i++) await first.push()
  const alone: number[] = []
  for (let i = 0; i < PUSHES / 4; i++) alone.push(await first.push())

  const listeners = [first]
  while (listeners.length < USERS) listeners.push(await listen(site))
  const crowd: number[] = []
  const publish = async (publisher: number) => {
    for (let i = 0; i < PUSHES / PUBLISHERS; i++) {
      const one = listeners[(i * PUBLISHERS + publisher) % USERS]
      if (one) crowd.push(await one.push())
    }
  }
  await Promise.all(Array.from({ length: PUBLISHERS }, (_, publisher) => publish(publisher)))
  for (const { close } of listeners) close()
  return [
    atMost(`push to one user, median of ${alone.length}`, median(alone), 1, 'ms', 2),
    atMost('push to one user, 99 of 100', quantile(alone, 0.99), 5, 'ms'),
    told(`push, ${USERS} users, ${PUBLISHERS} publishers, median of ${crowd.length}`, `${median(crowd).toFixed(1)} ms`),
    atMost(`push, ${USERS} users, ${PUBLISHERS} publishers, 95 of 100`, quantile(crowd, 0.95), 12, 'ms'),
  ]
}

/** Somebody new whose socket is subscribed and keeps itself alive, as our pages do. */
async function listen(site: BenchSite) {
  const person = await newPerson(site)
  const { socket, frames } = await subscribe(site, person)
  const alive = setInterval(() => socket.send(KEEPALIVE), PING_EVERY_MS)
  let count = 0
  return {
    /** ms from posting a change until its frame is here. */
    async push(): Promise<number> {
      const id = `job_${count++}`
      const job: Job = { ...JOB, id }
      const arrived = new Promise<number>((resolve) => frames.set(id, resolve))
      const start = performance.now()
      const [status, at] = await Promise.all([
        post(`${site.url}/bench/push/${person.id}`, JSON.stringify(job)),
        arrived,
      ])
      if (status !== 204) throw new Error(`A push answered ${status}`)
      return at - start
    },
    close() {
      clearInterval(alive)
      socket.close()
    },
  }
}

async function subscribe(site: BenchSite, person: Person) {
  const socket = new HeaderSocket(`${site.url.replace('http', 'ws')}/cable`, {
    protocols: [SUB_PROTOCOL],
    headers: { Origin: site.url, Cookie: person.cookie },
  })
  const frames = new Map<string, (at: number) => void>()
  const identifier = JSON.stringify({ channel: 'JobsChannel', user_id: person.id })
  await new Promise<void>((subscribed, failed) => {
    socket.addEventListener('error', () => failed(new Error('A socket was refused')))
    socket.addEventListener('message', ({ data }) => {
      const at = performance.now()
      const { type, message } = JSON.parse(String(data))
      if (type === 'welcome') socket.send(JSON.stringify({ command: 'subscribe', identifier }))
      else if (type === 'confirm_subscription') subscribed()
      else if (message?.job) frames.get(message.job.id)?.(at)
    })
  })
  return { socket, frames }
}

const agent = new Agent({ keepAlive: true })

/** Lighter than `fetch`, whose own work would be measured, too. */
function post(url: string, body: string): Promise<number> {
  return new Promise((answered, failed) => {
    const sent = request(url, { method: 'POST', agent }, (response) => {
      response.on('end', () => answered(response.statusCode ?? 0)).resume()
    })
    sent.on('error', failed).end(body)
  })
}
