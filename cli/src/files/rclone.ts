import { execFile, spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { visible } from '../../../src/domain/file-names.ts'
import { sizeText } from '../../../src/domain/files.ts'
import type { FilesAccess } from '../../../src/domain/wire/files.ts'
import { EXIT, Failure } from '../failure.ts'
import type { Site } from '../site.ts'
import { isTerminal, liveLine, note } from '../terminal.ts'
import { processFormat, requestCredentials } from './credentials.ts'
import { openControl, renewUntil } from './reconnect.ts'

const execute = promisify(execFile)
const OLDEST = [1, 69] as const
const LAST_LINES = 5
const RECONNECT_MS = 10_000
/** After "Duplicate object" or "Duplicate directory", whose files it leaves out as well. */
const DUPLICATE = 'found in source - ignoring'
const LEFT_OUT =
  'Copied everything except these: other names look the same. Upload them under new names, or get them from the files page.'
const AGAIN = ' Run it again to copy the remaining files.'
const isWindows = process.platform === 'win32'

/** What rclone did, and what it wrote. `found`: how many files the source has. `extra`: what a dry run would delete. */
type Ran = { copied: number; deleted: number; found: number; extra: string[]; said: string }

/** A customer's own keys and remotes are for other buckets, and a path in NODE_OPTIONS leads from their folder. */
const withoutTheirs = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(AWS_|RCLONE_|NODE_OPTIONS$)/i.test(name)))

const pathOf = (env: NodeJS.ProcessEnv) => Object.entries(env).find(([name]) => /^path$/i.test(name))?.[1] ?? ''

/** The rclone on the PATH. @throws Failure without one, or if it is too old */
export async function findRclone(): Promise<string> {
  const name = isWindows ? 'rclone.exe' : 'rclone'
  const program = pathOf(process.env)
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find(isProgram)
  const wanted = `This needs rclone ${OLDEST.join('.')} or newer`
  const get = 'Get it at https://rclone.org/install/'
  if (!program) throw new Failure(EXIT.noRclone, `${wanted}, which isn't on your PATH. ${get}`)
  const said = await execute(program, ['version', '--config', ''], { env: withoutTheirs() }).catch(() => null)
  const [, version, major, minor] = /^rclone v((\d+)\.(\d+)\S*)/.exec(said?.stdout ?? '') ?? []
  const newer = Number(major) - OLDEST[0] || Number(minor) - OLDEST[1]
  if (newer >= 0) return program
  throw new Failure(EXIT.noRclone, `${wanted}. ${program} is ${version ?? 'none that we can read'}. ${get}`)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Runs rclone, in a folder of its own, with credentials that we renew. @throws Failure */
export type Rclone = (...args: string[]) => Promise<Ran>

/**
 * Lends one rclone after another the same credentials.
 * @param remote what they copy from or to: a folder
 * @throws Failure
 */
export async function withRclone<T>(
  { program, site, access, remote }: { program: string; site: Site; access: FilesAccess; remote: string },
  use: (rclone: Rclone, folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'proving-ground-'))
  const control = await openControl()
  const ended = new AbortController()
  try {
    const env = { ...credentialsFrom(folder, site, access), ...control.env }
    void renewUntil(ended.signal, endOf(access), async () => {
      const next = await requestCredentials(site, access.mode, { until: Date.now() })
      writeProgram(folder, next)
      const set = ['rc', 'backend/command', 'command=set', `fs=${remote}`, '--config', '']
      await execute(program, set, { env: { ...env, ...control.callEnv }, timeout: RECONNECT_MS })
      return endOf(next)
    })
    return await use((...args) => run(program, [...args, ...control.args], folder, env), folder)
  } finally {
    ended.abort()
    rmSync(folder, { recursive: true, force: true })
  }
}

const endOf = (access: FilesAccess) => Date.parse(processFormat(access).Expiration)

/**
 * AWS's libraries take renewable credentials only from a file. Its command contains neither spaces nor quotes, which
 * shells and cmd.exe read differently.
 * @returns the environment
 */
