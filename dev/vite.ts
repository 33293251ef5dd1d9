import { basename, join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import devServer from '@hono/vite-dev-server'
import { build, createServer, type Plugin, type Rolldown, type ViteDevServer } from 'vite'
import { awsXmlInWorkerd, type WorkerModule, workerBuild } from './build.ts'
import { devRoutes } from './dev-routes.ts'
import { isDoorHost, passToWorkerd } from './door-proxy.ts'
import { downloads } from './downloads.ts'
import { nodeFleetNetwork } from './fleet-network.ts'
import { freePort } from './free-port.ts'
import { type Services, type StackOptions, startServices } from './services.ts'
import { STYLES, startCrons } from './stack.ts'
import { startWorkerd, type Workerd } from './workerd.ts'
import { readWranglerConfig } from './wrangler-config.ts'

/**
 * The stack with hot reload. Pages and calls run in Node under Vite. The Durable Object, its sockets, and the bindings
 * live in workerd, from a Worker built in memory.
 */
export async function startViteStack(options: StackOptions): Promise<{ services: Services; close(): Promise<void> }> {
  // Otherwise Vite's build sets it to production for this whole process.
  process.env.NODE_ENV = 'development'
  const services = await startServices(options)
  const workerdPort = await freePort()
  const workerd = await startWorkerd({
    host: '127.0.0.1',
    port: workerdPort,
    dataDir: options.dataDir,
    services,
    modules: await buildInMemory(),
  })
  const routes = devRoutes(
    services,
    (cron) => workerd.runCron(cron),
    () => STYLES.map((source) => `/${source}`),
  )
  const serveDevRoutes = getRequestListener(routes.fetch)
  const serveDownloads = getRequestListener(downloads().fetch)

  const localStack: Plugin = {
    name: 'local-stack',
    configureServer(server) {
      const passOn = passToWorkerd(workerdPort)
      server.httpServer?.prependListener('upgrade', (req, socket, head) => {
        if (isDoorHost(req, options.doorDomain)) passOn.upgrade(req, socket, head)
      })
      server.middlewares.use((req, res, next) => {
        if (isDoorHost(req, options.doorDomain) || TCP.test(req.url ?? '')) passOn.request(req, res)
        else if (req.url?.startsWith('/dev/')) void serveDevRoutes(req, res)
        else if (req.url?.startsWith('/cli/')) void serveDownloads(req, res)
        else if (req.url?.startsWith('/texts/')) void serveTexts(req, res)
        else next()
      })
      const rebuild = debounce(async () => {
        await workerd.reload(await buildInMemory())
        server.config.logger.info('workerd has the new code')
      })
      server.watcher.on('change', (file) => {
        if (file.includes('/src/server/') || file.includes('/src/domain/') || file.includes('/db/')) rebuild()
      })
    },
    // @hono/vite-dev-server relies on a field that Vite 8 no longer sets, so we send the reload.
    hotUpdate({ modules, server }) {
      if (this.environment.name === 'ssr' && modules.length)
        server.environments.client.hot.send({ type: 'full-reload' })
    },
  }

  const server: ViteDevServer = await createServer({
    configFile: false,
    server: {
      host: 'localhost',
      port: options.port,
      strictPort: true,
      // The Worker itself refuses all cross-origin requests.
      cors: false,
      proxy: {
        '^/(cable$|api/v1/servers/[^/]+/tcp/)': { target: `http://127.0.0.1:${workerdPort}`, ws: true },
      },
    },
    plugins: [
      localStack,
      devServer({
        entry: 'src/server/app.ts',
        export: 'app',
        // Our pages load Vite's client themselves. An inline script would violate their CSP.
        injectClientScript: false,
        exclude: [/^\/@.+/, /^\/src\/.+/, /^\/node_modules\/.+/, /\?t=\d+$/, /^\/dev\/.+/],
        adapter: async () => ({
          env: { ...(await nodeBindings(workerd, services)), ASSETS: { fetch: renderedFile } } as never,
          executionContext: { waitUntil() {}, passThroughOnException() {}, props: undefined } as never,
        }),
      }),
    ],
    optimizeDeps: {
      entries: ['src/client.tsx'],
      include: ['react', 'react-dom/client', 'react/jsx-dev-runtime', '@rails/actioncable', 'minisearch', 'valibot'],
    },
  })
  /** What the build writes. */
  const renderedFile = async (address: string) => {
    const { renderAllTexts } = (await server.ssrLoadModule('/dev/at-build.ts')) as typeof import('./at-build.ts')
    const text = new Map<string, string>(renderAllTexts()).get(basename(address, '.txt'))
    return new Response(text ?? 'Not found', { status: text === undefined ? 404 : 200 })
  }
  const serveTexts = getRequestListener(({ url }) => renderedFile(url))
  await server.listen()
  const stopCrons = startCrons(workerd)
  return {
    services,
    async close() {
      stopCrons()
      await server.close()
      await workerd.close()
      await services.close()
    },
  }
}

/** workerd carries raw TCP, and also answers whether it would. */
const TCP = /^\/api\/v1\/servers\/[^/]+\/tcp\//

const OBJECTS = Object.keys(readWranglerConfig().durableObjects)

/** Binds what is in this process directly, and the other Durable Objects through workerd. */
async function nodeBindings(workerd: Workerd, services: Services) {
  const inWorkerd = await workerd.bindings()
  return {
    ...services.vars,
    ...Object.fromEntries(OBJECTS.map((name) => [name, inWorkerd[name]])),
    PASSWORD_HASHER: services.hashers,
    FLEET: nodeFleetNetwork,
    EMAIL: { send: async (mail: Parameters<typeof services.mailbox.accept>[0]) => services.mailbox.accept(mail) },
    CLOCK: { fetch: async () => new Response(String(services.clock.offset())) },
  }
}

async function buildInMemory(): Promise<WorkerModule[]> {
  const { output } = (await build({
    configFile: false,
    logLevel: 'error',
    mode: 'development',
    plugins: [awsXmlInWorkerd],
    ssr: {
      target: 'webworker',
      noExternal: true,
      resolve: { conditions: workerBuild.resolve?.conditions as string[] },
    },
    build: { ...workerBuild.build, minify: false, write: false },
  })) as Rolldown.RolldownOutput
  return output
    .filter((file) => file.type === 'chunk')
    .sort((a, b) => Number(b.isEntry) - Number(a.isEntry))
    .map((file) => ({ type: 'ESModule', path: join(file.fileName), contents: file.code }))
}

function debounce(run: () => Promise<void>): () => void {
  let timer: NodeJS.Timeout | undefined
  return () => {
    clearTimeout(timer)
    timer = setTimeout(() => void run().catch((error) => console.error(String(error))), 150)
  }
}
