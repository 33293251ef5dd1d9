import { DurableObject } from 'cloudflare:workers'
import type { DurableObjectState, WebSocket as WorkerSocket } from '@cloudflare/workers-types'
import { ACCESS_ENDED } from '../../domain/door.ts'
import type { DoorCalls } from '../ports/objects.ts'
import type { Context } from '../runtime/context.ts'
import { createContext } from '../runtime/create-context.ts'
import type { Env } from '../settings/env.ts'
import { log } from '../settings/log.ts'
import type { Held, Pass } from './access.ts'
import { KEEP_HEADER } from './hold.ts'

type Asked = Held & { to: string; path: string }
/** One run and pass: `stop` aborts their WebSockets. */
type Opened = { held: Held; stop: AbortController; asked?: { stays: Promise<boolean>; until: number } | undefined }
/**
 * What may be open at once through an account's doors: TCP connections and long requests. All doors share two
 * connectors. And what the site itself may be sending to it.
 */
const MOST_HELD = 1_000
/** Of these, what guests have: they may not shut the owner out. */
const MOST_OF_GUESTS = 500
/** Streams of logs that one account may follow at once. */
const MOST_LOGS = 20
/** Also catches access that just runs out: a guest's hours, an idle sign-in. */
const LOOK_EVERY_MS = 10_000
/** Someone with a pass can cause looks without end. */
const APART_MS = 250
/** A page opens many WebSockets at once. Whoever ends its access asks for a look, which doesn't share. */
const SHARED_MS = 500

/**
 * One object per user. It knows their door's open connections and closes those that lost their access. A page's
 * WebSockets run through it, so that the runtime carries them with backpressure. Other long connections hold on to it.
 */
