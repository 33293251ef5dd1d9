import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { freePort } from '../../dev/free-port.ts'
import { CACHE, found, type ThirdParty } from './third-party.ts'

/** The version whose behavior the tests know. */
const VERSION = '5.2.5'
const OURS = join(CACHE, 'moto')

/** A third-party EC2 server: MOTO_SERVER, otherwise the one in .cache/moto, otherwise one on PATH. */
export const moto: ThirdParty = {
  name: `moto ${VERSION}`,
  find() {
    const folders = [join(OURS, 'bin'), ...(process.env.PATH ?? '').split(delimiter)]
    const places = process.env.MOTO_SERVER
      ? [process.env.MOTO_SERVER]
      : folders.map((folder) => join(folder, 'moto_server'))
    return places.find((place) => existsSync(place) && versionOf(place) === VERSION) ?? null
  },
  install: [
    ['python3', '-m', 'venv', '--clear', OURS],
    // Its own "server" extra would also install what the servers of sixty other services need.
    [join(OURS, 'bin/python'), '-m', 'pip', 'install', '--quiet', `moto[ec2]==${VERSION}`, 'flask', 'flask-cors'],
  ],
  env: {},
}

/**
 * Null unless this is a working Python script with moto: moving the folder or removing Python breaks the programs
 * inside.
 */
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

async function isUp(endpoint: string): Promise<boolean> {
  const response = await fetch(`${endpoint}/moto-api/`).catch(() => null)
  return response?.ok ?? false
}

export async function startMoto(): Promise<{ endpoint: string; stop(): Promise<void> }> {
  const program = found(moto)
  const port = await freePort()
  const endpoint = `http://127.0.0.1:${port}`
  const child: ChildProcess = spawn(program, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  while (!(await isUp(endpoint))) {
    if (child.exitCode !== null) throw new Error(`moto_server ended with ${child.exitCode} before it answered.`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return {
    endpoint,
    async stop() {
      child.kill()
      await ended
    },
  }
}
