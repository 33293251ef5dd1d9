import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** MOTO_SERVER, else the one in .cache/moto, else the one on PATH; throws a sentence that says how to get one. */
export function findMotoServer(): string {
  const named = process.env.MOTO_SERVER
  const places = named
    ? [named]
    : ['.cache/moto/bin', ...(process.env.PATH ?? '').split(delimiter)].map((folder) => join(folder, 'moto_server'))
  const found = places.find(isExecutable)
  if (!found) {
    throw new Error(
      named
        ? `MOTO_SERVER names ${named}, which cannot be run.`
        : 'moto_server is not installed: run scripts/install-moto.sh (needs python3), or set MOTO_SERVER to one that is.',
    )
  }
  return found
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('No free port.')
  return address.port
}

async function isUp(endpoint: string): Promise<boolean> {
  const response = await fetch(`${endpoint}/moto-api/`).catch(() => null)
  return response?.ok ?? false
}

export async function startMoto(): Promise<{ endpoint: string; stop(): Promise<void> }> {
  const port = await freePort()
  const endpoint = `http://127.0.0.1:${port}`
  // By default moto starts everything at once and takes an AMI for any that is asked for.
  const moto: ChildProcess = spawn(findMotoServer(), ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => moto.once('exit', () => resolve()))
  while (!(await isUp(endpoint))) {
    if (moto.exitCode !== null) throw new Error(`moto_server ended with ${moto.exitCode} before it answered.`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return {
    endpoint,
    async stop() {
      moto.kill()
      await ended
    },
  }
}
