import { isLive } from './server.ts'
import type { Availability, Job, Server } from './wire.ts'

/** What a person is told above the sessions table. `job` ties it to the job it speaks of. */
export type Notice = { kind: 'danger' | 'success' | 'info'; text: string; job: string | null }

/** The server list and its jobs, as the dashboard knows them. */
export type ServerList = {
  servers: Server[]
  jobs: Record<string, Job>
  /** The id of the latest job. */
  lastJobId: string | null
  loading: boolean
  notice: Notice | null
  /** What could not be read; what was read before stays. */
  error: string | null
}

export type ServerListAction =
  | { type: 'fetching' }
  | { type: 'fetched'; servers: Server[] }
  | { type: 'fetch_failed'; message: string }
  | { type: 'started'; server: Server; jobId: string; at: string }
  | { type: 'stopped'; server: Server; jobId: string; at: string }
  | { type: 'told'; notice: Notice }
  | { type: 'job_updated'; job: Job }
  | { type: 'job_cleared'; id: string }
  | { type: 'notice_dismissed' }

/** Before every time there is. */
const NOT_TOLD_YET = ''

export const STARTING = 'Starting server! This may take up to 30 seconds...'
export const STOPPING = 'Stopping server...'
export const ALL_RESERVED = 'No GPU servers available right now. All servers are reserved.'

export function emptyServerList(servers: Server[], jobs: Job[] = []): ServerList {
  const list: ServerList = { servers, jobs: {}, lastJobId: null, loading: false, notice: null, error: null }
  return jobs.reduce((state, job) => {
    const next = jobUpdated(state, job)
    // What had ended before the page was opened is known, so that the channel's repeating it is no news.
    return isFinished(job) ? { ...next, notice: state.notice } : next
  }, list)
}

export function reduceServerList(state: ServerList, action: ServerListAction): ServerList {
  switch (action.type) {
    case 'fetching':
      return { ...state, loading: true }
    case 'fetched':
      return { ...state, loading: false, error: null, servers: mergeServers(state.servers, action.servers) }
    case 'fetch_failed':
      return { ...state, loading: false, error: action.message }
    case 'started':
      return queued(state, action, 'server_start', STARTING)
    case 'stopped':
      return queued(state, action, 'server_stop', STOPPING)
    case 'told':
      return { ...state, notice: action.notice }
    case 'job_updated':
      return jobUpdated(state, action.job)
    case 'job_cleared': {
      const { [action.id]: _, ...jobs } = state.jobs
      return { ...state, jobs }
    }
    case 'notice_dismissed':
      return { ...state, notice: null }
  }
}

function queued(
  state: ServerList,
  { server, jobId, at }: { server: Server; jobId: string; at: string },
  kind: Job['kind'],
  text: string,
): ServerList {
  // The socket may have been faster than the answer: what it told stays.
  const job: Job = state.jobs[jobId] ?? {
    id: jobId,
    kind,
    status: 'queued',
    progress: null,
    result: null,
    error_message: null,
    error_code: null,
    server,
    created_at: at,
    updated_at: NOT_TOLD_YET,
  }
  const jobs = { ...state.jobs, [jobId]: job }
  const notice = state.jobs[jobId] ? state.notice : { kind: 'info' as const, text, job: jobId }
  return { ...state, jobs, lastJobId: jobId, servers: putServer(state.servers, job.server ?? server), notice }
}

function jobUpdated(state: ServerList, job: Job): ServerList {
  const known = state.jobs[job.id]
  // Told twice, or late: after a reconnect the channel repeats what it said before. What is finished stays so.
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
    // The person stopped it: the stop's own messages say what happens.
    if (job.error_code === 'stopped') return shown?.job === job.id ? null : shown
    return { kind: 'danger', text: jobFailure(job), job: job.id }
  }
  return { kind: 'info', text: job.kind === 'server_start' ? STARTING : STOPPING, job: job.id }
}

/** The error message, else 'Error: {code}', else 'Unknown error'. */
export function jobFailure(job: Pick<Job, 'error_message' | 'error_code'>): string {
  return job.error_message ?? (job.error_code ? `Error: ${job.error_code}` : 'Unknown error')
}

/** In place if it is in the list, else on top. */
function putServer(servers: Server[], server: Server): Server[] {
  return servers.some(({ id }) => id === server.id)
    ? servers.map((other) => (other.id === server.id ? further(other, server) : other))
    : [server, ...servers]
}

/** The fetched list, except where it is older than what was told meanwhile: one that lives is the newest and never missing. */
function mergeServers(known: Server[], fetched: Server[]): Server[] {
  const missing = known.filter((server) => isLive(server) && !fetched.some(({ id }) => id === server.id))
  const merged = fetched.map((server) => {
    const before = known.find(({ id }) => id === server.id)
    return before ? further(before, server) : server
  })
  return [...missing, ...merged]
}

/** A run's life goes one way, so that news which overtook each other cannot bring back what has ended. */
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

/** Whether it says that the whole fleet is taken, from whichever call it came. */
export function isNoCapacity({ text }: Notice): boolean {
  return text.startsWith(ALL_RESERVED)
}

export function isFinished(job: Pick<Job, 'status'>): boolean {
  return job.status === 'succeeded' || job.status === 'failed'
}

/** A job of which only this page's own request is known is the latest: its times are of the page's clock, which may be wrong. */
function isNewer(job: Job, than: Job): boolean {
  return than.updated_at !== NOT_TOLD_YET && job.created_at > than.created_at
}
