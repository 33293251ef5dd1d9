import { InvalidArgumentError } from 'commander'
import type { Estimate } from '../../src/domain/estimate.ts'
import { LONGEST_START_MS } from '../../src/domain/image-pull.ts'
import { parametersFault, type RunParameters, readParameter } from '../../src/domain/parameters.ts'
import { formatUptime, isLive, START_DEADLINE_MS, webAddress } from '../../src/domain/server.ts'
import { jobFailure } from '../../src/domain/server-list.ts'
import { readyText } from '../../src/domain/start-time.ts'
import type { Vehicle } from '../../src/domain/wire/fields.ts'
import type { Job, Server } from '../../src/domain/wire/fleet.ts'
import { worldText } from '../../src/domain/worlds.ts'
import { call, findStartTime, getUser, repeatable, stopServer } from './api.ts'
import { EXIT, type ExitCode, Failure } from './failure.ts'
import { follow } from './follow.ts'
import { findPlace, waitInLine } from './line.ts'
import { currentSite, type Site, type SiteOptions } from './site.ts'
import { ask, isTerminal, liveLine, note, paint, say, sayJson, timeText } from './terminal.ts'

/** By then, the site has ended every start. */
const DEADLINE_MS = START_DEADLINE_MS + LONGEST_START_MS + 60_000

type Started = { server: Server; job_id: string }

type StartOptions = SiteOptions & {
  wait?: true
  waitInLine?: true
  code?: string
  json?: true
  environment?: string
  vehicle?: Vehicle
  name?: string
  stopAfter?: number
  maxGpus?: number
  set?: RunParameters
  secret?: string[]
}

export async function start(options: StartOptions): Promise<void> {
  const site = currentSite(options)
  const interrupts = options.wait ? catchInterrupts() : null
  try {
    const user = options.wait ? await getUser(site) : null
    const kind = {
      ...(options.environment !== undefined && { environment: options.environment }),
      ...(options.maxGpus !== undefined && { max_gpus: options.maxGpus }),
    }
    const body = {
      ...kind,
      ...(options.vehicle !== undefined && { vehicle: options.vehicle }),
      ...(options.name !== undefined && { name: options.name }),
      ...(options.stopAfter !== undefined && { stop_after: options.stopAfter }),
      ...(options.set !== undefined && { parameters: options.set }),
      ...(options.secret !== undefined && { secrets: options.secret }),
    }
    const code = options.code !== undefined && { code: options.code }
    const begin = () =>
      call(site, (client) =>
        client.POST('/api/v1/aws/auto_cloud_start_request', { params: repeatable(), body: { ...body, ...code } }),
      )
    const usual = options.json && !user ? null : await findStartTime(site, kind)
    const { server, job_id } = await (options.waitInLine
      ? beginOrWait(begin, site, body)
      : begin().catch((error) => nameLine(site, error)))
    if (!user || !interrupts) {
      if (options.json) return sayJson({ server, job_id })
      return say(
        `Starting ${worldText(server) ?? 'a server'} on a ${server.instance_type}. ${readyText(usual)}${untilText(server)} Follow it with: proving-ground status --watch`,
      )
    }
    const running = await untilRunning(site, user.id, { server, job_id }, usual, interrupts)
    if (options.json) return sayJson({ server: running, job_id })
    say(`${paint('Your server is running:', 'green')} ${webAddress(running)}`)
    if (running.ends_at) note(untilText(running).trim())
  } finally {
    interrupts?.release()
  }
}

/** If no server is free, names the way to wait for one, unless the site has no line. @throws always */
async function nameLine(site: Site, error: unknown): Promise<never> {
  if (!(error instanceof Failure && error.exitCode === EXIT.noCapacity)) throw error
  const hasLine = await findPlace(site).then(
    () => true,
    () => false,
  )
  if (!hasLine) throw error
  throw new Failure(error.exitCode, `${error.message} Wait in line for one with: proving-ground start --wait-in-line`)
}

/** Each time, a server was free right after none was. */
const MOST_TRIES = 5

/** If no server is free, waits in line for one, which then starts automatically. */
async function beginOrWait(
  begin: () => Promise<Started>,
  site: Site,
  body: Parameters<typeof waitInLine>[1],
): Promise<Started> {
  for (let tries = 1; ; tries++) {
    try {
      return await begin()
    } catch (error) {
      if (!(error instanceof Failure && error.exitCode === EXIT.noCapacity)) throw error
    }
    try {
      return await inLine(site, body)
    } catch (error) {
      // A server is free now, or this account can't wait: the next start tells.
      if (!(error instanceof Failure && error.code === 'conflict' && tries < MOST_TRIES)) throw error
    }
  }
}