export class DoorKeeper extends DurableObject<Env> implements DoorCalls {
  private readonly sockets = new Map<string, Opened>()
  private looking = false
  private lastLook: Promise<unknown> = Promise.resolve()
  private nextLook: Promise<void> | null = null
  private lastRead = 0

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    if (ctx.getWebSockets().length) this.keepLooking()
  }

  override async fetch(request: Request): Promise<Response> {
    const asked = JSON.parse(request.headers.get(KEEP_HEADER) ?? '') as Asked
    return new URL(request.url).pathname === '/hold' ? this.accept(asked) : this.open(asked, request)
  }

  /** One look at a time. Calls during a look share the next one, which starts after all of them. */
  recheck(): Promise<void> {
    this.nextLook ??= this.lastLook.then(async () => {
      const wait = Math.min(APART_MS, this.lastRead + APART_MS - Date.now())
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
      this.nextLook = null
      const look = this.look()
      this.lastLook = look.catch(() => {})
      return look
    })
    return this.nextLook
  }

  private async look(): Promise<void> {
    const all = new Map<string, Held>()
    for (const { held } of this.sockets.values()) all.set(keyOf(held), held)
    for (const socket of this.holding()) all.set(keyOf(heldBy(socket)), heldBy(socket))
    if (!all.size) return
    this.lastRead = Date.now()
    const staying = new Set(await listStaying(await this.openContext(), [...all.values()]))
    for (const [key, held] of all) if (!staying.has(held)) this.end(key)
  }

  private async accept({ runId, pass, what }: Asked): Promise<Response> {
    if (this.isFull({ pass, ...(what && { what }) })) return new Response(null, { status: 429 })
    const pair = new WebSocketPair()
    this.ctx.acceptWebSocket(pair[1])
    pair[1].serializeAttachment({ runId, pass, ...(what && { what }) } satisfies Held)
    this.keepLooking()
    // Their access may have ended since the door was checked, before we knew of this connection.
    this.ctx.waitUntil(this.recheck())
    return new Response(null, { status: 101, webSocket: pair[0] } as ResponseInit)
  }

  private isFull({ pass, what }: Pick<Asked, 'pass' | 'what'>): boolean {
    const alike = this.holding()
      .map(heldBy)
      .filter((held) => held.what === what)
    if (what === 'log') return alike.length >= MOST_LOGS
    if (what === 'site') return leavesTooFew(alike, pass, MOST_HELD)
    if (alike.length >= MOST_HELD) return true
    const guests = alike.filter((held) => held.pass.kind === 'guest')
    return pass.kind === 'guest' && leavesTooFew(guests, pass, MOST_OF_GUESTS)
  }

  /** Opens a WebSocket to the machine. The runtime joins both ends; only the signal can part them. */
  private async open({ runId, pass, to, path }: Asked, given: Request): Promise<Response> {
    const held = { runId, pass }
    const key = keyOf(held)
    const entry: Opened = this.sockets.get(key) ?? { held, stop: new AbortController() }
    this.sockets.set(key, entry)
    this.keepLooking()
    const ctx = await this.openContext()
    const signal = AbortSignal.any([entry.stop.signal, given.signal])
    const headers = new Headers(given.headers)
    headers.delete(KEEP_HEADER)
    const [stays, answer] = await Promise.all([
      this.mayStay(ctx, entry),
      ctx.machine?.fetch(to, path, { headers, signal, encodeResponseBody: 'manual' } as RequestInit).catch(() => null),
    ])
    const { refuse } = await import('./refusals.ts')
    // The runtime can't create answers with other statuses.
    if (!stays || !answer || answer.status > 599) {
      await answer?.body?.cancel().catch(() => {})
      return refuse(stays ? 'unreachable' : 'stranger')
    }
    const { webSocket } = answer as unknown as { webSocket: WorkerSocket | null }
    const { status, statusText, headers: answered } = answer
    const init = { status, statusText, headers: answered, encodeBody: 'manual' }
    return webSocket
      ? new Response(null, { ...init, webSocket } as ResponseInit)
      : new Response(answer.body, init as ResponseInit)
  }

  /** If it may not, this ends it. */
  private mayStay(ctx: Context, entry: Opened): Promise<boolean> {
    const now = Date.now()
    if (entry.asked && now < entry.asked.until) return entry.asked.stays
    const stays = listStaying(ctx, [entry.held]).then(({ length }) => {
      if (!length) this.end(keyOf(entry.held))
      return length > 0
    })
    entry.asked = { stays, until: now + SHARED_MS }
    stays.catch(() => {
      if (entry.asked?.stays === stays) entry.asked = undefined
    })
    return stays
  }

  private end(key: string): void {
    this.sockets.get(key)?.stop.abort(new Error('access ended'))
    this.sockets.delete(key)
    for (const socket of this.holding()) if (keyOf(heldBy(socket)) === key) socket.close(ACCESS_ENDED, 'access ended')
  }

  private holding(): WorkerSocket[] {
    return this.ctx.getWebSockets().filter((socket) => socket.readyState === WebSocket.OPEN)
  }

  /** The timer also keeps this object in memory while it carries sockets, which it couldn't find again. */
  private keepLooking(): void {
    if (this.looking) return
    this.looking = true
    setTimeout(async () => {
      await this.recheck().catch((error) => log('door_look_failed', {}, error))
      this.looking = false
      if (this.sockets.size || this.holding().length) this.keepLooking()
    }, LOOK_EVERY_MS)
  }

  private openContext(): Promise<Context> {
    return createContext(this.env, (work) => this.ctx.waitUntil(work), log)
  }
}

const keyOf = ({ runId, pass, what }: Held) => [runId, pass.kind, pass.id, what].join(' ')
/** One guest's link, or one token, may have as many as are still free, and so never shuts out the others. */
const leavesTooFew = (open: Held[], { id }: Pass, most: number) =>
  open.filter(({ pass }) => pass.id === id).length >= most - open.length
const heldBy = (socket: WorkerSocket) => socket.deserializeAttachment() as Held

async function listStaying(ctx: Context, connections: Held[]): Promise<Held[]> {
  // Loaded when needed: most isolates keep no door.
  return (await import('./access.ts')).listStaying(ctx, connections)
}
