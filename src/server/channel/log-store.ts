import type { DurableObjectStorage } from '@cloudflare/workers-types'
import { LONGEST_PULL_MS, type Pull } from '../../domain/image-pull.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from '../../domain/instant.ts'
import {
  bytesOf,
  cutLine,
  FIRST_BYTES,
  LAST_BYTES,
  LOG_DAYS,
  LOG_SOURCES,
  type LogLine,
  type LogPart,
  missingText,
  PART_LINES,
} from '../../domain/run-log.ts'
import { isDiskNearlyFull } from '../../domain/run-metrics.ts'
import type { LastWord, LogBatch, MachineNews, MachinePhase, MachineSample } from '../ports/objects.ts'
import { SampleStore } from './sample-store.ts'

type State = {
  /** The number of the first line that it doesn't have. */
  next: number
  /** Bytes of the batches it keeps: the first ones, and the last ones. */
  firstBytes: number
  lastBytes: number
  /** The number after the first ones; null until they are full. */
  lastFrom: number | null
  /** Bytes dropped between the two. */
  missingBytes: number
  startedAt: number | null
  saidAt: number
  endedAt: number | null
  complete: boolean
  /** The last time the machine was silent for longer than a request takes: when it spoke before, and when it spoke again. */
  pause?: { before: number; after: number }
  /** The last phase that the machine reported, and when that began. */
  phase?: { said: string; at: number }
  /** The last phase that we acted on, whether we reported the disk, and how many acts there were. */
  acted: string
  /** Progress until the container starts. */
  pull?: Pull
  pullToldAt?: number
  diskNearlyFull?: boolean
  /** By all its containers and by the whole machine, as of the sample `at`. */
  sent?: Sent & { at: number; told: number; host?: Sent }
  acts: number
  /** The last few exits of a program that had answered, since we last reported any. */
  exits?: number[]
}

/** `last` is what a counter said, which may start over. */
type Sent = { last: number; total: number }

/** A line in its batch: when, the index of its source, and its text. */
type Kept = [at: number, source: number, text: string]
type Batch = { first: number; lines: string }

/** The text's bytes, but at least half of the stored size: empty lines and control characters take many times more. */
function sizeOf(line: Kept): number {
  return Math.max(bytesOf(line[2]) + 1, Math.ceil(bytesOf(JSON.stringify(line)) / 2))
}

const NEW: State = {
  next: 1,
  firstBytes: 0,
  lastBytes: 0,
  lastFrom: null,
  missingBytes: 0,
  startedAt: null,
  saidAt: 0,
  endedAt: null,
  complete: false,
  acted: '',
  acts: 0,
}

const KEEP_MS = LOG_DAYS * DAY_MS
/** Keeps a program that restarts forever, or fills its disk again and again, from causing endless writes. */
const MOST_ACTS = { all: 100, disk: 90 }
/** In addition to the limit on lines: JSON writes a control character as six, and an object's answer has an upper bound. */
const PART_CHARACTERS = 1_000_000
/** Each report of a pull is a database write: often if percentages advance, otherwise to show that the machine is alive. */
const PULL_NEWS_MS = { seen: 5 * SECOND_MS, unseen: 20 * SECOND_MS }
/** A machine gives up on a request after 10 s, so what it sends is at most that old, unless it couldn't reach us before. */
const ON_ITS_WAY_MS = 10 * SECOND_MS
/** After an interruption, a machine sends its backlog in several batches, and repeats some. */
const CATCHES_UP_MS = 3 * MINUTE_MS
/** A quiet machine is asked about after 3 minutes, so if its last word is older, we lost a newer one. It retries within 25 s. */
const FORGOTTEN_MS = 3.5 * MINUTE_MS
const TRIES_AGAIN_MS = 90 * SECOND_MS
/** A program that exits this often within this time isn't getting anywhere. */
const EXITS = { count: 3, withinMs: 10 * MINUTE_MS }
/** From here on, and each time it doubles, an operator should look: at AWS's $0.09 a GB, this costs $18. */
const MUCH_SENT = 200e9

/** A run's log in a Durable Object's SQLite, one row per batch. Writes nothing before the machine's first word. */
export class LogStore {
  readonly samples: SampleStore
  private readonly storage: DurableObjectStorage
  private state: State | null
  /** A quiet machine's last word is only in memory. */
  private quietAt = 0
  /** Since when callers ask and the last word is old. */
  private askedFrom: number | null = null

