import { type ChildProcess, spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { waitFor } from '../people/client.ts'

type Env = Record<string, string | undefined> & { PORT: string; DATA_DIR: string }
type Options = { /** Whether it leads a process group, which a signal can reach. */ detached?: boolean }

/** The stack as a person starts it, with only this in its environment. Ready, and ended with the test at the latest. */
export async function spawnStack(
  mode: 'dev' | 'start',
  env: Env,
  { detached = false }: Options = {},
): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['dev/main.ts', mode], { env, stdio: ['ignore', 'pipe', 'pipe'], detached })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  onTestFinished(async () => {
    child.kill()
    await ended
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  await waitFor(async () => {
    if (child.exitCode !== null) throw new Error(`The stack ended:\n${said}`)
    return said.includes(`Ready: http://localhost:${env.PORT}`)
  })
  return child
}
