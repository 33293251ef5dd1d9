import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../dev/free-port.ts'
import type { Guard } from '../../dev/guard.ts'

const START_MS = 30_000
const END_MS = 15_000
/** Of Linux, for each process. */
const TICKS_PER_SECOND = 100

export type Process = { pid: number; end(): Promise<void> }

/** A program in a mount namespace of its own: what it mounts goes with it. Its output is in `log`. */
function start(guard: Guard, log: string, ...words: string[]): Process {
  const out = openSync(log, 'a')
  const child = spawn('unshare', ['--mount', ...words], { stdio: ['ignore', out, out] })
  const pid = child.pid ?? 0
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()))
  guard.watch(pid)
  return {
    pid,
    async end() {
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), END_MS)
      await exited
      clearTimeout(late)
      guard.forget(pid)
    },
  }
}

async function untilReady(what: string, log: string, isReady: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + START_MS
  while (!(await isReady())) {
    if (Date.now() > until) throw new Error(`${what} did not start:\n${readFileSync(log, 'utf8').slice(-2_000)}`)
    await sleep(50)
  }
}

const answers = (where: { port: number; host: string } | { path: string }) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(where, () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

/** Debian's docker-registry, on loopback. */
export async function startRegistry(guard: Guard, folder: string): Promise<Process & { url: string }> {
  const port = await freePort()
  const [config, log] = [join(folder, 'registry.yml'), join(folder, 'registry.log')]
  const storage = { filesystem: { rootdirectory: join(folder, 'registry') } }
  // JSON is YAML.
  writeFileSync(
    config,
    JSON.stringify({ version: '0.1', log: { level: 'error' }, storage, http: { addr: `127.0.0.1:${port}` } }),
  )
  const registry = start(guard, log, 'docker-registry', 'serve', config)
  await untilReady('docker-registry', log, () => answers({ port, host: '127.0.0.1' }))
  return { ...registry, url: `http://127.0.0.1:${port}` }
}

export type Engine = {
  socket: string
  /** CPU time used so far, including that of the programs it has run. */
  cpuSeconds(): number
  end(): Promise<void>
}

/** A Docker Engine with an empty store, its settings Docker's own but for the store: none of ours changes how it pulls. */
export async function startEngine(guard: Guard, folder: string, isContainerdStore: boolean): Promise<Engine> {
  const own = mkdtempSync(join(folder, 'engine-'))
  const at = (name: string) => join(own, name)
  mkdirSync(at('containerd'))
  writeFileSync(at('containerd.toml'), 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n')
  writeFileSync(at('daemon.json'), JSON.stringify({ features: { 'containerd-snapshotter': isContainerdStore } }))
  const place = [
    `--root=${at('containerd/root')}`,
    `--state=${at('containerd/state')}`,
    `--address=${at('containerd.sock')}`,
  ]
  const processes: Process[] = []
  const end = async () => {
    for (const one of processes.reverse()) await one.end()
    rmSync(own, { recursive: true, force: true, maxRetries: 5 })
    // What is left to write would slow the next one.
    spawnSync('sync')
  }
  try {
    processes.push(start(guard, at('containerd.log'), 'containerd', `--config=${at('containerd.toml')}`, ...place))
    await untilReady('containerd', at('containerd.log'), () => answers({ path: at('containerd.sock') }))
    const settings = {
      'config-file': 'daemon.json',
      'data-root': 'data',
      'exec-root': 'run',
      pidfile: 'pid',
      containerd: 'containerd.sock',
    }
    const words = Object.entries(settings).map(([name, path]) => `--${name}=${at(path)}`)
    const none = ['--bridge=none', '--iptables=false', '--ip6tables=false']
    processes.push(start(guard, at('dockerd.log'), 'dockerd', ...none, ...words, `--host=unix://${at('socket')}`))
    await untilReady('dockerd', at('dockerd.log'), async () => {
      const { status } = spawnSync('docker', ['--host', `unix://${at('socket')}`, 'version'], { timeout: START_MS })
      return status === 0
    })
  } catch (error) {
    await end()
    throw error
  }
  return {
    socket: at('socket'),
    cpuSeconds: () => processes.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
    end,
  }
}

/** In user and system mode, of the process and of the children it has waited for. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND
}