  constructor(storage: DurableObjectStorage) {
    this.storage = storage
    this.samples = new SampleStore(storage)
    const { sql } = storage
    const isThere = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'state'").toArray().length > 0
    const [row] = isThere ? sql.exec<{ state: string }>('SELECT state FROM state').toArray() : []
    this.state = row ? JSON.parse(row.state) : null
  }

  /** Whether it takes nothing new. The machine may repeat its last word, since our answer may have been lost. */
  refuses({ first, lines }: LogBatch): boolean {
    const { state } = this
    return state !== null && (state.endedAt !== null || (state.complete && first + lines.length > state.next))
  }

  append({ first, lines, phase, samples, complete }: LogBatch, now: number) {
    const state = this.state ?? this.create()
    // Skip what we already have: the machine sends it again if our answer was lost.
    const fresh = lines.slice(Math.max(0, state.next - first))
    const before = this.heardAt()
    if (before !== null && now - before > ON_ITS_WAY_MS && !this.isBehind(now)) state.pause = { before, after: now }
    if (phase && isAct(phase)) this.notePhase(state, phase, lines.at(-1)?.at ?? now, now)
    if (fresh.length) this.add(state, Math.max(first, state.next), fresh, now)
    this.samples.add(samples, now)
    this.quietAt = now
    // A quiet machine costs only the row of its samples.
    if (fresh.length && phase?.name === 'exited' && phase.answered !== false)
      state.exits = [...(state.exits ?? []), now].slice(-EXITS.count)
    if (state.startedAt === null) followPull(state, phase, now)
    followSent(state, samples)
    if (fresh.length || phase || complete || now - state.saidAt >= HOUR_MS) {
      if (phase?.name === 'started') state.startedAt ??= now
      state.saidAt = now
      state.complete ||= complete
      this.save(state)
    }
    return { next: state.next, startedAt: state.startedAt, news: this.newsOf(state, phase, now) }
  }

  /**
   * When the machine last spoke. Null for a while after a long time without questions: either we were away, or this object
   * has forgotten a quiet machine's last word, and the machine tries again only now and then.
   */
  heardFor(now: number): number | null {
    const at = this.heardAt()
    const isOld = at !== null && now - at > FORGOTTEN_MS
    this.askedFrom = isOld ? (this.askedFrom ?? now) : null
    return this.askedFrom !== null && now - this.askedFrom < TRIES_AGAIN_MS ? null : at
  }

  /** The machine can't report anything earlier from now on. A word that follows a pause may be older than the one before it. */
  provenUntil(now: number): number | null {
    const heardAt = this.isBehind(now) ? (this.state?.pause?.before ?? null) : this.heardAt()
    return heardAt && heardAt - ON_ITS_WAY_MS
  }

  private isBehind(now: number): boolean {
    return now - (this.state?.pause?.after ?? -Infinity) <= CATCHES_UP_MS
  }

  private heardAt(): number | null {
    const at = Math.max(this.quietAt, this.state?.saidAt ?? 0, this.samples.newest()?.at ?? 0)
    return at || null
  }

  acted({ phase, pull, diskNearlyFull, keepsEnding, sentBytes }: MachineNews): void {
    const { state } = this
    if (!state) return
    if (pull) state.pullToldAt = pull.heardAt
    if (phase) state.acted = JSON.stringify(phase)
    if (diskNearlyFull !== null) state.diskNearlyFull = diskNearlyFull
    if (keepsEnding) state.exits = []
    if (state.sent && sentBytes !== null) state.sent.told = sentBytes
    if (phase || diskNearlyFull !== null || keepsEnding) state.acts++
    this.save(state)
  }

  partAfter(after: number, isOver: boolean): LogPart {
    const { state } = this
    if (!state) return { lines: [], next: after, complete: isOver }
    const lines: LogLine[] = []
    const lastKept = this.lastKept(state)
    let size = 0
    const isFull = () => lines.length >= PART_LINES || size >= PART_CHARACTERS
    for (const { first, lines: json } of this.following(after)) {
      const kept = JSON.parse(json) as Kept[]
      if (first === lastKept && after < (state.lastFrom ?? 0)) lines.push(missing(state, first, kept))
      for (const [i, line] of kept.entries()) {
        if (first + i <= after || isFull()) continue
        lines.push(toLine(first + i, line))
        size += line[2].length
      }
      if (isFull()) break
    }
    const next = lines.at(-1)?.n ?? after
    const isLast = next >= state.next - 1 || this.following(next).next().done === true
    return { lines, next, complete: isLast && (isOver || state.complete || state.endedAt !== null) }
  }

