import type { ChildProcess } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { childProcesses } from '../../dev/child-processes.ts'
import type { Instance } from '../../dev/ec2/instance.ts'
import { freePort } from '../../dev/free-port.ts'
import { SEED_EMAILS, SEED_PASSWORD } from '../../dev/seed.ts'
import type { Subscription } from '../../src/domain/wire/billing.ts'
import { confirmed, jobsChannel, openSocket } from '../../testing/people/cable.ts'
import { Client, newPerson, PASSWORD, serversOf, stopServer, waitFor } from '../../testing/people/client.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { spawnStack } from '../../testing/stack/spawned-stack.ts'

/** The whole stack as a person runs it, killed without warning and restarted on what it left behind. */

/** A stack's address and its data, which outlive it. */
async function newPlace(mode: 'start' | 'dev') {
  const dataDir = temporaryFolder('proving-ground-kill')
  const port = await freePort()
  const url = `http://localhost:${port}`
  const env = {
    ...process.env,
    PORT: String(port),
    DATA_DIR: dataDir,
    EC2_BOOT_MS: '2000',
    PLANS_FOR_SALE: 'true',
  }
  return { dataDir, url, startStack: () => spawnStack(mode, env, { detached: true }) }
}

/** By default only the node process, as in a crash. With its group, the processes it started get the signal as well. */
async function killed(child: ChildProcess, { group = false } = {}): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  process.kill(group ? -(child.pid as number) : (child.pid as number), 'SIGKILL')
  await gone
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A zombie is not alive.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** What the EC2 stand-in wrote down. */
function instances(dataDir: string): Instance[] {
  const path = join(dataDir, 'ec2', 'ec2.jsonl')
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
  const changes = lines.flatMap((line) => JSON.parse(line) as [string, string, Instance][])
  const latest = new Map(changes.filter(([name]) => name === 'instances').map(([, id, instance]) => [id, instance]))
  return [...latest.values()]
}

const planOf = async (client: Client) =>
  (await client.get<{ subscription: Subscription }>('/api/v1/billings/summary')).body.subscription

/** Signs in with the password, which needs a hash, and listens to the cable. */
async function arrive(url: string, email: string, password: string) {
  const client = new Client(url)
  const { status, body } = await client.signIn(email, password)
  expect([status, body]).toEqual([200, expect.anything()])
  const { id } = (body as { user: { id: string } }).user
  const cable = await openSocket(client)
  cable.subscribe(jobsChannel(id))
  await cable.until(confirmed(jobsChannel(id)))
  return { client, cable }
}

test('a stack killed during a start, and during a stop, recovers', async () => {
  const { dataDir, url, startStack } = await newPlace('start')
  const crashed = await startStack()
  const pilot = new Client(url)
  await pilot.signIn(SEED_EMAILS.pilot, SEED_PASSWORD)
  expect((await pilot.post('/api/v1/aws/auto_cloud_start_request')).status).toBe(202)
  await waitFor(async () => instances(dataDir).length)

  const children = childProcesses(crashed.pid).filter(({ command }) => /sqld|workerd/.test(command))
  expect(children.map(({ command }) => command).sort()).toEqual(['sqld', 'workerd'])
  await killed(crashed)
  await waitFor(async () => children.every(({ pid }) => !isAlive(pid)))

  const killedLater = await startStack()
  const active = await waitFor(async () => (await serversOf(pilot)).find((server) => server.active))
  expect(active).toMatchObject({ pending: false, ip_address: expect.stringMatching(/^127\./) })
  expect(instances(dataDir)).toHaveLength(1)

  const { client, cable } = await arrive(url, SEED_EMAILS.pilot, SEED_PASSWORD)
  const stopped = (await stopServer(client)).body.server
  await waitFor(async () => cable.jobs().length)
  await killed(killedLater, { group: true })

  const last = await startStack()
  const ended = await waitFor(async () => (await serversOf(pilot)).find((server) => !server.active && !server.pending))
  expect(ended.end_time).toBe(stopped.end_time)
  expect(instances(dataDir)).toEqual([expect.objectContaining({ terminatedFrom: expect.any(Number) })])
  await killed(last)
})

test('`npm run dev`, killed with all its processes, continues with the same people, servers, plans, mails, and clock', async () => {
  const { dataDir, url, startStack } = await newPlace('dev')
  const before = await startStack()
  const ada = await newPerson(url)
  const checkout = await ada.post<{ url: string }>('/api/v1/subscriptions/create_checkout_session', {
    plan_type: 'basic',
  })
  await fetch(checkout.body.url, { method: 'POST', redirect: 'manual' })
  await waitFor(async () => (await planOf(ada)).sub_type === 'paid')
  const moved = await fetch(`${url}/dev/clock`, { method: 'POST', body: JSON.stringify({ advance_seconds: 3600 }) })
  const { now } = (await moved.json()) as { now: string }
  expect((await ada.post('/api/v1/aws/auto_cloud_start_request')).status).toBe(202)
  await waitFor(async () => (await serversOf(ada)).find((server) => server.active))
  const mails = await (await fetch(`${url}/dev/mailbox.json`)).text()
  await killed(before, { group: true })

  const after = await startStack()
  expect(readdirSync(join(dataDir, 'tmp')).filter((name) => name.startsWith('miniflare-'))).toHaveLength(1)
  const [active] = await serversOf(ada)
  expect(active).toMatchObject({ active: true, ip_address: expect.stringMatching(/^127\./) })
  expect(await (await fetch(`${url}/dev/mailbox.json`)).text()).toBe(mails)
  const clock = (await (await fetch(`${url}/dev/clock`)).json()) as { now: string }
  expect(clock.now >= now).toBe(true)
  // Stripe knows the subscription.
  expect((await ada.post('/api/v1/subscriptions/cancel_subscription_at_period_end')).status).toBe(200)
  expect(await planOf(ada)).toMatchObject({ plan_type: 'basic', cancel_at_period_end: true })

  const { client, cable } = await arrive(url, ada.email, PASSWORD)
  await stopServer(client)
  await waitFor(async () => cable.jobs().find(({ status }) => status === 'succeeded'))
  await killed(after)
})
