import { DurableObject } from 'cloudflare:workers'
import type { WebSocket as WorkerSocket } from '@cloudflare/workers-types'
import type { LogLine, LogPart } from '../../domain/run-log.ts'
import type { MetricsPart } from '../../domain/run-metrics.ts'
import type { LastWord, LogBatch, MachineNews, RunLogCalls } from '../ports/objects.ts'
import type { Env } from '../settings/env.ts'
import type { LogStore } from './log-store.ts'

const MOST_READERS = 5
/** An honest machine posts at most 256 kB once a second, or a few small batches. */
const MOST_IN_A_SECOND = { posts: 30, bytes: 1_000_000 }
/** The cost of an empty line, so that millions of them count as a flood. */
const LINE_COSTS = 20
/** Readers get each line at once until this long after they last read. */
const READ_MS = 60_000
/** And in any case until this long after the container's start. */
const FRESH_MS = 120_000

/**
 * One object per run: its log and how busy its machine is, in the object's own SQLite, so that a flood of lines never
 * reaches the database.
 */
export class RunLog extends DurableObject<Env> implements RunLogCalls {
  private store: Promise<LogStore> | undefined
  private lastRead = 0
  private second = { at: 0, posts: 0, bytes: 0 }

  async append(batch: LogBatch, now: number) {
    if (this.isFlooded(batch)) return 'too_many'
    const store = await this.open()
    if (store.refuses(batch)) return 'over'
    const heard = store.append(batch, now)
    await store.arm()
    this.tell(store)
    const isFollowed = this.readers().length > 0 || Date.now() - this.lastRead < READ_MS
    const isFresh = heard.startedAt === null || now - heard.startedAt < FRESH_MS
    return { next: heard.next, every_seconds: isFollowed || isFresh ? 1 : 30, news: heard.news } as const
  }

  async heardAt(now: number): Promise<number | null> {
    return (await this.open()).heardFor(now)
  }

  async provenUntil(now: number): Promise<number | null> {
    return (await this.open()).provenUntil(now)
  }

  async acted(news: MachineNews): Promise<void> {
    ;(await this.open()).acted(news)
  }

  async read(after: number, isOver: boolean): Promise<LogPart> {
    this.lastRead = Date.now()
    return (await this.open()).partAfter(after, isOver)
  }

  async tail(count: number): Promise<LogLine[]> {
    this.lastRead = Date.now()
    return (await this.open()).tail(count)
  }

  async metrics(since: number, now: number): Promise<MetricsPart> {
    this.lastRead = Date.now()
    return (await this.open()).samples.read(since, now)
  }

  async end(now: number): Promise<LastWord> {
    const store = await this.open()
    const last = store.end(now)
    await store.arm()
    this.tell(store)
    return last
  }

  async clear(what: 'lines' | 'everything'): Promise<void> {
    const store = await this.open()
    store.clear()
    if (what === 'everything') store.samples.clear()
  }

  override async alarm(): Promise<void> {
    await (await this.open()).expire(Date.now())
  }

  /** A reader who follows (fleet/follow-log.ts). Only our own Worker can ask: this object has no address. */
  override async fetch(request: Request): Promise<Response> {
    if (this.readers().length >= MOST_READERS) return new Response(null, { status: 429 })
    const pair = new WebSocketPair()
    this.ctx.acceptWebSocket(pair[1])
    note(pair[1], { after: null, isOver: new URL(request.url).searchParams.has('over') })
    return new Response(null, { status: 101, webSocket: pair[0] } as ResponseInit)
  }

  /** The reader sends the number of its last line and wants what follows. This object sleeps in between. */
  override async webSocketMessage(socket: WorkerSocket, after: string | ArrayBuffer): Promise<void> {
    this.lastRead = Date.now()
    note(socket, { ...noted(socket), after: Number(after) })
    serve(socket, await this.open())
  }

  override async webSocketClose(): Promise<void> {
    this.lastRead = Date.now()
  }

  /** Loaded when needed: most isolates keep no log. */
  private open(): Promise<LogStore> {
    this.store ??= import('./log-store.ts').then((file) => new file.LogStore(this.ctx.storage))
    return this.store
  }

  private readers(): WorkerSocket[] {
    return this.ctx.getWebSockets().filter((socket) => socket.readyState === WebSocket.OPEN)
  }

  private tell(store: LogStore): void {
    for (const socket of this.readers()) serve(socket, store)
  }

  private isFlooded({ lines }: LogBatch): boolean {
    const at = Math.floor(Date.now() / 1000)
    if (this.second.at !== at) this.second = { at, posts: 0, bytes: 0 }
    this.second.posts++
    this.second.bytes += lines.reduce((sum, { text }) => sum + text.length + LINE_COSTS, 0)
    return this.second.posts > MOST_IN_A_SECOND.posts || this.second.bytes > MOST_IN_A_SECOND.bytes
  }
}

/** `after`: the last line that this waiting reader has; null while they are sending a part on. */
type Reader = { after: number | null; isOver: boolean }

const noted = (socket: WorkerSocket) => socket.deserializeAttachment() as Reader
const note = (socket: WorkerSocket, reader: Reader) => socket.serializeAttachment(reader)

function serve(socket: WorkerSocket, store: LogStore): void {
  const { after, isOver } = noted(socket)
  if (after === null) return
  const part = store.partAfter(after, isOver)
  if (!part.lines.length && !part.complete) return
  note(socket, { after: null, isOver })
  socket.send(JSON.stringify(part))
}
