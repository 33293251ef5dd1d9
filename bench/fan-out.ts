import { Agent, request } from 'node:http'
import { KEEPALIVE, PING_EVERY_MS, SUB_PROTOCOL } from '../src/domain/cable.ts'
import type { Job } from '../src/domain/wire/fleet.ts'
import { HeaderSocket } from '../testing/people/cable.ts'
import { newSignedInPerson, type Person } from '../testing/people/signed-in-person.ts'
import { median, quantile } from './median.ts'
import { type BenchSite, startBenchSite } from './site.ts'
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
 * From posting a job's change until its frame reaches the user's socket, without database or browser. First to one user, one push at a time, then
 * with 1,000 users connected and eight pushes in flight. It uses its own site without files, because their router isn't part of a push.
 */
export async function benchFanOut(): Promise<Row[]> {
  const site = await startBenchSite({ files: false })
  try {
    const people: Person[] = []
    while (people.length < USERS) people.push(await newSignedInPerson(site))
    const listeners: Listener[] = []
    const connect = async (count: number) => {
      const next = people.slice(listeners.length, listeners.length + count)
      listeners.push(...(await Promise.all(next.map((person) => listen(site, person)))))
    }
    await connect(1)
    await publish(listeners, 1, WARM_UP)
    const alone = await publish(listeners, 1, PUSHES / 4)
    while (listeners.length < USERS) {
      await connect(20)
      console.log(listeners.length)
    }
    await publish(listeners, PUBLISHERS, WARM_UP)
    const crowd = await publish(listeners, PUBLISHERS, PUSHES)
    for (const { close } of listeners) close()
    return [
      atMost(`push to one user, median of ${alone.length}`, median(alone), 1, 'ms', 2),
      atMost('push to one user, p99', quantile(alone, 0.99), 5, 'ms'),
      told(
        `push, ${USERS} users, ${PUBLISHERS} publishers, median of ${crowd.length}`,
        `${median(crowd).toFixed(1)} ms`,
      ),
      atMost(`push, ${USERS} users, ${PUBLISHERS} publishers, p95`, quantile(crowd, 0.95), 12, 'ms'),
    ]
  } finally {
    await site.close()
  }
}

/** ms of each push, with this many publishers. Each pushes to one listener after another and waits for the frame. */
async function publish(listeners: Listener[], publishers: number, pushes: number): Promise<number[]> {
  const times: number[] = []
  let next = 0
  const publisher = async () => {
    while (next < pushes) {
      const listener = listeners[next++ % listeners.length]
      if (listener) times.push(await listener.push())
    }
  }
  await Promise.all(Array.from({ length: publishers }, publisher))
  return times
}

type Listener = Awaited<ReturnType<typeof listen>>

/** A subscribed socket that sends keepalives, as our pages do. */
async function listen(site: BenchSite, person: Person) {
  const { socket, frames } = await subscribe(site, person)
  const alive = setInterval(() => socket.send(KEEPALIVE), PING_EVERY_MS)
  let count = 0
  return {
    /** ms from posting a change until its frame arrives. */
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
    socket.addEventListener('error', () => failed(new Error('The server refused a socket')))
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

/** Lighter than `fetch`, whose own work would count in the measurement. */
function post(url: string, body: string): Promise<number> {
  return new Promise((answered, failed) => {
    const sent = request(url, { method: 'POST', agent }, (response) => {
      response.on('end', () => answered(response.statusCode ?? 0)).resume()
    })
    sent.on('error', failed).end(body)
  })
}
