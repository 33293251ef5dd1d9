import { type Chosen, type Line, Refused, sendFile } from './send-file.ts'

type UploadState = 'waiting' | 'sending' | 'network' | 'busy' | 'paused' | 'failed' | 'done'

export type Upload = {
  id: number
  path: string
  size: number
  sent: number
  state: UploadState
  /** Why it failed. */
  error: string | null
}

export type UploadsSeen = {
  /** The ones that need attention, only the first few: failed, then under way, then waiting. */
  shown: Upload[]
  /** How many are not shown. */
  more: number
  files: number
  filesDone: number
  failed: number
  bytes: number
  bytesSent: number
  /** Something is left that will be sent without anyone's help. */
  active: boolean
  paused: boolean
  /** No bytes flow, because the network is gone. */
  offline: boolean
}

const NOTHING: UploadsSeen = {
  shown: [],
  more: 0,
  files: 0,
  filesDone: 0,
  failed: 0,
  bytes: 0,
  bytesSent: 0,
  active: false,
  paused: false,
  offline: false,
}

type Job = Upload & Chosen & { abort: AbortController | null }

const LANES = 4
const CONFLICT = 409
const MOST_SHOWN = 50
const ORDER: UploadState[] = ['failed', 'sending', 'network', 'busy', 'paused', 'waiting', 'done']

/** Sends files a few at a time. A page shows it; it doesn't know the page. */
export class UploadQueue {
  readonly #line: Line
  readonly #onEnd: (path: string) => void
  readonly #listeners = new Set<() => void>()
  #jobs: Job[] = []
  #next = 1
  #seen = NOTHING

  constructor(line: Line, onEnd: (path: string) => void) {
    this.#line = line
    this.#onEnd = onEnd
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The same object until something changes. */
  seen = (): UploadsSeen => this.#seen

  /** Sends a path again if it is already under way, or failed. */
  add(chosen: Chosen[]): void {
    const paths = new Set(chosen.map(({ path }) => path))
    this.#drop((job) => paths.has(job.path) || job.state === 'done')
    for (const one of chosen)
      this.#jobs.push({
        ...one,
        id: this.#next++,
        size: one.file.size,
        sent: 0,
        state: 'waiting',
        error: null,
        abort: null,
      })
    this.#fill()
  }

  pause(id?: number): void {
    for (const job of this.#chosen(id))
      if (job.state !== 'failed' && job.state !== 'done') {
        job.state = 'paused'
        job.abort?.abort()
        job.abort = null
      }
    this.#fill()
  }

  /** Continues what was paused or failed. */
  resume(id?: number): void {
    for (const job of this.#chosen(id))
      if (job.state === 'paused' || job.state === 'failed') Object.assign(job, { state: 'waiting', error: null })
    this.#fill()
  }

  /** Forgets one file, or all. Parts that have arrived stay in the bucket for a while. */
  remove(id?: number): void {
    this.#drop((job) => id === undefined || job.id === id)
    this.#fill()
  }

  #chosen(id?: number): Job[] {
    return id === undefined ? this.#jobs : this.#jobs.filter((job) => job.id === id)
  }

  #drop(isGone: (job: Job) => boolean): void {
    for (const job of this.#jobs) if (isGone(job)) job.abort?.abort()
    this.#jobs = this.#jobs.filter((job) => !isGone(job))
  }

  #fill(): void {
    let busy = this.#jobs.filter(({ abort }) => abort !== null).length
    for (const job of this.#jobs) {
      if (busy >= LANES) break
      if (job.state !== 'waiting') continue
      busy += 1
      void this.#send(job)
    }
    this.#tell()
  }

  async #send(job: Job): Promise<void> {
    const abort = new AbortController()
    job.abort = abort
    job.state = 'sending'
    // After a pause, a late answer must change nothing.
    const change = (fields: Partial<Job>) => {
      if (abort.signal.aborted) return
      Object.assign(job, fields)
      this.#tell()
    }
    try {
      await sendFile(this.#line, job, {
        signal: abort.signal,
        onSent: (sent) => change({ sent }),
        onWait: (why) => change({ state: why ?? 'sending' }),
      })
      if (abort.signal.aborted) return
      change({ state: 'done', sent: job.size, abort: null })
      // Another tab may have completed it while parts were under way here.
      abort.abort()
      this.#onEnd(job.path)
    } catch (error) {
      // A file that was moved or changed on disk can't be read.
      const words =
        error instanceof Refused ? error.message : "Your browser can't read this file anymore. Choose it again."
      change({ state: 'failed', error: words, abort: null })
      // The list doesn't show yet what is there now.
      if (!abort.signal.aborted && error instanceof Refused && error.status === CONFLICT) this.#onEnd(job.path)
      abort.abort()
    }
    this.#fill()
  }

  #tell(): void {
    this.#seen = summary(this.#jobs)
    for (const listener of this.#listeners) listener()
  }
}

/** In one pass: people drop a hundred thousand files, and each progress event comes here. */
function summary(jobs: Job[]): UploadsSeen {
  const by = Object.fromEntries(ORDER.map((state) => [state, { count: 0, first: [] as Job[] }])) as Record<
    UploadState,
    { count: number; first: Job[] }
  >
  let bytes = 0
  let bytesSent = 0
  for (const job of jobs) {
    bytes += job.size
    bytesSent += job.sent
    const same = by[job.state]
    if (same.count++ < MOST_SHOWN) same.first.push(job)
  }
  const filesDone = by.done.count
  const shown = ORDER.slice(0, -1)
    .flatMap((state) => by[state].first)
    .slice(0, MOST_SHOWN)
    .map(({ id, path, size, sent, state, error }) => ({ id, path, size, sent, state, error }))
  const { sending, network, busy, waiting } = by
  return {
    shown,
    more: jobs.length - filesDone - shown.length,
    files: jobs.length,
    filesDone,
    failed: by.failed.count,
    bytes,
    bytesSent,
    active: sending.count + network.count + busy.count + waiting.count > 0,
    paused: by.paused.count > 0,
    offline: network.count > 0 && sending.count === 0,
  }
}
