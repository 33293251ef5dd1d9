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

export const STARTING = 'Starting server! This may take up to 30 seconds...'
export const STOPPING = 'Stopping server...'
export const ALL_RESERVED = 'No GPU servers available right now. All servers are reserved.'

export function emptyServerList(servers: Server[], jobs: Job[] = []): ServerList {
  const list: ServerList = { servers, jobs: {}, lastJobId: null, loading: false, notice: null }
  // What had ended before the page was opened is history; what still runs is news.
  return jobs
    .filter((job) => !isFinished(job))
    .reduce((state, job) => reduceServerList(state, { type: 'job_updated', job }), list)
}

export function reduceServerList(state: ServerList, action: ServerListAction): ServerList {
  switch (action.type) {
    case 'fetching':
      return { ...state, loading: true }
    case 'fetched':
      return { ...state, loading: false, servers: action.servers }
    case 'fetch_failed':
      return { ...state, loading: false, notice: { kind: 'danger', text: action.message, job: null } }
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
  const job = state.jobs[jobId] ?? {
    id: jobId,
    kind,
    status: 'queued' as const,
    progress: null,
    result: null,
    error_message: null,
    error_code: null,
    server,
    created_at: at,
    updated_at: at,
  }
  const jobs = { ...state.jobs, [jobId]: job }
  const notice = state.jobs[jobId] ? state.notice : { kind: 'info' as const, text, job: jobId }
  return { ...state, jobs, lastJobId: jobId, servers: putServer(state.servers, job.server ?? server), notice }
}

function jobUpdated(state: ServerList, job: Job): ServerList {
  const known = state.jobs[job.id]
  // Told twice, or late: after a reconnect the channel repeats what it said before.
  if (known && (known.updated_at > job.updated_at || (isFinished(known) && known.status === job.status))) return state
  const lastJobId = !state.lastJobId || isNewer(job, state.jobs[state.lastJobId]) ? job.id : state.lastJobId
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
    ? servers.map((other) => (other.id === server.id ? server : other))
    : [server, ...servers]
}

export function noneAvailable({ candidates }: Availability): string {
  return candidates.length ? `${ALL_RESERVED} (Checked ${candidates.length} candidates)` : ALL_RESERVED
}

export function isFinished(job: Pick<Job, 'status'>): boolean {
  return job.status === 'succeeded' || job.status === 'failed'
}

function isNewer(job: Job, than: Job | undefined): boolean {
  return !than || job.created_at >= than.created_at
}
