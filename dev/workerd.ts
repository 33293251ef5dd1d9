import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import type { WorkerModule } from './build.ts'
import { childProcesses } from './child-processes.ts'
import { CLOCK } from './clock.ts'
import { BUCKET } from './files/stand-in.ts'
import { FLEET_NETWORK } from './fleet-network.ts'
import { hash, hashingInNode } from './hashing.ts'
import type { Services } from './services.ts'
import { sixConnections } from './six-connections.ts'
import { readWranglerConfig } from './wrangler-config.ts'

export type Workerd = {
  /** The Worker's bindings, for use in this process. Read them for each use: a restarted workerd has new ones. */
  bindings(): Promise<Record<string, unknown>>
  /** Replaces the Worker's code. */
  reload(modules: WorkerModule[]): Promise<void>
  runCron(cron: string): Promise<void>
  close(): Promise<void>
}

type Options = {
  host: string
  port: number
  dataDir: string
  services: Services
  /** The entry comes first. */
  modules: WorkerModule[]
  /** The folder of browser files, if the Worker serves them itself. */
  assets?: string
  /** Answers /dev/* in front of the Worker. It runs in Node, so it never reaches the deployed bundle. */
  devRoutes?: (request: Request) => Promise<Response>
}

/**
 * The Worker in workerd, with its Durable Objects stored in `dataDir` and every binding from `wrangler.toml` and its
 * secrets.
 */
export async function startWorkerd(options: Options): Promise<Workerd> {
  const watchChildren = () => {
    for (const { pid } of childProcesses()) options.services.watch(pid)
  }
  // Miniflare restarts a crashed workerd as another process.
  const mf = new Miniflare({ ...workerdOptions(options), unsafeHandleRuntimeRestart: watchChildren })
  options.services.files.connect((await mf.ready).origin)
  options.services.clock.onMove(async (offset) => {
    const clock = await mf.getWorker('clock')
    return clock.fetch('http://clock/', { method: 'PUT', body: String(offset) })
  })
  watchChildren()
  return {
    bindings: () => mf.getBindings('app'),
    async reload(modules) {
      await mf.setOptions(workerdOptions({ ...options, modules }))
      watchChildren()
    },
    async runCron(cron) {
      const worker = await mf.getWorker('app')
      await worker.scheduled({ cron, scheduledTime: new Date(options.services.clock.now()) })
    },
    close: () => mf.dispose(),
  }
}

export function workerdOptions({ host, port, dataDir, services, modules, assets, devRoutes }: Options) {
  const { compatibilityDate, compatibilityFlags, durableObjects, rateLimits, workerFirst } = readWranglerConfig()
  const shared = { compatibilityDate, compatibilityFlags }
  return convertV4MiniflareOptions({
    host,
    port,
    cf: false,
    log: new Log(LogLevel.WARN),
    resourcePersistencePath: `${dataDir}/workerd`,
    workers: [
      ...(devRoutes
        ? [
            {
              ...shared,
              name: 'site',
              modules: [{ type: 'ESModule' as const, path: 'site.js', contents: SITE }],
              serviceBindings: { APP: 'app', DEV: devRoutes },
            },
          ]
        : []),
      {
        ...shared,
        name: 'app',
        modules: hashingInNode(sixConnections(modules)),
        durableObjects,
        ratelimits: rateLimits,
        bindings: services.vars,
        serviceBindings: {
          HASHERS: (request: Request) => hash(services.hashers, request),
          CLOCK: 'clock',
          EMAIL: { name: 'mail', entrypoint: 'SendEmail' },
          ...(services.vars.DOOR_DOMAIN ? { FLEET: 'fleet-network' } : {}),
        },
        ...(assets
          ? {
              assets: {
                directory: assets,
                binding: 'ASSETS',
                routerConfig: { has_user_worker: true },
                run_worker_first: workerFirst,
              },
            }
          : {}),
      },
      ...(services.vars.DOOR_DOMAIN
        ? [
            {
              ...shared,
              name: 'fleet-network',
              modules: [{ type: 'ESModule' as const, path: 'fleet-network.js', contents: FLEET_NETWORK }],
            },
          ]
        : []),
      {
        ...shared,
        name: 'clock',
        modules: [{ type: 'ESModule', path: 'clock.js', contents: CLOCK }],
        serviceBindings: { NODE: () => new Response(String(services.clock.offset())) },
      },
      {
        ...shared,
        name: 'bucket',
        modules: [{ type: 'ESModule', path: 'bucket.js', contents: 'export default {}' }],
        r2Buckets: {
          BUCKET: {
            id: BUCKET,
            s3Credentials: {
              accessKeyId: services.vars.FILES_ACCESS_KEY_ID ?? '',
              secretAccessKey: services.vars.FILES_SECRET_ACCESS_KEY ?? '',
            },
          },
        },
      },
      {
        ...shared,
        name: 'mail',
        modules: [{ type: 'ESModule', path: 'mail.js', contents: SEND_EMAIL }],
        serviceBindings: { MAILBOX: (request: Request) => acceptMail(services, request) },
      },
    ],
  })
}

/** The local stack answers /dev/*, the Worker everything else. */
const SITE = `export default {
  fetch(request, env) {
    const { pathname } = new URL(request.url)
    return (pathname === '/dev' || pathname.startsWith('/dev/') ? env.DEV : env.APP).fetch(request)
  }
}`

/** Has the shape of the \`send_email\` binding. */
const SEND_EMAIL = `import { WorkerEntrypoint } from 'cloudflare:workers'
export class SendEmail extends WorkerEntrypoint {
  async send(mail) {
    const answer = await this.env.MAILBOX.fetch('http://mailbox/', { method: 'POST', body: JSON.stringify(mail) })
    if (!answer.ok) throw new Error(await answer.text())
    return { messageId: await answer.text() }
  }
}
export default { fetch: () => new Response(null, { status: 404 }) }`

async function acceptMail(services: Services, request: Request): Promise<Response> {
  try {
    services.mailbox.accept((await request.json()) as Parameters<typeof services.mailbox.accept>[0])
    return new Response(crypto.randomUUID())
  } catch (error) {
    return new Response(error instanceof Error ? error.message : String(error), { status: 500 })
  }
}