async function inLine(site: Site, body: Parameters<typeof waitInLine>[1]): Promise<Started> {
  const interrupted = new AbortController()
  const onSignal = () => interrupted.abort()
  process.once('SIGINT', onSignal)
  try {
    // Its job is followed by its server.
    return { server: await waitInLine(site, body, interrupted.signal), job_id: '' }
  } finally {
    process.off('SIGINT', onSignal)
  }
}

/** Begins with a space. */
function untilText({ ends_at }: Server): string {
  return ends_at ? ` It stops at ${timeText(ends_at)}.` : ''
}

const UNIT_S = { d: 86_400, h: 3600, m: 60, s: 1 }

/** `2h`, `1h30m`, `90s`, in seconds. @throws if it is something else */
export function duration(text: string): number {
  const parts = [...text.matchAll(/(\d+)([dhms])/g)]
  if (!parts.length || parts.map(([part]) => part).join('') !== text)
    throw new InvalidArgumentError('Write it like 2h, 45m, or 1h30m.')
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_S[unit as keyof typeof UNIT_S], 0)
}

/** One more parameter, `NAME=value`. @throws if the site would refuse it */
export function parameter(text: string, before: RunParameters = {}): RunParameters {
  if (!text.includes('=')) throw new InvalidArgumentError('Write it like SCENARIO=harbor-fog.')
  const [name, value] = readParameter(text)
  const all = { ...before, [name]: value }
  const fault = parametersFault(all)
  if (fault) throw new InvalidArgumentError(fault)
  return all
}

/** One more secret's name. The site knows which ones exist. */
export const secret = (name: string, before: string[] = []): string[] => [...before, name]

/** @throws unless it is a whole number from 1 */
export function count(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('Write it like 1 or 4.')
  return Number(text)
}

/** Follows a start to its end. @throws Failure if it fails, takes too long, or is interrupted */
function untilRunning(
  site: Site,
  userId: string,
  { server, job_id }: Started,
  usual: Estimate | null,
  interrupts: Interrupts,
): Promise<Server> {
  const line = liveLine(process.stderr)
  const began = Date.now()
  let progress = 'Starting server…'
  const usually = usual ? `, usually ${formatUptime(usual.p50)}` : ''
  const draw = () =>
    line.show(progress, paint(formatUptime((Date.now() - began) / 1000) + usually, 'gray', process.stderr))
  return new Promise<Server>((resolve, reject) => {
    const clock = setInterval(draw, 1000)
    const late = setTimeout(
      () => fail(EXIT.timeout, "The server still isn't running. Check it with: proving-ground status"),
      DEADLINE_MS,
    )
    const unfollow = follow(site, userId, {
      onJob(job) {
        if (job.id !== job_id) return
        if (job.status === 'succeeded') {
          cleanUp()
          resolve(job.server ?? server)
        } else if (job.status === 'failed') fail(exitCodeOf(job), jobFailure(job))
        else if (job.progress) {
          progress = job.progress
          draw()
        }
      },
      onServers(servers) {
        const run = servers.find(({ id }) => id === server.id)
        if (run?.billed_from && isLive(run)) {
          cleanUp()
          resolve(run)
        } else if (run && !isLive(run)) {
          fail(exitCodeOf(run), run.error_message ?? 'The start was canceled.')
        }
      },
      onFailure(failure) {
        cleanUp()
        reject(failure)
      },
    })
    draw()
    interrupts.listen(() => {
      cleanUp()
      offerToStop(site, server).then((sentence) => reject(new Failure(EXIT.interrupted, sentence)), reject)
    })

    function cleanUp() {
      clearInterval(clock)
      clearTimeout(late)
      unfollow()
      line.clear()
    }
    function fail(code: ExitCode, sentence: string) {
      cleanUp()
      reject(new Failure(code, sentence))
    }
  })
}

function exitCodeOf({ error_code }: Pick<Job, 'error_code'>): ExitCode {
  if (error_code === 'no_capacity') return EXIT.noCapacity
  return error_code === 'timeout' || error_code === 'no_answer' ? EXIT.timeout : EXIT.refused
}

/** An interrupted wait stops nothing unless the user says so. */
async function offerToStop(site: Site, server: Server): Promise<string> {
  const later = 'Your server keeps running. Stop it with: proving-ground stop'
  if (!isTerminal(process.stdin) || !isTerminal(process.stderr)) return later
  const answer = await ask('Stop the server? [y/N] ')
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) return later
  await stopServer(site, server)
  return 'Stopping the server. You pay nothing from now on.'
}

type Interrupts = ReturnType<typeof catchInterrupts>

/** Keeps Ctrl-C from ending the process between a start's request and its answer: the server would run unnoticed. */
function catchInterrupts() {
  let pressed = false
  let listener: (() => void) | null = null
  const onSignal = () => {
    if (!pressed) listener?.()
    pressed = true
  }
  process.on('SIGINT', onSignal)
  return {
    listen(action: () => void) {
      listener = action
      if (pressed) action()
    },
    release: () => void process.off('SIGINT', onSignal),
  }
}
