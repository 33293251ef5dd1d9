import type { Line, Phase, Source, Told } from './container.ts'
import { linesOf, pullAt, refusalOf } from './container.ts'
import type { Proof } from './identity.ts'
import { beginsAt, type Instance, stateOf } from './instance.ts'

export type MachineLogOptions = {
  siteUrl: string
  proof: () => Proof
  /** The machine's own, which Cloudflare would report. */
  address: string
  /** The stack's clock. */
  now: () => number
  /** Called before each request. */
  onSend: () => void
}

export type Sample = {
  at: number
  gpu_percent: number
  gpu_memory_bytes: number
  cpu_percent: number
  memory_bytes: number
  disk_bytes: number
  disk_total_bytes: number
  sent_bytes: number
  received_bytes: number
}

/** What a machine posts to `/machines/log`. `first` is the number of the first of `lines`. */
export type Batch = {
  boot: string
  first: number
  lines: { at: number; source: Source; text: string }[]
  dropped: number
  phase?: Phase
  samples: Sample[]
  complete: boolean
}

const SECOND_MS = 1_000
const QUIET_SECONDS = 30
/** After its start, people wait for each line. */
const FRESH_MS = 120 * SECOND_MS
const SAMPLE_MS = 10 * SECOND_MS
/** One quiet pause's, and some more. A moved clock produces no others. */
const MOST_SAMPLES = 6
const MOST_BYTES = 250_000
const MOST_LAST_TRIES = 5
/** A line's JSON without its text. */
const AROUND_BYTES = 60
const MOST_WAIT_MS = 30 * SECOND_MS

/** Speaks to the site for one instance, as a real machine would. */
export class MachineLog {
  readonly #options: MachineLogOptions
  readonly #instance: Instance
  #lines: Line[]
  #busy = false
  #over = false
  #stopped = false
  /** Its program's exit is the last thing it says. */
  #endsItself = false
  #key: string | null = null
  #isTold = false
  /** The first number that the site doesn't have. Null: it hasn't said. */
  #next: number | null = null
  #everySeconds = QUIET_SECONDS
  #postedAt = 0
  #notBefore = 0
  #failures = 0
  #mostBytes = MOST_BYTES
  #sampledAt: number
  /** What the site last heard about its pull. */
  #saidOfPull = ''
  readonly #closing = new AbortController()

  constructor(instance: Instance, options: MachineLogOptions) {
    this.#instance = instance
    this.#options = options
    this.#lines = linesOf(instance)
    this.#sampledAt = Math.max(beginsAt(instance), options.now() - SAMPLE_MS)
  }

  /** It has said everything, or the site wants nothing more. */
  get isOver(): boolean {
    return this.#over
  }

  /** It knows what to tell its container, so it has started it. */
  get isTold(): boolean {
    return this.#isTold
  }

