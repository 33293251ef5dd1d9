import { isLive } from './server.ts'
import type { Availability, Job, Server } from './wire/fleet.ts'

/**
 * The message above the sessions table. `job` is its job, if any, and `code` says why something failed: a refusal's, a
 * job's, or `offline`.
 */
export type Notice = {
  kind: 'danger' | 'success' | 'info'
  text: string
  job: string | null
  code?: string | null | undefined
}

/** The server list and its jobs, as the dashboard knows them. */
export type ServerList = {
  servers: Server[]
  jobs: Record<string, Job>
  /** The id of the latest job. */
  lastJobId: string | null
  loading: boolean
  notice: Notice | null
  /** What failed to load; older data stays. */
  error: string | null
}

export type ServerListAction =
  | { type: 'fetching' }
  | { type: 'fetched'; servers: Server[] }
  | { type: 'fetch_failed'; message: string }
  | { type: 'started'; server: Server; jobId: string }
  | { type: 'stopped'; server: Server; jobId: string }
  /** Its end or its name changed. */
  | { type: 'changed'; server: Server }
  | { type: 'told'; notice: Notice }
  | { type: 'job_updated'; job: Job }
  /** Without live updates, the list must end a notice that still waits for its job. */
  | { type: 'unheard' }
  | { type: 'job_cleared'; id: string }
  | { type: 'notice_dismissed' }

export const OFFLINE = 'You seem to be offline.'
/** Sorts before every time. */
const NOT_TOLD_YET = ''

export const STARTING = 'Starting server! This may take up to 30 seconds...'
/** After those 30 seconds. */
// Stryker disable next-line StringLiteral: text for people; a component test checks it.
export const STILL_STARTING = 'Still starting. Nothing is billed.'
/** After nine in ten similar starts were ready. */
// Stryker disable next-line StringLiteral: text for people; a component test checks it.
export const TAKING_LONGER = 'Taking longer than usual. Nothing is billed.'
export const STOPPING = 'Stopping server...'
export const ALL_RESERVED = 'No GPU servers available right now. All servers are reserved.'
/** Nobody needs to wait in line. */
export const FREE_NOW = 'A server is free for you now. Start it instead.'

export function emptyServerList(servers: Server[], jobs: Job[] = []): ServerList {
  const list: ServerList = { servers, jobs: {}, lastJobId: null, loading: false, notice: null, error: null }
  return jobs.reduce((state, job) => {
    const next = jobUpdated(state, job)
    // Jobs that ended before the page opened are known, so they are not news when the channel repeats them.
    return isFinished(job) ? { ...next, notice: state.notice } : next
  }, list)
}

export function reduceServerList(state: ServerList, action: ServerListAction): ServerList {
  switch (action.type) {
    case 'fetching':
      return { ...state, loading: true }
    case 'fetched':
      return {
        ...state,
        loading: false,
        error: null,
        notice: state.notice?.code === 'offline' ? null : state.notice,
        servers: mergeServers(state.servers, action.servers),
      }
    case 'fetch_failed':
      return { ...state, loading: false, error: action.message }
    case 'started':
      return queued(state, action, 'server_start', STARTING, action.server.requested_at)
    case 'stopped':
      return queued(state, action, 'server_stop', STOPPING, action.server.end_time)
    case 'changed':
      return { ...state, servers: putServer(state.servers, action.server) }
    case 'told':
      return { ...state, notice: action.notice }
    case 'job_updated':
      return jobUpdated(state, action.job)
    case 'unheard':
      return { ...state, notice: settledNotice(state) }
    case 'job_cleared': {
      const { [action.id]: _, ...jobs } = state.jobs
      return { ...state, jobs }
    }
    case 'notice_dismissed':
      return { ...state, notice: null }
  }
}

/** @param at when the server accepted it: this machine's clock may be off */
function queued(
  state: ServerList,
  { server, jobId }: { server: Server; jobId: string },
  kind: Job['kind'],
  text: string,
  at: string | null,
): ServerList {
  // The socket may have been faster than the response: keep what it said.
  const job: Job = state.jobs[jobId] ?? {
    id: jobId,
    kind,
    status: 'queued',
    progress: null,
    result: null,
    error_message: null,
    error_code: null,
    server,
    created_at: at ?? NOT_TOLD_YET,
    updated_at: NOT_TOLD_YET,
  }
  const jobs = { ...state.jobs, [jobId]: job }
  const notice = state.jobs[jobId] ? state.notice : { kind: 'info' as const, text, job: jobId }
  return { ...state, jobs, lastJobId: jobId, servers: putServer(state.servers, job.server ?? server), notice }
}

