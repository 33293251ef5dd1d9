import type { DurableObjectState, WebSocket as WorkerSocket } from '@cloudflare/workers-types'
import {
  accountFrame,
  confirmFrame,
  isOwnJobsChannel,
  isReadable,
  jobFrame,
  KEEPALIVE,
  KEEPALIVE_ANSWER,
  lineFrame,
  MAX_MESSAGES_PER_SECOND,
  PING_EVERY_MS,
  parseCommand,
  pingFrame,
  rejectFrame,
  type ServerFrame,
  SUB_PROTOCOL,
  serverFrame,
  welcomeFrame,
} from '../../domain/cable.ts'
import { MINUTE_MS, SECOND_MS } from '../../domain/instant.ts'
import type { Job, LinePlace, Server } from '../../domain/wire/fleet.ts'
import { liveSignInsQuery } from '../accounts/live-sign-ins.ts'
import type { Context } from '../runtime/context.ts'
import type { Log } from '../settings/log.ts'
import { type Attachment, attachmentOf, closeSocket, endSocket, sendTo } from './job-socket.ts'
import { MissedJobs } from './missed-jobs.ts'

/** Tabs and devices of one person. A new socket beyond this closes the oldest. */
const MAX_SOCKETS = 20
/** Before a push, we recheck any sign-in that was last checked longer ago than this. */
const CHECK_EVERY_MS = MINUTE_MS

/** A client may spell its channel in two ways: each gets every push, and its attachment must hold it. */
const MAX_SUBSCRIPTIONS = 2
const MAX_IDENTIFIER = 300

type FrameOf = (identifier: string) => string

/** The sockets of one user, in that user's Durable Object: their access, subscriptions and pings. */
export class JobSockets {
  private pinging = false
  /** The kinds of frames told within a second, each with the one that waits until it's over. */
  private recent = new Map<string, FrameOf | null>()
  private received = new WeakMap<WorkerSocket, { second: number; count: number }>()
  private readonly ctx: DurableObjectState
  private readonly openContext: () => Promise<Context>
  private readonly missed: MissedJobs

