import type { WebSocket as WorkerSocket } from '@cloudflare/workers-types'
import { jobFrame } from '../../domain/cable.ts'
import { liveSignInsQuery } from '../accounts/live-sign-ins.ts'
import { currentJobsQuery } from '../fleet/dashboard.ts'
import { toJob } from '../fleet/wire.ts'
import type { Context } from '../runtime/context.ts'
import type { Log } from '../settings/log.ts'
import { attachmentOf, endSocket, restartSocket, sendTo } from './job-socket.ts'

/** Tells clients that subscribe what they missed: the unfinished jobs, and the latest one. */
export class MissedJobs {
  /** Subscriptions waiting for the next read of the current jobs. */
  private waiting = new Map<WorkerSocket, Set<string>>()
  private telling = false
  private readonly openContext: () => Promise<Context>
  private readonly log: Log

  constructor(openContext: () => Promise<Context>, log: Log) {
    this.openContext = openContext
    this.log = log
  }

  /**
   * Reads once for all who subscribed since the last read, so that a few people who resubscribe in a loop
   * can't keep the database busy.
   */
  async tell(userId: string, socket: WorkerSocket, identifier: string): Promise<void> {
    this.waiting.set(socket, (this.waiting.get(socket) ?? new Set()).add(identifier))
    if (this.telling) return
    this.telling = true
    try {
      while (this.waiting.size) {
        const waiting = this.waiting
        this.waiting = new Map()
        await this.tellCurrent(waiting, userId)
      }
    } finally {
      this.telling = false
    }
  }

  /**
   * Sends what the clients missed. If that can't be read now, asks them to reconnect instead of leaving them
   * unaware.
   */
  private async tellCurrent(waiting: Map<WorkerSocket, Set<string>>, userId: string): Promise<void> {
    try {
      const ctx = await this.openContext()
      const ids = [...waiting.keys()].map((socket) => attachmentOf(socket).signInId)
      const [live, current] = await ctx.db.batch([
        liveSignInsQuery(ctx, [...new Set(ids)]),
        currentJobsQuery(ctx, userId),
      ])
      for (const [socket, identifiers] of waiting) {
        const { signInId, identifiers: subscribed } = attachmentOf(socket)
        // They may have signed out during the upgrade, before `disconnect` could see this socket.
        if (!live.some(({ id }) => id === signInId)) {
          endSocket(socket)
          continue
        }
        // Skip those that have unsubscribed since.
        for (const identifier of subscribed.filter((one) => identifiers.has(one)))
          for (const { job, run } of current) sendTo(socket, jobFrame(identifier, toJob(job, run, ctx.config)))
      }
    } catch (error) {
      this.log('socket_failed', { userId }, error)
      for (const socket of waiting.keys()) restartSocket(socket)
    }
  }
}
