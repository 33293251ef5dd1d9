import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { freePort } from '../../dev/free-port.ts'
import { CACHE, found, hasPackages, type ThirdParty } from './third-party.ts'

/** The versions whose behavior the tests know. moto's CloudFormation needs cfn-lint anyway. */
const VERSIONS = { moto: '5.2.5', 'cfn-lint': '1.58.0' }
const OURS = join(CACHE, 'moto')

/**
 * A third-party AWS (EC2, IAM, CloudFormation, quotas) with cfn-lint next to it: MOTO_SERVER, otherwise the one in
 * .cache/moto, otherwise one on PATH.
 */
export const moto: ThirdParty = {
  name: `moto ${VERSIONS.moto} with cfn-lint ${VERSIONS['cfn-lint']}`,
  find() {
    const folders = [join(OURS, 'bin'), ...(process.env.PATH ?? '').split(delimiter)]
    const places = process.env.MOTO_SERVER
      ? [process.env.MOTO_SERVER]
      : folders.map((folder) => join(folder, 'moto_server'))
    return places.find((place) => existsSync(place) && hasVersions(place)) ?? null
  },
  install: [
    ['python3', '-m', 'venv', '--clear', OURS],
    [
      join(OURS, 'bin/python'),
      ...['-m', 'pip', 'install', '--quiet', 'flask', 'flask-cors'],
      ...[`moto[ec2,cloudformation]==${VERSIONS.moto}`, `cfn-lint==${VERSIONS['cfn-lint']}`],
    ],
  ],
  env: {},
}

/** Checks CloudFormation templates. */
export const cfnLint = (): string => join(dirname(found(moto)), 'cfn-lint')

/** Whether this is a Python script with these versions. */
function hasVersions(motoServer: string): boolean {
  const python = /^#!(\S*python\S*)\n/.exec(readFileSync(motoServer, 'utf8'))?.[1]
  return python !== undefined && hasPackages(python, VERSIONS)
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
