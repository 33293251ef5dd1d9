import { spawn } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../dev/free-port.ts'
import { SEED_EMAILS, SEED_PASSWORD } from '../../dev/seed.ts'
import type { Server } from '../../src/domain/wire.ts'
import { Client, waitFor } from '../../testing/people/client.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'

test.each(['dev', 'start'])('`npm run %s` does the main job with nothing else on the PATH', async (mode) => {
  const dataDir = temporaryFolder('proving-ground-bare')
  const url = `http://localhost:${await freePort()}`
  const env = { PATH: dataDir, PORT: new URL(url).port, DATA_DIR: dataDir, EC2_BOOT_MS: '300' }
  const stack = spawn(process.execPath, ['dev/main.ts', mode], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => stack.once('exit', resolve))
  onTestFinished(async () => {
    if (stack.exitCode === null && stack.kill()) await ended
  })
  let said = ''
  for (const stream of [stack.stdout, stack.stderr]) stream.on('data', (chunk) => (said += chunk))
  await waitFor(async () => {
    if (stack.exitCode !== null) throw new Error(`The stack ended:\n${said}`)
    return said.includes(`Ready: ${url}`)
  })

  const pilot = new Client(url)
  await pilot.signIn(SEED_EMAILS.pilot, SEED_PASSWORD)
  expect((await pilot.post('/api/v1/aws/auto_cloud_start_request')).status).toBe(202)
  const list = async () => (await pilot.get<{ servers: Server[] }>('/api/v1/servers/get_servers')).body.servers
  const running = await waitFor(async () => (await list()).find((server) => server.active))
  const stop = { server_id: running.server_id, session_id: running.id }
  expect((await pilot.post('/api/v1/aws/stop_server', stop)).status).toBe(202)
  await waitFor(async () => (await list()).every((server) => !server.active && !server.pending))
})
