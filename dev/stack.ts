import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkerModule } from './build.ts'
import { devRoutes } from './dev-routes.ts'
import { freePort } from './free-port.ts'
import { type Services, type StackOptions, startServices } from './services.ts'
import { startWorkerd, type Workerd } from './workerd.ts'
import { everyMinute, readWranglerConfig } from './wrangler-config.ts'

export type Stack = { url: string; services: Services; workerd: Workerd; close(): Promise<void> }

export const DIST = resolve(import.meta.dirname, '../dist')

/** The built Worker and everything around it, for `npm start` and the tests. Port 0 picks a free port. */
export async function startStack(
  options: Omit<StackOptions, 'port'> & { port?: number },
  modules = builtModules(),
): Promise<Stack> {
  const port = options.port || (await freePort())
  const services = await startServices({ ...options, port })
  let workerd: Workerd
  const routes = devRoutes(services, (cron) => workerd.runCron(cron), builtStyles)
  workerd = await startWorkerd({
    // Both address families, so "localhost" works whichever a client tries first.
    host: 'localhost',
    port,
    dataDir: options.dataDir,
    services,
    modules,
    assets: join(DIST, 'client'),
    devRoutes: async (request) => routes.fetch(request),
  })
  const stopCrons = startCrons(workerd)
  return {
    url: `http://localhost:${port}`,
    services,
    workerd,
    async close() {
      stopCrons()
      await workerd.close()
      await services.close()
    },
  }
}

export const STYLES = ['app', 'admin', 'billing', 'public'].map((name) => `src/styles/${name}.css`)

function builtStyles(): string[] {
  const manifest = JSON.parse(readFileSync(join(DIST, 'client/manifest.json'), 'utf8')) as Record<
    string,
    { file: string }
  >
  return STYLES.map((source) => `/${manifest[source]?.file}`)
}

export function builtModules(): WorkerModule[] {
  const root = join(DIST, 'worker')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'))
  const entryFirst = files.sort((a, b) => Number(b === 'index.js') - Number(a === 'index.js'))
  return entryFirst.map((path) => ({ type: 'ESModule', path, contents: readFileSync(join(root, path), 'utf8') }))
}

/** Fires triggers on the deployed schedule, and once at the start to catch up. */
export function startCrons(workerd: Pick<Workerd, 'runCron'>): () => void {
  let stopped = false
  const fire = async (cron: string) => {
    while (!stopped) {
      await workerd.runCron(cron).catch((error) => !stopped && console.error(String(error)))
      await sleep(60_000, undefined, { ref: false })
    }
  }
  // Fire each separately, so a hung trigger delays no other.
  for (const cron of readWranglerConfig().crons.filter(everyMinute)) void fire(cron)
  return () => {
    stopped = true
  }
}