function credentialsFrom(folder: string, site: Site, access: FilesAccess): NodeJS.ProcessEnv {
  const node = basename(process.execPath)
  const command = `${node} proving-ground.mjs files credentials --format process${access.mode === 'read' ? ' --read' : ''}`
  writeProgram(folder, access)
  writeFileSync(join(folder, 'aws'), `[default]\ncredential_process = ${command}\n`)
  const env = withoutTheirs()
  return {
    ...env,
    PATH: dirname(process.execPath) + delimiter + pathOf(env),
    PROVING_GROUND_URL: site.url,
    AWS_CONFIG_FILE: join(folder, 'aws'),
    AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none'),
    AWS_EC2_METADATA_DISABLED: 'true',
  }
}

/** Beside the old one and then in its place: rclone may be reading it. */
function writeProgram(folder: string, access: FilesAccess): void {
  const path = join(folder, 'proving-ground.mjs')
  // The site limits how many it gives.
  const program = `if (Date.now() < ${endOf(access)}) console.log(${JSON.stringify(JSON.stringify(processFormat(access)))})
else await import(${JSON.stringify(import.meta.url)})
`
  writeFileSync(`${path}.new`, program, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

type Stats = Record<'bytes' | 'totalBytes' | 'transfers' | 'totalTransfers' | 'checks' | 'deletes', number>
type Line = { level?: string; msg?: string; object?: string; skipped?: string; stats?: Stats }

/** In its own folder, and on Unix out of reach of the terminal's Ctrl-C, which would otherwise reach it twice. */
async function run(program: string, args: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ran> {
  const logs = ['--use-json-log', '--stats', '1s', '--stats-log-level', 'NOTICE']
  const child = spawn(program, [...args, ...logs], {
    cwd,
    env,
    detached: !isWindows,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let interrupted = false
  const interrupt = () => {
    interrupted = true
    if (isWindows || child.pid === undefined) return
    try {
      // Also ends its credential process, which has its pipe.
      process.kill(-child.pid, 'SIGINT')
    } catch {
      // They have ended.
    }
  }
  for (const signal of SIGNALS) process.on(signal, interrupt)
  const live = liveLine(process.stderr)
  const last: string[] = []
  const notices: string[] = []
  const extra: string[] = []
  let stats: Stats | undefined
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (part) => (said += part))
  const lines = createInterface({ input: child.stderr })
  lines.on('line', (text) => {
    const line = parsed(text)
    stats = line.stats ?? stats
    if (line.skipped === 'delete' && line.object) extra.push(line.object)
    // rclone 1.69 calls a notice a warning.
    const isNotice = line.level === 'notice' || line.level === 'warning'
    if (!line.stats) (isNotice ? notices : last).push(line.object ? `${line.object}: ${line.msg}` : (line.msg ?? text))
    if (line.stats && isTerminal(process.stderr)) live.show(progress(line.stats))
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  live.clear()
  for (const signal of SIGNALS) process.off(signal, interrupt)
  if (interrupted) throw new Failure(EXIT.interrupted, `Interrupted.${AGAIN}`)
  // If two files or folders have the same name here, it leaves out the second and says no more about it.
  const leftOut = notices.filter((line) => line.includes(DUPLICATE))
  // It doesn't count a file that it sent but at first couldn't read back.
  const copied = stats?.transfers || (stats?.bytes ? 1 : 0)
  const found = copied + (stats?.checks ?? 0)
  if (code === 0 && !leftOut.length) return { copied, deleted: stats?.deletes ?? 0, found, extra, said }
  for (const line of (code === 0 ? leftOut : last).slice(-LAST_LINES)) note(`rclone: ${visible(line.trim())}`)
  throw new Failure(EXIT.refused, code === 0 ? LEFT_OUT : `rclone failed.${AGAIN}`)
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function parsed(text: string): Line {
  try {
    return JSON.parse(text) as Line
  } catch {
    return { msg: text }
  }
}

const progress = ({ bytes, totalBytes, transfers, totalTransfers }: Stats) =>
  `${transfers} of ${totalTransfers} files, ${sizeText(bytes)} of ${sizeText(totalBytes)}`
