import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { build } from 'vite'
import { stringRendererOnly } from '../dev/build.ts'
import { median } from './median.ts'
import { amount, atLeast, atMost, type Row, told } from './table.ts'

const OUT = join(import.meta.dirname, '../dist/bench')
const ROUND_MS = 2_500
const ROUNDS = 3
const CONNECTIONS = 32

/** What the pages cost in Node itself, without workerd, network, or database. */
export async function benchInNode(): Promise<Row[]> {
  await build({
    configFile: false,
    logLevel: 'error',
    plugins: [stringRendererOnly],
    build: {
      ssr: true,
      outDir: OUT,
      emptyOutDir: true,
      copyPublicDir: false,
      rolldownOptions: {
        input: [join(import.meta.dirname, 'node/render.tsx'), join(import.meta.dirname, 'node/serve.ts')],
      },
    },
  })
  const env = { ...process.env, NODE_ENV: 'production' }
  try {
    const printed = execFileSync(process.execPath, [join(OUT, 'render.js')], { env, encoding: 'utf8' })
    const { dashboard, console } = JSON.parse(printed) as Record<'dashboard' | 'console', { us: number; bytes: number }>
    return [
      atMost('dashboard with 20 rows, rendered in process', dashboard.us, 200, 'µs', 0),
      atMost('console with 2,000 instances, rendered in process', console.us / 1000, 100, 'ms'),
      told('console with 2,000 instances, HTML', `${Math.round(console.bytes / 1000)} kB`),
      ...(await publicPage(env)),
    ]
  } finally {
    rmSync(OUT, { recursive: true, force: true })
  }
}

/** The landing page from our code and from a minimal static server, alternating in the same run. */
async function publicPage(env: NodeJS.ProcessEnv): Promise<Row[]> {
  const servers = { static: await serve('static', env), rendered: await serve('rendered', env) }
  const rounds = { static: [] as Load[], rendered: [] as Load[] }
  for (const server of Object.values(servers)) await load(server)
  for (let round = 0; round < ROUNDS; round++)
    for (const name of ['static', 'rendered'] as const) rounds[name].push(await load(servers[name]))
  for (const { child } of Object.values(servers)) child.disconnect()
  const of = (name: keyof typeof rounds, figure: keyof Load) => median(rounds[name].map((load) => load[figure]))
  return [
    atLeast(
      'landing page, requests per second relative to a static file',
      of('rendered', 'perSecond') / of('static', 'perSecond'),
      0.8,
      '×',
    ),
    told(
      'landing page, CPU per request (static file)',
      `${Math.round(of('rendered', 'cpuUs'))} µs (${amount(of('static', 'cpuUs'), 'µs', 0)})`,
    ),
  ]
}

type Served = { child: ChildProcess; port: number; agent: Agent }
type Load = { perSecond: number; cpuUs: number }

async function serve(name: string, env: NodeJS.ProcessEnv): Promise<Served> {
  const child = fork(join(OUT, 'serve.js'), [name], { env })
  const [port] = await once(child, 'message')
  return { child, port, agent: new Agent({ keepAlive: true, maxSockets: CONNECTIONS }) }
}

async function load({ child, port, agent }: Served): Promise<Load> {
  const cpuBefore = await cpuOf(child)
  const start = performance.now()
  let answered = 0
  const one = () =>
    new Promise<void>((done, fail) =>
      get({ port, agent, host: '127.0.0.1', path: '/' }, (res) => {
        if (res.statusCode !== 200) fail(new Error(`The page answered ${res.statusCode}`))
        res.on('end', done).resume()
      }).on('error', fail),
    )
  const visitor = async () => {
    while (performance.now() - start < ROUND_MS) {
      await one()
      answered += 1
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, visitor))
  const seconds = (performance.now() - start) / 1000
  return { perSecond: answered / seconds, cpuUs: ((await cpuOf(child)) - cpuBefore) / answered }
}

async function cpuOf(child: ChildProcess): Promise<number> {
  child.send('cpu')
  const [{ user, system }] = await once(child, 'message')
  return user + system
}
