import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../dev/free-port.ts'
import { startServices } from '../dev/services.ts'
import { startSqld } from '../dev/sqld.ts'
import { builtModules, DIST } from '../dev/stack.ts'
import { startWorkerd } from '../dev/workerd.ts'
import { startDatabaseProxy } from './database-proxy.ts'
import { startObjectProbe } from './object-probe.ts'

export type BenchSite = Awaited<ReturnType<typeof startBenchSite>>

/**
 * The local stack around the built Worker, with a request counter for its database and a probe around its objects. No cron.
 * @param options.fill fills the stand-ins' data folder before they start
 */
export async function startBenchSite({ files = true, fill = (_dataDir: string) => {}, talkingMachines = 500 } = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'proving-ground-bench-'))
  fill(dataDir)
  const sqld = await startSqld({ dataDir: join(dataDir, 'libsql') })
  const database = await startDatabaseProxy(sqld.url)
  const objects = await startObjectProbe()
  const port = await freePort()
  const services = await startServices({
    port,
    dataDir,
    libsqlUrl: database.url,
    ec2BootMs: 300,
    fleetSize: 60,
    talkingMachines,
    log: () => {},
  })
  services.watch(sqld.pid())
  const workerd = await startWorkerd({
    host: 'localhost',
    port,
    dataDir,
    services,
    modules: objects.around(builtModules()),
    ...(files ? { assets: join(DIST, 'client') } : {}),
  })
  return {
    url: `http://localhost:${port}`,
    databaseUrl: sqld.url,
    secretKey: services.vars.SECRET_KEY as string,
    database,
    objects,
    services,
    workerd,
    async close() {
      await workerd.close()
      await services.close()
      await database.close()
      await objects.close()
      await sqld.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
