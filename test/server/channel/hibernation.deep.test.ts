import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { freePort } from '../../../dev/free-port.ts'
import { startServices } from '../../../dev/services.ts'
import { startWorkerd } from '../../../dev/workerd.ts'
import { KEEPALIVE, KEEPALIVE_ANSWER, PING_EVERY_MS } from '../../../src/domain/cable.ts'
import { jobsChannel, openSocket } from '../../../testing/people/cable.ts'
import { newPerson, waitFor } from '../../../testing/people/client.ts'
import { atEnd, temporaryFolder } from '../../../testing/stack/at-end.ts'

/**
 * The built Worker, with an object that tells this test when it is built (again, after an eviction) and when its
 * alarm rings.
 */
const OBSERVED = `import worker, { JobChannel as Built } from './index.js'
export * from './index.js'
export default worker
export class JobChannel extends Built {
  constructor(ctx, env) {
    super(ctx, env)
    ctx.waitUntil(fetch(env.OBSERVER + '/built').then((answer) => answer.text()))
  }
  async alarm() {
    await fetch(this.env.OBSERVER + '/alarm').then((answer) => answer.text())
    await super.alarm()
  }
}`

async function startObservedStack() {
  const seen: string[] = []
  const observer = createServer((request, response) => {
    seen.push(request.url ?? '')
    response.end()
  })
  await new Promise<void>((listening) => observer.listen(0, '127.0.0.1', listening))
  const dataDir = temporaryFolder('proving-ground-hibernation')
  const port = await freePort()
  const services = await startServices({ dataDir, port, ec2BootMs: 100, log: () => {} })
  services.vars.OBSERVER = `http://127.0.0.1:${(observer.address() as AddressInfo).port}`
  const dist = resolve(import.meta.dirname, '../../../dist')
  const files = readdirSync(join(dist, 'worker'), { recursive: true, encoding: 'utf8' }).filter((f) =>
    f.endsWith('.js'),
  )
  const built = files.map((path) => ({
    type: 'ESModule' as const,
    path,
    contents: readFileSync(join(dist, 'worker', path), 'utf8'),
  }))
  const { devRoutes } = await import('../../../dev/dev-routes.ts')
  const routes = devRoutes(services, async () => {})
  const workerd = await startWorkerd({
    host: 'localhost',
    port,
    dataDir,
    services,
    modules: [{ type: 'ESModule', path: 'observed.js', contents: OBSERVED }, ...built],
    assets: join(dist, 'client'),
    devRoutes: async (request) => routes.fetch(request),
  })
  atEnd(async () => {
    await workerd.close()
    await services.close()
    observer.close()
  })
  return { url: `http://localhost:${port}`, seen }
}

test('an object with a self-pinging socket is evicted, sets no alarm, and still reports the next job', async () => {
  const { url, seen } = await startObservedStack()
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  cable.send(KEEPALIVE)
  const timer = setInterval(() => cable.send(KEEPALIVE), PING_EVERY_MS)
  cable.subscribe(jobsChannel(ada.id))
  await cable.until(JSON.stringify({ identifier: jobsChannel(ada.id), type: 'confirm_subscription' }))
  // workerd evicts an object about 10 s after it was last busy.
  await sleep(24_000)
  expect(seen).toEqual(['/built'])
  expect(cable.frames.filter((frame) => frame === KEEPALIVE_ANSWER).length).toBeGreaterThanOrEqual(4)

  await ada.post('/api/v1/aws/auto_cloud_start_request')
  await waitFor(async () => cable.jobs().find((job) => job.status === 'succeeded'))
  expect(seen.filter((what) => what === '/built').length).toBeGreaterThanOrEqual(2)
  expect(seen.slice(0, 3)).toEqual(['/built', '/built', '/alarm'])
  expect(cable.isClosed()).toBe(false)
  clearInterval(timer)
  cable.socket.close()
})
