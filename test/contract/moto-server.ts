import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { freePort } from '../../dev/free-port.ts'

/** The version whose behaviour the tests know; scripts/install-moto.sh installs the same. */
const version = '5.2.5'

/** Null for what is no Python script of a machine that has moto. */
function versionOf(motoServer: string): string | null {
  const python = /^#!(\S*python\S*)\n/.exec(readFileSync(motoServer, 'utf8'))?.[1]
  if (!python) return null
  try {
    const print = 'import importlib.metadata; print(importlib.metadata.version("moto"))'
    return execFileSync(python, ['-c', print], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return null
  }
}

/** MOTO_SERVER, else the one in .cache/moto, else one on PATH; throws a sentence that says how to get the right one. */
export function findMotoServer(): string {
  const folders = ['.cache/moto/bin', ...(process.env.PATH ?? '').split(delimiter)]
  const places = process.env.MOTO_SERVER
    ? [process.env.MOTO_SERVER]
    : folders.map((folder) => join(folder, 'moto_server'))
  const present = places.filter((place) => existsSync(place))
  const found = present.find((place) => versionOf(place) === version)
  if (found) return found
  const others = present.map((place) => `${place} is ${versionOf(place) ?? 'of unknown version'}`).join(', ')
  throw new Error(
    `moto_server ${version} was not found${others && ` (${others})`}: install it with scripts/install-moto.sh, which needs python3, or set MOTO_SERVER to it.`,
  )
}

async function isUp(endpoint: string): Promise<boolean> {
  const response = await fetch(`${endpoint}/moto-api/`).catch(() => null)
  return response?.ok ?? false
}

export async function startMoto(): Promise<{ endpoint: string; stop(): Promise<void> }> {
  const port = await freePort()
  const endpoint = `http://127.0.0.1:${port}`
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
