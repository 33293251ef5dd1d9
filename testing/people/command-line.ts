import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { TokenScope } from '../../src/domain/api-token.ts'
import { temporaryFolder } from '../stack/at-end.ts'
import { startInProcess } from '../stack/in-process.ts'
import { onTerminal } from '../stack/terminal.ts'
import { newPerson, PASSWORD, waitFor } from './client.ts'

export const CLI_FILE = resolve(import.meta.dirname, '../../cli/dist/proving-ground.js')

/** Without what Node compiled before, it would compile the same program for each command. */
const { NODE_COMPILE_CACHE = '' } = process.env

/** A home folder where the built command line runs, with nothing else in its environment. */
export function newComputer(env: Record<string, string> = {}, file = CLI_FILE) {
  const home = temporaryFolder('proving-ground-home')
  const bin = join(home, 'bin')
  const opened = join(home, 'opened')
  mkdirSync(bin)
  // This computer's browser only records the address.
  for (const name of ['xdg-open', 'open'])
    writeFileSync(join(bin, name), `#!/bin/sh\nprintf %s "$1" > '${opened}'\n`, { mode: 0o755 })
  const PATH = `${bin}:${process.env.PATH}`
  const its = { PATH, HOME: home, APPDATA: home, TZ: 'UTC', TERM: 'xterm', NODE_COMPILE_CACHE, ...env }
  const open = (args: string[], terminal: boolean, more: Record<string, string> = {}) => {
    const own = { ...its, ...more }
    const line = [process.execPath, file, ...args].map((word) => `'${word}'`).join(' ')
    const [program, words] = terminal ? onTerminal(line) : [process.execPath, [file, ...args]]
    return watched(ofChild(spawn(program, words, { env: own })))
  }
  return {
    /** The address that its browser opened last. */
    untilOpened: () => waitFor(async () => existsSync(opened) && readFileSync(opened, 'utf8')),
    signInFile: () => {
      const file = readdirSync(home, { recursive: true, encoding: 'utf8' }).find((name) =>
        name.endsWith('sign-in.json'),
      )
      return file && join(home, file)
    },
    /** Starts a command as a process of its own. */
    open: (args: string[], more: Record<string, string> = {}) => open(args, false, more),
    /** Starts a command on its own terminal, which shows both outputs as one. */
    openOnTerminal: (args: string[], more: Record<string, string> = {}) => open(args, true, more),
    /** Starts a command in the test's own process. */
    start: (args: string[], more: Record<string, string> = {}) =>
      watched(startInProcess(file, args, { ...its, ...more }, '')),
    /** Runs a command there, and waits until it ends. */
    run: (args: string[], input = '', more: Record<string, string> = {}) =>
      startInProcess(file, args, { ...its, ...more }, input).ended,
  }
}

function ofChild(child: ChildProcess) {
  const seen = { out: '', err: '' }
  child.stdout?.on('data', (chunk) => (seen.out += chunk))
  child.stderr?.on('data', (chunk) => (seen.err += chunk))
  // It may exit before it reads.
  child.stdin?.on('error', () => {})
  const ended = new Promise<{ code: number | null; out: string; err: string }>((done) =>
    child.on('close', (code) => done({ code, ...seen })),
  )
  return { child, seen, ended, type: (text: string) => void child.stdin?.write(text) }
}

type Started = { seen: { out: string; err: string }; ended: Promise<unknown> }

function watched<T extends Started>(command: T) {
  let hasEnded = false
  const stop = () => {
    hasEnded = true
  }
  command.ended.then(stop, stop)
  return {
    ...command,
    shows: (text: string | RegExp) =>
      waitFor(async () => {
        const all = command.seen.out + command.seen.err
        if (typeof text === 'string' ? all.includes(text) : text.test(all)) return true
        if (hasEnded) throw new Error(`It ended without ${text}:\n${all}`)
        return false
      }),
  }
}

/** A person, by default a new one, their API token, and a computer where it is in the environment. */
export async function newOperator(
  url: string,
  scope: TokenScope = 'operate',
  by?: Awaited<ReturnType<typeof newPerson>>,
) {
  const person = by ?? (await newPerson(url))
  const form = { name: 'Command line', scope, days: 1, current_password: PASSWORD }
  const { token } = (await person.post<{ token: string }>('/api_tokens', form)).body
  return { person, token, ...newComputer({ PROVING_GROUND_URL: url, PROVING_GROUND_TOKEN: token }) }
}