  /** At shutdown, it still sends what is left, and its last word. A machine that AWS took away says nothing. */
  end(instance: Instance): void {
    this.#stopped = true
    if (instance.stateReason?.startsWith('Server.')) {
      this.close()
      return
    }
    const at = (instance.shutDownAt ?? this.#options.now()) - beginsAt(instance)
    this.#lines = this.#lines.filter((line) => line.at <= at)
    if (this.#lines.at(-1)?.phase?.name !== 'failed') this.#lines.push({ at, source: 'machine', text: 'Stopping' })
  }

  close(): void {
    this.#over = true
    this.#closing.abort()
  }

  /** Sends what is due. Its caller looks many times a second, and waits for nothing. */
  async look(): Promise<void> {
    const now = this.#options.now()
    if (this.#busy || this.#over || now < this.#notBefore) return
    const batch = this.#next === null ? this.#batch([], now) : this.#dueBatch(this.#next, now)
    if (!batch) return
    this.#busy = true
    await this.#send(batch, now).catch(() => this.#retryLater(now))
    this.#busy = false
  }

  #batch(lines: Line[], now: number): Batch {
    const { id } = this.#instance
    const from = beginsAt(this.#instance)
    const phase = lines.at(-1)?.phase ?? this.#progress(now)
    return {
      boot: id,
      first: this.#next ?? 1,
      lines: lines.map(({ at, source, text }) => ({ at: from + at, source, text })),
      dropped: 0,
      ...(phase && { phase }),
      samples: this.#samples(now),
      complete: false,
    }
  }

  #dueBatch(next: number, now: number): Batch | null {
    const lines: Line[] = []
    let bytes = 0
    for (let i = next - 1; i < this.#lines.length; i++) {
      const line = this.#lines[i] as Line
      if (beginsAt(this.#instance) + line.at > now) break
      bytes += Buffer.byteLength(line.text) + AROUND_BYTES
      if (bytes > this.#mostBytes) break
      lines.push(line)
      // The site learns of each phase with its line, so a batch holds one.
      if (line.phase) break
    }
    const batch = this.#batch(lines, now)
    const isEnd =
      this.#stopped || batch.phase?.name === 'failed' || (this.#endsItself && batch.phase?.name === 'exited')
    batch.complete = isEnd && next - 1 + lines.length === this.#lines.length
    const hasNews = lines.length > 0 || batch.samples.length > 0 || batch.phase !== undefined
    const isFresh = now < beginsAt(this.#instance) + FRESH_MS
    const seconds = hasNews ? (isFresh ? 1 : this.#everySeconds) : QUIET_SECONDS
    const isDue = lines.at(-1)?.phase || batch.complete || now >= this.#postedAt + seconds * SECOND_MS
    return isDue ? batch : null
  }

  /** How far its pull is, if the site doesn't know that yet. */
  #progress(now: number): Phase | undefined {
    const phase = this.#next === null || this.#stopped ? null : pullAt(this.#instance, now - beginsAt(this.#instance))
    return phase && JSON.stringify(phase) !== this.#saidOfPull ? phase : undefined
  }

  /** What the site doesn't have yet, one every 10 seconds. */
  #samples(now: number): Sample[] {
    if (stateOf(this.#instance, now) !== 'running' || this.#stopped) return []
    const count = Math.min(MOST_SAMPLES, Math.floor((now - this.#sampledAt) / SAMPLE_MS))
    return Array.from({ length: count }, (_, i) => this.#sample(now - (count - 1 - i) * SAMPLE_MS))
  }

  /** A simulator that flies in circles. */
  #sample(at: number): Sample {
    const seconds = (at - beginsAt(this.#instance)) / SECOND_MS
    const swing = Math.sin(seconds / 60 + this.#instance.slot)
    return {
      at,
      gpu_percent: Math.round(60 + 20 * swing),
      gpu_memory_bytes: 6_000_000_000,
      cpu_percent: Math.round(35 + 10 * swing),
      memory_bytes: 9_000_000_000,
      disk_bytes: 48_000_000_000 + Math.round(seconds * 1_000),
      disk_total_bytes: 100_000_000_000,
      sent_bytes: Math.round(seconds * 250_000),
      received_bytes: Math.round(seconds * 4_000),
    }
  }

  async #send(batch: Batch, now: number): Promise<void> {
    this.#key ??= await this.#getKey(now)
    if (this.#key === null) return
    const body = JSON.stringify(batch)
    const answer = await this.#post('/machines/log', body, { Authorization: `Bearer ${this.#key}` })
    if (answer.status === 401) this.#key = null
    else if (answer.status === 403 || answer.status === 404) this.#over = true
    else if (answer.status === 413) this.#mostBytes = Math.max(1, Math.floor(this.#mostBytes / 2))
    if (answer.status !== 200) {
      await answer.body?.cancel()
      return this.#retryLater(now)
    }
    const { next, every_seconds } = (await answer.json()) as { next: number; every_seconds: number }
    this.#failures = 0
    this.#next = next
    this.#everySeconds = every_seconds
    this.#postedAt = now
    if (batch.phase?.name === 'pulling') this.#saidOfPull = JSON.stringify(batch.phase)
    this.#sampledAt = batch.samples.at(-1)?.at ?? this.#sampledAt
    this.#over ||= batch.complete
    // At most 256 KB a second.
    if (body.length > this.#mostBytes / 2) this.#notBefore = now + SECOND_MS
  }

  async #getKey(now: number): Promise<string | null> {
    const answer = await this.#post('/machines/key', JSON.stringify(this.#options.proof()))
    if (answer.status === 200) {
      const { key, ...told } = (await answer.json()) as { key: string } & Told
      // It has said nothing yet, so its lines may still change.
      if (this.#next === null && !this.#stopped) {
        this.#lines = linesOf(this.#instance, told)
        this.#endsItself = told.until === 'exit'
        this.#isTold = refusalOf(this.#instance, told) === null
      }
      return key
    }
    await answer.body?.cancel()
    // A site that doesn't know what machines say.
    if (answer.status === 404) this.#over = true
    // For a moment, the site may not know what it launched. After the end, it never will.
    this.#over ||= this.#stopped && answer.status === 403
    this.#retryLater(now)
    return null
  }

  #retryLater(now: number): void {
    this.#notBefore = now + Math.min(MOST_WAIT_MS, SECOND_MS * 2 ** this.#failures++)
    // The machine is gone by now.
    this.#over ||= this.#stopped && this.#failures > MOST_LAST_TRIES
  }

  #post(path: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
    const { siteUrl, address, onSend } = this.#options
    onSend()
    return fetch(`${siteUrl}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'CF-Connecting-IP': address, ...headers },
      body,
      signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(10_000)]),
    })
  }
}
