import { expect, test } from 'vitest'
import { freePort } from '../../dev/free-port.ts'
import { SEED_EMAILS, SEED_PASSWORD } from '../../dev/seed.ts'
import { isLive } from '../../src/domain/server.ts'
import { Client, serversOf, stopServer, waitFor } from '../../testing/people/client.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { spawnStack } from '../../testing/stack/spawned-stack.ts'

test.each(['dev', 'start'] as const)('`npm run %s` does the main job with nothing else on the PATH', async (mode) => {
  const dataDir = temporaryFolder('proving-ground-bare')
  const url = `http://localhost:${await freePort()}`
  const env = { PATH: dataDir, PORT: new URL(url).port, DATA_DIR: dataDir, EC2_BOOT_MS: '300' }
  await spawnStack(mode, env)

  const pilot = new Client(url)
  await pilot.signIn(SEED_EMAILS.pilot, SEED_PASSWORD)
  expect((await pilot.post('/api/v1/aws/auto_cloud_start_request')).status).toBe(202)
  await waitFor(async () => (await serversOf(pilot)).some(({ active }) => active))
  expect((await stopServer(pilot)).status).toBe(202)
  await waitFor(async () => !(await serversOf(pilot)).some(isLive))
})