  tail(count: number): LogLine[] {
    if (!this.state) return []
    const lines: LogLine[] = []
    for (const { first, lines: json } of this.cursor('ORDER BY first DESC')) {
      const kept = JSON.parse(json) as Kept[]
      lines.unshift(...kept.map((line, i) => toLine(first + i, line)))
      if (lines.length >= count) break
    }
    return lines.slice(-count)
  }

  end(now: number): LastWord {
    const state = this.state ?? this.create()
    state.endedAt ??= now
    this.save(state)
    const { said = '{}', at = null } = state.phase ?? {}
    return { heardAt: this.heardAt(), exitedAt: JSON.parse(said).name === 'exited' ? at : null }
  }

  clear(): void {
    const { state } = this
    if (!state) return
    this.storage.sql.exec('DELETE FROM batches')
    Object.assign(state, { firstBytes: 0, lastBytes: 0, lastFrom: null, missingBytes: 0 })
    this.save(state)
  }

  /** So that it goes some day, whatever happens to everyone else. */
  async arm(): Promise<void> {
    if ((await this.storage.getAlarm()) === null) await this.storage.setAlarm(Date.now() + KEEP_MS)
  }

  async expire(now: number): Promise<void> {
    if (!this.state) return
    const due = (this.state.endedAt ?? this.state.saidAt) + KEEP_MS
    if (now < due) return this.storage.setAlarm(due)
    await this.storage.deleteAll()
    this.state = null
    this.samples.clear()
  }

  private newsOf(state: State, phase: MachinePhase | null, now: number): MachineNews | null {
    const pull = pullNews(state, now)
    const { told = 0, host } = state.sent ?? {}
    const total = Math.max(state.sent?.total ?? 0, host?.total ?? 0)
    const sentBytes = total >= Math.max(MUCH_SENT, 2 * told) ? total : null
    if (state.acts >= MOST_ACTS.all) return pull || sentBytes !== null ? { ...NO_NEWS, pull, sentBytes } : null
    const newest = this.samples.newest()
    const before = state.diskNearlyFull ?? false
    // A run that ends with its program needs the rest for its exit. A warning may still go away.
    const after = newest && (before || state.acts < MOST_ACTS.disk) ? isDiskNearlyFull(newest, before) : before
    const isNews = phase && isAct(phase) && JSON.stringify(phase) !== state.acted
    const { exits = [] } = state
    const keepsEnding = exits.length === EXITS.count && now - (exits[0] ?? 0) <= EXITS.withinMs
    if (!isNews && !pull && after === before && !keepsEnding && sentBytes === null) return null
    return {
      ...NO_NEWS,
      ...(isNews && { phase, phaseAt: state.phase?.at ?? now }),
      pull,
      diskNearlyFull: after === before ? null : after,
      keepsEnding,
      sentBytes,
    }
  }

  /** Neither before what is proven, nor in the future. A repeated phase keeps its time. */
  private notePhase(state: State, phase: MachinePhase, at: number, now: number): void {
    const said = JSON.stringify(phase)
    if (state.phase?.said === said) return
    const earliest = this.provenUntil(now) ?? now - ON_ITS_WAY_MS
    state.phase = { said, at: Math.min(now, Math.max(earliest, at)) }
  }

  private add(state: State, first: number, lines: LogBatch['lines'], now: number): void {
    const kept = lines.map(
      ({ at, source, text }): Kept => [Math.min(at, now), LOG_SOURCES.indexOf(source), cutLine(text)],
    )
    state.next = first + kept.length
    const sizes = kept.map(sizeOf)
    let i = 0
    let bytes = 0
    if (state.lastFrom === null) {
      while (i < kept.length && state.firstBytes + bytes < FIRST_BYTES) bytes += sizes[i++] ?? 0
      this.insert(first, kept.slice(0, i), bytes)
      state.firstBytes += bytes
      if (state.firstBytes >= FIRST_BYTES) state.lastFrom = first + i
    }
    if (i === kept.length) return
    const rest = sizes.slice(i).reduce((sum, size) => sum + size, 0)
    this.insert(first + i, kept.slice(i), rest)
    state.lastBytes += rest
    for (;;) {
      const old = this.firstFrom(state.lastFrom ?? 0)
      if (!old || state.lastBytes - old.bytes < LAST_BYTES) break
      this.storage.sql.exec('DELETE FROM batches WHERE first = ?', old.first)
      state.lastBytes -= old.bytes
      state.missingBytes += old.bytes
    }
  }