  constructor(ctx: DurableObjectState, openContext: () => Promise<Context>, log: Log) {
    this.ctx = ctx
    this.openContext = openContext
    this.missed = new MissedJobs(openContext, log)
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(KEEPALIVE, KEEPALIVE_ANSWER))
    if (ctx.getWebSockets().length) this.keepPinging()
  }

  /** Accepts an upgrade. The route has checked it and passes the user and the sign-in as headers. */
  accept(request: Request): Response {
    const pair = new WebSocketPair()
    const attachment: Attachment = {
      userId: request.headers.get('x-user-id') ?? '',
      signInId: request.headers.get('x-sign-in-id') ?? '',
      expiresAt: Number(request.headers.get('x-expires-at')),
      identifiers: [],
      connectedAt: Date.now(),
      checkedAt: 0,
    }
    this.makeRoom()
    this.ctx.acceptWebSocket(pair[1])
    pair[1].serializeAttachment(attachment)
    pair[1].send(welcomeFrame())
    this.keepPinging()
    const headers = { 'sec-websocket-protocol': SUB_PROTOCOL }
    return new Response(null, { status: 101, webSocket: pair[0], headers } as ResponseInit)
  }

  /** Handles a client's message. Like Rails, it mostly doesn't reply. */
  async receive(socket: WorkerSocket, message: string | ArrayBuffer): Promise<void> {
    if (!isReadable(message) || this.isTooFast(socket)) return socket.close(1008, 'too much')
    const command = typeof message === 'string' ? parseCommand(message) : null
    if (!command) return
    const attachment = attachmentOf(socket)
    const { identifier } = command
    const subscribed = attachment.identifiers.includes(identifier)
    if (command.command === 'unsubscribe') {
      const identifiers = attachment.identifiers.filter((other) => other !== identifier)
      return socket.serializeAttachment({ ...attachment, identifiers })
    }
    if (subscribed) return
    const isRoom = attachment.identifiers.length < MAX_SUBSCRIPTIONS && identifier.length <= MAX_IDENTIFIER
    if (!isRoom || !isOwnJobsChannel(identifier, attachment.userId)) return sendTo(socket, rejectFrame(identifier))
    socket.serializeAttachment({ ...attachment, identifiers: [...attachment.identifiers, identifier] })
    sendTo(socket, confirmFrame(identifier))
    await this.missed.tell(attachment.userId, socket, identifier)
  }

  disconnect(signInIds: string[] | 'all', renewed?: string): void {
    for (const socket of this.ctx.getWebSockets()) {
      const attachment = attachmentOf(socket)
      const { signInId } = attachment
      if (signInIds === 'all' || signInIds.includes(signInId)) closeSocket(socket, 'remote')
      // A tab that connects again before the answer is there would still send the old cookie.
      else if (signInId === renewed) socket.serializeAttachment({ ...attachment, isRenewed: true })
    }
  }

  /**
   * Closes the sockets of ended sign-ins. The `disconnect` call may have failed, and an idle sign-in expires
   * without one, so check again before a push.
   */
  async endSignedOut(): Promise<void> {
    const due = this.ctx.getWebSockets().filter((socket) => {
      const { checkedAt } = attachmentOf(socket)
      return Date.now() - checkedAt > CHECK_EVERY_MS
    })
    if (!due.length) return
    const ctx = await this.openContext()
    const ids = due.map((socket) => attachmentOf(socket).signInId)
    const live = new Set((await liveSignInsQuery(ctx, [...new Set(ids)])).map(({ id }) => id))
    for (const socket of due) {
      const attachment = attachmentOf(socket)
      if (live.has(attachment.signInId)) socket.serializeAttachment({ ...attachment, checkedAt: Date.now() })
      else endSocket(socket)
    }
  }

  private makeRoom(): void {
    const connectedAt = (socket: WorkerSocket) => attachmentOf(socket).connectedAt
    const sockets = this.ctx.getWebSockets().filter((socket) => socket.readyState === WebSocket.OPEN)
    const oldestFirst = sockets.sort((a, b) => connectedAt(a) - connectedAt(b))
    for (const socket of oldestFirst.slice(0, Math.max(0, sockets.length - MAX_SOCKETS + 1)))
      closeSocket(socket, 'too_many_sockets')
  }

  push(job: Job): void {
    // In the order in which it happened.
    for (const [kind, frameOf] of this.recent) {
      if (frameOf) this.tellAll(frameOf)
      this.recent.set(kind, null)
    }
    this.tellAll((identifier) => jobFrame(identifier, job))
  }

  tellAccount(): void {
    this.tellLast('account', accountFrame)
  }

  tellServer(event: ServerFrame, server: Server): void {
    this.tellLast(`${event} ${server.id}`, (identifier) => serverFrame(identifier, event, server))
  }

  tellLine(line: LinePlace | null): void {
    this.tellLast('line', (identifier) => lineFrame(identifier, line))
  }

  /** One of each kind a second, then the last one: frames for sockets that don't read stay in our memory. */
  private tellLast(kind: string, frameOf: FrameOf): void {
    const waits = this.recent.has(kind)
    this.recent.set(kind, waits ? frameOf : null)
    if (waits) return
    this.tellAll(frameOf)
    setTimeout(() => {
      const last = this.recent.get(kind)
      this.recent.delete(kind)
      if (last) this.tellLast(kind, last)
    }, SECOND_MS)
  }

  private tellAll(frameOf: FrameOf): void {
    for (const socket of this.ctx.getWebSockets()) {
      const { identifiers, expiresAt, isRenewed } = attachmentOf(socket)
      if (isRenewed || expiresAt < Date.now()) endSocket(socket)
      else for (const identifier of identifiers) sendTo(socket, frameOf(identifier))
    }
  }

  private isTooFast(socket: WorkerSocket): boolean {
    const second = Math.floor(Date.now() / 1000)
    const last = this.received.get(socket)
    const count = last?.second === second ? last.count + 1 : 1
    this.received.set(socket, { second, count })
    return count > MAX_MESSAGES_PER_SECOND
  }

  /**
   * Pings sockets that send no keepalive. The timer ends with the last of them, so that the object can
   * hibernate.
   */
  private keepPinging(): void {
    if (this.pinging) return
    this.pinging = true
    setTimeout(() => {
      this.pinging = false
      const now = Date.now()
      const silent = this.ctx.getWebSockets().filter((socket) => {
        const kept = this.ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0
        return now - kept > 2 * PING_EVERY_MS
      })
      for (const socket of silent) sendTo(socket, pingFrame(now))
      if (silent.length) this.keepPinging()
    }, PING_EVERY_MS)
  }
}
