import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

export const CACHE = resolve(import.meta.dirname, '../../.cache')

/** A third-party server that the contract suites run against, where the machine can install it. */
export type ThirdParty = {
  name: string
  /** The program, if it is installed. */
  find(): string | null
  /** The commands that install it in .cache. */
  install: [program: string, ...args: string[]][]
  env: Record<string, string>
}

/** Installs it in .cache if missing; returns the reason if that fails. */
export async function prepare(server: ThirdParty): Promise<string | null> {
  if (server.find()) return null
  mkdirSync(CACHE, { recursive: true })
  for (const [program, ...args] of server.install) {
    const options = { env: { ...process.env, ...server.env }, timeout: 900_000 }
    const failure = await promisify(execFile)(program, args, options).then(
      () => null,
      (error: NodeJS.ErrnoException & { stderr?: string }) => error,
    )
    if (failure?.code === 'ENOENT') return `${program} is not installed.`
    if (failure) return (failure.stderr?.trim() || failure.message).split('\n').at(-1) as string
  }
  return server.find() ? null : 'It was installed, but cannot be found.'
}

/** Whether this Python works and has these versions: moving its folder or removing Python breaks it. */
export function hasPackages(python: string, packages: Record<string, string>): boolean {
  const print = 'import sys; from importlib.metadata import version; print([version(name) for name in sys.argv[1:]])'
  const args = ['-c', print, ...Object.keys(packages)]
  try {
    const said = execFileSync(python, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return said.trim() === `['${Object.values(packages).join("', '")}']`
  } catch {
    return false
  }
}

/** If it is missing, its suites are skipped. Not in CI, where a skipped test must not look like a passed one. */
export const isSkipped = (server: ThirdParty) => !process.env.CI && !server.find()

export function found(server: ThirdParty): string {
  const program = server.find()
  if (program) return program
  throw new Error(`${server.name} is not here: "npm run test:servers" installs it and says what that needs.`)
}