  /** The first number after the gap; null if there is none. */
  private lastKept({ missingBytes, lastFrom }: State): number | null {
    if (!missingBytes || lastFrom === null) return null
    return this.firstFrom(lastFrom)?.first ?? null
  }

  private firstFrom(n: number): { first: number; bytes: number } | undefined {
    const query = 'SELECT first, bytes FROM batches WHERE first >= ? ORDER BY first LIMIT 1'
    return this.storage.sql.exec<{ first: number; bytes: number }>(query, n).toArray()[0]
  }

  /** The batches with lines after that one. Searched by their first lines, because a long log has many before. */
  private following(after: number) {
    const from = '(SELECT coalesce(max(first), 0) FROM batches WHERE first <= ?)'
    return this.cursor(`WHERE first >= ${from} AND last > ? ORDER BY first`, after, after)
  }

  private cursor(rest: string, ...values: number[]) {
    return this.storage.sql.exec<Batch>(`SELECT first, lines FROM batches ${rest}`, ...values)
  }

  private insert(first: number, lines: Kept[], bytes: number): void {
    const values = [first, first + lines.length - 1, bytes, JSON.stringify(lines)]
    this.storage.sql.exec('INSERT INTO batches (first, last, bytes, lines) VALUES (?, ?, ?, ?)', ...values)
  }

  private create(): State {
    this.storage.sql.exec(
      'CREATE TABLE IF NOT EXISTS batches (first INTEGER PRIMARY KEY, last INTEGER, bytes INTEGER, lines TEXT)',
    )
    this.storage.sql.exec('CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY, state TEXT)')
    this.state = { ...NEW }
    return this.state
  }

  private save(state: State): void {
    this.storage.sql.exec('INSERT OR REPLACE INTO state (id, state) VALUES (1, ?)', JSON.stringify(state))
  }
}

const NO_NEWS: MachineNews = {
  phase: null,
  phaseAt: 0,
  pull: null,
  diskNearlyFull: null,
  keepsEnding: false,
  sentBytes: null,
}

/** A restarted container or machine counts from zero. We write nothing for samples alone: later totals include what this misses. */
function followSent(state: State, samples: MachineSample[]): void {
  for (const { at, sent_bytes, host_sent_bytes } of samples) {
    const before = state.sent ?? { at: 0, told: 0, ...NOTHING_SENT }
    if (at > before.at)
      state.sent = { ...before, at, ...more(before, sent_bytes), host: more(before.host, host_sent_bytes) }
  }
}

const NOTHING_SENT: Sent = { last: 0, total: 0 }

function more({ last, total }: Sent = NOTHING_SENT, sent: number | null | undefined): Sent {
  const now = sent ?? last
  return { last: now, total: total + (now < last ? now : now - last) }
}

/** Progress never goes back, even if the machine starts over. Any batch shows that the machine is alive. */
function followPull(state: State, phase: MachinePhase | null, now: number): void {
  const { pull } = state
  const said = phase?.name === 'pulling' ? phase : null
  if (!pull && said) {
    const { percent, bytes } = said
    state.pull = { startedAt: now, heardAt: now, percent, percentAt: now, bytes }
  }
  if (!pull) return
  pull.heardAt = now
  pull.bytes = Math.max(pull.bytes, said?.bytes ?? 0)
  if (said && said.percent > pull.percent) Object.assign(pull, { percent: said.percent, percentAt: now })
}

function pullNews({ pull, pullToldAt = 0, startedAt }: State, now: number): Pull | null {
  if (!pull || startedAt !== null || now - pull.startedAt > LONGEST_PULL_MS + MINUTE_MS) return null
  const isSeen = pull.percentAt > pullToldAt
  return now - pullToldAt >= (isSeen ? PULL_NEWS_MS.seen : PULL_NEWS_MS.unseen) ? pull : null
}

/** Whether someone must act on it. */
const isAct = ({ name }: MachinePhase) => name === 'started' || name === 'exited' || name === 'failed'

function missing({ lastFrom, missingBytes }: State, until: number, [next]: Kept[]): LogLine {
  const n = lastFrom ?? 0
  return toLine(n, [next?.[0] ?? 0, 0, missingText(until - n, missingBytes)])
}

function toLine(n: number, [at, source, text]: Kept): LogLine {
  return { n, at: toIso(at), source: LOG_SOURCES[source] ?? 'machine', text }
}
