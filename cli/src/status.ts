import { isIP } from 'node:net'
import { runCost, trialEnd, usageAt } from '../../src/domain/money/live-usage.ts'
import { costText, FREE_WORDS, UNITS_PER_DOLLAR } from '../../src/domain/money/money.ts'
import { minutesText } from '../../src/domain/money/trial.ts'
import type { Metrics } from '../../src/domain/run-metrics.ts'
import { canStop, formatUptime, isLive, serverStatus, webAddress } from '../../src/domain/server.ts'
import { isFinished, jobFailure } from '../../src/domain/server-list.ts'
import type { Summary } from '../../src/domain/wire/billing.ts'
import type { Job, Server } from '../../src/domain/wire/fleet.ts'
import { worldText } from '../../src/domain/worlds.ts'
import { getSummary, getUser, listServers, stopServer } from './api.ts'
import { openInBrowser } from './browser.ts'
import { EXIT, Failure } from './failure.ts'
import { follow } from './follow.ts'
import { EVERY_MS, metricsText, readMetrics } from './metrics.ts'
import { currentSite, type Site, type SiteOptions } from './site.ts'
import { isTerminal, liveLine, paint, say, sayJson } from './terminal.ts'

const NONE_RUNS = 'No server is running.'
const COLOR = { running: 'green', provisioning: 'yellow', stopping: 'yellow', stopped: 'gray', error: 'red' } as const

export async function status(options: SiteOptions & { watch?: true; json?: true }): Promise<void> {
  const site = currentSite(options)
  if (options.watch) return watch(site, options.json === true)
  const [servers, summary] = await Promise.all([listServers(site), getSummary(site)])
  const live = servers.filter(isLive)
  if (options.json) return sayJson({ servers: live })
  say(live.map((server) => describe(server, summary, Date.parse(summary.as_of))).join('\n') || NONE_RUNS)
}

export async function open(options: SiteOptions): Promise<void> {
  const server = (await listServers(currentSite(options))).find(isLive)
  if (!server) throw new Failure(EXIT.refused, `${NONE_RUNS} Start one with: proving-ground start --wait`)
  if (!server.billed_from || !isIP(server.ip_address ?? ''))
    throw new Failure(EXIT.refused, 'Your server is still starting. Follow it with: proving-ground status --watch')
  const address = webAddress(server)
  say(address)
  openInBrowser(address)
}

export async function stop(options: SiteOptions & { all?: true; json?: true }): Promise<void> {
  const site = currentSite(options)
  const live = (await listServers(site)).filter(canStop)
  if (!options.all && !live.length) throw new Failure(EXIT.refused, NONE_RUNS)
  if (!options.all && live.length > 1)
    throw new Failure(EXIT.refused, `${live.length} servers are running. Stop them all with: proving-ground stop --all`)
  const stopped = []
  for (const server of live) stopped.push(await stopServer(site, server))
  if (options.json) return sayJson({ stopped })
  say(stopped.length ? 'Stopping the server. You pay nothing from now on.' : NONE_RUNS)
}

/** One line for a live run. @param now ms since 1970, by the server's clock */
function describe(server: Server, summary: Summary, now: number, progress: string | null = null): string {
  const state = serverStatus(server)
  const until = server.end_time ? Date.parse(server.end_time) : now
  const since = formatUptime((until - Date.parse(server.startedAt ?? server.requested_at)) / 1000)
  const parts = [`${paint(state, COLOR[state])} ${since}`, server.instance_type]
  const world = worldText(server)
  if (world) parts.splice(1, 0, world)
  if (server.name) parts.unshift(server.name)
  if (server.availability_zone) parts.push(server.availability_zone)
  const usage = usageAt(summary, [server], now)
  if (server.billed_from) {
    const { free, units } = runCost(server, usage, now)
    parts.push(free ? FREE_WORDS[free] : costText(units / UNITS_PER_DOLLAR), webAddress(server))
  } else if (progress) parts.push(progress)
  const latest = trialEnd(usage, now) ?? Infinity
  const end = Math.min(Date.parse(server.ends_at ?? '') || Infinity, latest)
  const left = (end - now) / 1000
  if (end < Infinity && !server.stopping)
    parts.push(`stops in ${end === latest ? `${minutesText(left / 60)} minutes` : formatUptime(left)}`)
  return parts.join('  ')
}

/** Shows the live run until Ctrl-C. */
async function watch(site: Site, json: boolean): Promise<void> {
  const user = await getUser(site)
  let summary = await getSummary(site)
  const began = Date.parse(summary.as_of)
  let ahead = began - Date.now()
  let run = (await listServers(site)).find(isLive) ?? null
  let progress: string | null = null
  let samples: Metrics['samples'] = []
  let printed = ''
  const line = liveLine(process.stdout)

  const show = () => {
    if (json) {
      const text = JSON.stringify({ server: run, progress, metrics: samples.at(-1) ?? null })
      if (text !== printed) say(text)
      printed = text
    } else if (isTerminal(process.stdout)) {
      const first = run ? describe(run, summary, Date.now() + ahead, progress) : NONE_RUNS
      line.show([first, metricsText(samples)].filter(Boolean).join('\n'))
    } else {
      // Outside a terminal, nobody wants a line every second.
      const text = run ? [serverStatus(run), progress, run.billed_from && webAddress(run)] : [NONE_RUNS]
      line.show(text.filter(Boolean).join('  '))
    }
  }
  const told = new Set<string>()
  /** The cable repeats the latest job whenever it connects. One that ended before we began to watch isn't news. */
  const tell = (job: Job) => {
    const news = job.status === 'failed' ? jobFailure(job) : job.result
    if (!news || json || told.has(job.id) || Date.parse(job.updated_at) <= began) return
    told.add(job.id)
    line.clear()
    if (isTerminal(process.stdout)) say(news)
    else line.show(news)
  }

  const look = async () => {
    const now = Date.now() + ahead
    // What can't be read now is read in 10 seconds.
    const read = run?.active ? await readMetrics(site, run.id, now - 10 * EVERY_MS).catch(() => null) : null
    samples = run?.active ? (read?.samples ?? samples) : []
    show()
  }

  show()
  void look()
  const clock = setInterval(show, 1000)
  const meter = setInterval(look, EVERY_MS)
  await new Promise<void>((_, reject) => {
    const finish = (failure: Failure) => {
      clearInterval(clock)
      clearInterval(meter)
      unfollow()
      line.clear()
      reject(failure)
    }
    process.once('SIGINT', () => finish(new Failure(EXIT.interrupted, '')))
    const unfollow = follow(site, user.id, {
      onJob(job) {
        if (isFinished(job)) tell(job)
        if (!job.server || (run && run.id !== job.server.id && !isLive(job.server))) return
        run = isLive(job.server) ? job.server : null
        progress = run && !isFinished(job) ? job.progress : null
        show()
      },
      async onServers(servers) {
        run = servers.find(isLive) ?? null
        if (!run) progress = null
        summary = await getSummary(site).catch(() => summary)
        ahead = Date.parse(summary.as_of) - Date.now()
        show()
      },
      onFailure: finish,
    })
  })
}
