import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { childProcesses } from '../../dev/child-processes.ts'
import type { Instance } from '../../dev/ec2/instance.ts'
import { freePort } from '../../dev/free-port.ts'
import { SEED_EMAILS, SEED_PASSWORD } from '../../dev/seed.ts'
import type { Server } from '../../src/domain/wire.ts'
import { Client, waitFor } from '../../testing/people/client.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'

/** The whole stack as a person runs it, killed without warning and restarted on what it left behind. */

const dataDir = temporaryFolder('proving-ground-kill')
const port = await freePort()
const url = `http://localhost:${port}`
let stack: ChildProcess | undefined

afterAll(async () => {
  if (stack) await killed(stack)
})

async function startStack(): Promise<ChildProcess> {
  const env = { ...process.env, PORT: String(port), DATA_DIR: dataDir, EC2_BOOT_MS: '2000' }
  const child = spawn(process.execPath, ['dev/main.ts', 'start'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  await waitFor(async () => {
    if (child.exitCode !== null) throw new Error(`The stack ended:\n${said}`)
    return said.includes(`Ready: ${url}`)
  })
  return child
}

/** Kills only the node process, as a crash would. Its child processes get no signal. */
async function killed(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
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
function instances(): Instance[] {
  const path = join(dataDir, 'ec2', 'ec2.jsonl')
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
  const changes = lines.flatMap((line) => JSON.parse(line) as [string, string, Instance][])
  const latest = new Map(changes.filter(([name]) => name === 'instances').map(([, id, instance]) => [id, instance]))
  return [...latest.values()]
}

const list = async (client: Client) =>
  (await client.get<{ servers: Server[] }>('/api/v1/servers/get_servers')).body.servers

test('a stack killed during a start, and during a stop, recovers', async () => {
  stack = await startStack()
  const pilot = new Client(url)
  await pilot.signIn(SEED_EMAILS.pilot, SEED_PASSWORD)
  expect((await pilot.post('/api/v1/aws/auto_cloud_start_request')).status).toBe(202)
  await waitFor(async () => instances().length)

  const children = childProcesses(stack.pid).filter(({ command }) => /sqld|workerd/.test(command))
  expect(children.map(({ command }) => command).sort()).toEqual(['sqld', 'workerd', 'workerd'])
  await killed(stack)
  await waitFor(async () => children.every(({ pid }) => !isAlive(pid)))

  stack = await startStack()
  const running = await waitFor(async () => (await list(pilot)).find((server) => server.active))
  expect(running).toMatchObject({ pending: false, ip_address: expect.stringMatching(/^127\./) })
  expect(instances()).toHaveLength(1)

  const stop = { server_id: running.server_id, session_id: running.id }
  const stopped = await pilot.post<{ server: Server }>('/api/v1/aws/stop_server', stop)
  expect(stopped.status).toBe(202)
  await killed(stack)

  stack = await startStack()
  const ended = await waitFor(async () => (await list(pilot)).find((server) => !server.active && !server.pending))
  expect(ended.end_time).toBe(stopped.body.server.end_time)
  expect(instances()).toEqual([expect.objectContaining({ terminatedFrom: expect.any(Number) })])
  await killed(stack)
  stack = undefined
})
