import { rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { runSeconds } from '../../src/domain/money/billing.ts'
import type { RunParameters } from '../../src/domain/parameters.ts'
import type { EndReason } from '../../src/domain/run-end.ts'
import type { LogLine } from '../../src/domain/run-log.ts'
import { formatUptime } from '../../src/domain/server.ts'
import { readyText } from '../../src/domain/start-time.ts'
import type { Vehicle } from '../../src/domain/wire/fields.ts'
import type { Server } from '../../src/domain/wire/fleet.ts'
import { call, findStartTime, type Patience, repeatable, stopServer } from './api.ts'
import { EXIT, Failure } from './failure.ts'
import { checkPath, download } from './files/copy.ts'
import { findRclone } from './files/rclone.ts'
import { readLog, textOf } from './logs.ts'
import { currentSite, type Site, type SiteOptions } from './site.ts'
import { note, sayJson } from './terminal.ts'

const POLL_MS = 1_000
const WAIT_MS = 3_000
const DEFAULT_WAIT_S = 2 * 3600
/** The server keeps running without us, so a lost connection loses nothing. */
const LOST_MS = 10 * 60_000

type RunOptions = SiteOptions & {
  environment: string
  vehicle?: Vehicle
  name?: string
  set?: RunParameters
  secret?: string[]
  keep?: string
  stopAfter?: number
  maxGpus?: number
  wait?: number
  json?: true
}

/** Runs a program to its end on its own server, and exits as it does. @param command replaces its image's */
export async function run(command: string[], options: RunOptions): Promise<void> {
  const interrupted = new AbortController()
  const onSignal = () => {
    // Someone who presses again doesn't want to wait for the end.
    if (interrupted.signal.aborted) process.exit(EXIT.interrupted)
    interrupted.abort()
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  // If our output is closed, as by `head`, the caller still gets the program's code.
  process.stdout.removeAllListeners('error').on('error', () => {})
  process.stderr.on('error', () => {})
  try {
    process.exitCode = await runToItsEnd(command, options, interrupted.signal)
  } catch (error) {
    const { aborted } = interrupted.signal
    if (!(error instanceof Failure)) throw aborted ? new Failure(EXIT.interrupted, 'Interrupted.') : error
    // Its program may exit with any other code.
    throw new Failure(aborted ? EXIT.interrupted : EXIT.notRun, error.message, error.code)
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

async function runToItsEnd(command: string[], options: RunOptions, interrupted: AbortSignal): Promise<number> {
  const site = currentSite(options)
  const keep = options.keep === undefined ? null : checkPath(options.keep)
  if (keep === '' || keep?.startsWith('/'))
    throw new Failure(EXIT.notRun, `Write the path inside /data: --keep ${keep.replace(/^\/(data\/)?/, '') || 'out'}`)
  // Check before it costs anything.
  if (keep !== null) {
    await findRclone()
    await requireFiles(site)
  }
  const { environment, maxGpus } = options
  const kind = { environment, until: 'exit' as const, ...(maxGpus !== undefined && { max_gpus: maxGpus }) }
  const usual = await findStartTime(site, kind)
  interrupted.throwIfAborted()
  const begun = await begin(site, command, options, interrupted)
  note(`Started ${begun.id} on a ${begun.instance_type}: ${site.url}/servers/${begun.id}`)
  note(readyText(usual))
  const ended = await follow(site, begun, options, interrupted).catch((error) => {
    note(`The server may still be running: ${site.url}/servers/${begun.id}`)
    throw error
  })
  const { exit_code, ended_because, error_message } = ended
  const kept = keep === null || (await bringBack(site, keep))
  if (options.json) sayJson({ server: ended, exit_code, ended_because })
  if (interrupted.aborted) throw new Failure(EXIT.interrupted, '')
  if (ended_because === 'failure') throw new Failure(EXIT.notRun, error_message ?? 'The server failed.')
  const ran = runSeconds(Date.parse(ended.billed_from ?? ''), Date.parse(ended.end_time ?? '')) || 0
  note(`${WORDS[ended_because ?? 'exited']} It ran ${formatUptime(ran)}.`)
  const code = exitCodeOf(ended)
  // Its output is missing, so this isn't success.
  return kept || code !== 0 ? code : EXIT.notRun
}

/** @throws Failure if what its program writes to /data is lost with the machine */
async function requireFiles(site: Site): Promise<void> {
  const { on_servers } = await call(site, (client) => client.GET('/api/v1/files'))
  if (on_servers === 'none')
    throw new Failure(EXIT.notRun, `Servers of ${site.url} have no /data, so there would be nothing to keep.`)
}

const WORDS: Record<EndReason, string> = {
  exited: 'The program ended.',
  you: 'The server was stopped.',
  suspended: 'We stopped the server: an invoice is overdue.',
  time_up: 'Time ran out before the program ended.',
  idle: 'Time ran out before the program ended.',
  budget: 'Your budget was used up before the program ended.',
  plan: 'Your plan no longer includes this server.',
  trial_over: 'Your trial was over before the program ended.',
  failure: '',
}

function exitCodeOf({ ended_because, exit_code }: Server): number {
  if (ended_because === 'exited') return exit_code ?? EXIT.notRun
  return ended_because === 'you' || ended_because === 'suspended' ? EXIT.stopped : EXIT.endCame
}

/** Starts it once the account has no other server and one is free. @throws Failure */
async function begin(site: Site, command: string[], options: RunOptions, interrupted: AbortSignal): Promise<Server> {
  const { environment, vehicle, name, set, secret, stopAfter, maxGpus, wait = DEFAULT_WAIT_S } = options
  const body = {
    environment,
    until: 'exit',
    ...(command.length && { command }),
    ...(vehicle !== undefined && { vehicle }),
    ...(name !== undefined && { name }),
    ...(set !== undefined && { parameters: set }),
    ...(secret !== undefined && { secrets: secret }),
    ...(stopAfter !== undefined && { stop_after: stopAfter }),
    ...(maxGpus !== undefined && { max_gpus: maxGpus }),
  }
  const until = Date.now() + wait * 1000
  let said: string | null = null
  for (;;) {
    // One key per try: a refusal changed nothing, and a lost answer is repeated.
    const params = repeatable()
    writeDown({ key: params.header['Idempotency-Key'], body })
    const start = () =>
      call(site, (client) => client.POST('/api/v1/aws/auto_cloud_start_request', { params, body }), {
        until,
        signal: interrupted,
      })
    try {
      const { server } = await insist(start)
      if (server) return server
    } catch (error) {
      // Otherwise, the action would send it again, and its server might start after all.
      if (error instanceof Failure && !LEAVES_OPEN.has(error.code)) writeDown(null)
      const mayPass = error instanceof Failure && WAITS.has(error.code ?? '')
      if (!mayPass || interrupted.aborted) throw error
      if (Date.now() >= until) throw new Failure(EXIT.notRun, `${error.message} We waited ${formatUptime(wait)}.`)
      if (error.code !== said) note(`${error.message} Waiting…`)
      said = error.code
    }
    await sleep(WAIT_MS, null, { signal: interrupted })
  }
}

/** For the GitHub Action: if we are killed before we can say what started, it repeats this call, and stops that server. */
function writeDown(start: { key: string; body: object } | null): void {
  const file = process.env.PROVING_GROUND_START_FILE
  if (file && start) writeFileSync(file, JSON.stringify(start))
  else if (file) rmSync(file, { force: true })
}

/** Refusals that end on their own. */
const WAITS = new Set(['has_server', 'stopping', 'no_capacity'])

/** Prints its log until it is over, whatever happens to the connection. If we are interrupted, stops it first. */
async function follow(site: Site, { id }: Server, { json }: RunOptions, interrupted: AbortSignal): Promise<Server> {
  let after = 0
  let stopped = false
  for (;;) {
    if (interrupted.aborted && !stopped) {
      await insist(async () => stopServer(site, await findRun(site, id)).catch(unlessOver))
      note('Stopping the server. You pay nothing from now on.')
      stopped = true
    }
    const patience = stopped ? {} : { signal: interrupted }
    try {
      const { lines, next, complete } = await insist(() => readLog(site, id, after, patience))
      for (const line of lines) print(line, json === true)
      after = next
      if (complete) {
        const server = await insist(() => findRun(site, id, patience))
        if (server.ended_because !== null) return server
      }
      if (!lines.length) await sleep(POLL_MS, null, patience)
    } catch (error) {
      // Interrupted during the wait: stop it now.
      if ((error as Error).name !== 'AbortError') throw error
    }
  }
}

function unlessOver(error: unknown): void {
  if (!(error instanceof Failure && error.code === 'not_running')) throw error
}

/** With JSON, only the JSON is on stdout. */
function print(line: LogLine, isJson: boolean): void {
  const stream = line.source === 'stdout' && !isJson ? process.stdout : process.stderr
  stream.write(`${textOf(line, stream)}\n`)
}

const findRun = async (site: Site, id: string, patience?: Patience): Promise<Server> =>
  (await call(site, (client) => client.GET('/api/v1/servers/{id}', { params: { path: { id } } }), patience)).server

/** Unreachable, or not refused on the merits. Where the site decides, it would decide the same again. */
const PASSES = new Set<string | null>([null, 'unavailable', 'provider_failed'])

/** An earlier try may have started it although its answer was lost. */
const LEAVES_OPEN = new Set<string | null>([...PASSES, 'too_many', 'unauthenticated', 'forbidden'])

/** Retries while the site can't be reached, or can't answer. */
async function insist<T>(ask: () => Promise<T>): Promise<T> {
  const until = Date.now() + LOST_MS
  for (let told = false; ; told = true) {
    try {
      return await ask()
    } catch (error) {
      const isLost = error instanceof Failure && error.exitCode !== EXIT.notSignedIn && PASSES.has(error.code)
      if (!isLost || Date.now() >= until) throw error
      if (!told) note(`${error.message} Trying again…`)
      await sleep(WAIT_MS)
    }
  }
}

/** Copies /data/PATH to ./PATH. @returns whether everything arrived */
async function bringBack(site: Site, path: string): Promise<boolean> {
  try {
    const done = await download(site, path, path || '.')
    if (done) note(`Kept ${done.copied} ${done.copied === 1 ? 'file' : 'files'} in ./${path}.`)
    else note(`The program left nothing in /data/${path}.`)
    return true
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    note(`Couldn't keep /data/${path}: ${error.message} Get it with: proving-ground files get '${path}'`)
    return false
  }
}