function jobUpdated(state: ServerList, job: Job): ServerList {
  const known = state.jobs[job.id]
  // Repeated or late: after a reconnect the channel sends jobs again. A finished job stays finished.
  if (known && (isFinished(known) || known.updated_at > job.updated_at)) return state
  const last = state.lastJobId ? state.jobs[state.lastJobId] : undefined
  const lastJobId = !last || isNewer(job, last) ? job.id : last.id
  return {
    ...state,
    jobs: { ...state.jobs, [job.id]: job },
    lastJobId,
    servers: job.server ? putServer(state.servers, job.server) : state.servers,
    notice: lastJobId === job.id ? noticeOf(job, state.notice) : state.notice,
  }
}

function noticeOf(job: Job, shown: Notice | null): Notice | null {
  if (job.status === 'succeeded') return { kind: 'success', text: job.result ?? 'Done.', job: job.id }
  if (job.status === 'failed') {
    // The user stopped it: the stop job's own messages say what happens.
    if (job.error_code === 'stopped') return shown?.job === job.id ? null : shown
    return { kind: 'danger', text: jobFailure(job), code: job.error_code, job: job.id }
  }
  return { kind: 'info', text: job.kind === 'server_start' ? STARTING : STOPPING, job: job.id }
}

/** The outcome that the list implies for the notice's job. The job's own words replace it once they arrive. */
function settledNotice({ notice, jobs, servers }: ServerList): Notice | null {
  const job = notice?.kind === 'info' && notice.job ? jobs[notice.job] : undefined
  const run = servers.find(({ id }) => id === job?.server?.id)
  if (!job || !run) return notice
  const done = (text: string): Notice => ({ kind: 'success', text, job: job.id })
  if (!isLive(run)) {
    if (run.error_message) return { kind: 'danger', text: run.error_message, job: job.id }
    return done('Server stopped.')
  }
  return job.kind === 'server_start' && run.billed_from ? done('Your server is running.') : notice
}

/** The error message, else 'Error: {code}', else 'Unknown error'. */
export function jobFailure(job: Pick<Job, 'error_message' | 'error_code'>): string {
  return job.error_message ?? (job.error_code ? `Error: ${job.error_code}` : 'Unknown error')
}

/** Updates the server in place, or adds it on top. */
function putServer(servers: Server[], server: Server): Server[] {
  return servers.some(({ id }) => id === server.id)
    ? servers.map((other) => (other.id === server.id ? further(other, server) : other))
    : [server, ...servers]
}

/** The fetched list, unless we already know something newer: a live server is the newest and never missing. */
function mergeServers(known: Server[], fetched: Server[]): Server[] {
  const missing = known.filter((server) => isLive(server) && !fetched.some(({ id }) => id === server.id))
  const merged = fetched.map((server) => {
    const before = known.find(({ id }) => id === server.id)
    return before ? further(before, server) : server
  })
  return [...missing, ...merged]
}

/** A run only moves forward, so updates that arrive out of order cannot revive one that has ended. */
function further(known: Server, news: Server): Server {
  return stage(known) > stage(news) ? known : news
}

function stage(server: Server): number {
  if (!isLive(server)) return 4
  if (server.stopping) return 3
  if (server.billed_from) return 2
  return server.active ? 1 : 0
}

export function noneAvailable({ candidates }: Partial<Availability>): string {
  return candidates?.length ? `${ALL_RESERVED} (Checked ${candidates.length} candidates)` : ALL_RESERVED
}

export function isFinished(job: Pick<Job, 'status'>): boolean {
  return job.status === 'succeeded' || job.status === 'failed'
}

/** A job that we know only from this page's request is the latest. */
function isNewer(job: Job, than: Job): boolean {
  return than.updated_at !== NOT_TOLD_YET && job.created_at > than.created_at
}
