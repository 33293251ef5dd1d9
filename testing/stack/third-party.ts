import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

export const CACHE = resolve(import.meta.dirname, '../../.cache')

/** A server that somebody else wrote, against which the contract suites run where the machine can install it. */
export type ThirdParty = {
  name: string
  /** The program, if it is here. */
  find(): string | null
  /** The commands that put it into .cache. */
  install: [program: string, ...args: string[]][]
  env: Record<string, string>
}

/** Puts it into .cache unless it is here, and says why that did not work. */
export async function prepare(server: ThirdParty): Promise<string | null> {
  if (server.find()) return null
  mkdirSync(CACHE, { recursive: true })
  for (const [program, ...args] of server.install) {
    const options = { env: { ...process.env, ...server.env }, timeout: 300_000 }
    const failure = await promisify(execFile)(program, args, options).then(
      () => null,
      (error: NodeJS.ErrnoException & { stderr?: string }) => error,
    )
    if (failure?.code === 'ENOENT') return `${program} is not installed.`
    if (failure) return (failure.stderr?.trim() || failure.message).split('\n').at(-1) as string
  }
  return server.find() ? null : 'It was installed, but cannot be found.'
}

/** Where it is missing its suites are skipped; not in CI, where a test that did not run must not look like one that passed. */
export const isSkipped = (server: ThirdParty) => !process.env.CI && !server.find()

export function found(server: ThirdParty): string {
  const program = server.find()
  if (program) return program
  throw new Error(`${server.name} is not here: "npm run test:servers" installs it and says what that needs.`)
}
