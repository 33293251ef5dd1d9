import { DurableObject } from 'cloudflare:workers'
import type { DurableObjectState, WebSocket as WorkerSocket } from '@cloudflare/workers-types'
import type { ServerFrame } from '../../domain/cable.ts'
import type { LinePlace, Server } from '../../domain/wire/fleet.ts'
import { jobRunner } from '../fleet/jobs/runner.ts'
import type { JobChannelCalls } from '../ports/objects.ts'
import type { Context } from '../runtime/context.ts'
import { createContext } from '../runtime/create-context.ts'
import type { Env } from '../settings/env.ts'
import { log } from '../settings/log.ts'
import { JobAlarm } from './job-alarm.ts'
import { JobSockets } from './job-sockets.ts'

/**
 * One object per user. Its alarm runs the user's due jobs, one at a time, and it pushes every job change to
 * the user's sockets. It stores only the user's id, an alarm and the sockets; the truth is in the database.
 */
export class JobChannel extends DurableObject<Env> implements JobChannelCalls {
  private readonly jobAlarm: JobAlarm
  private readonly sockets: JobSockets
  private readonly runJobs = jobRunner(
    (job) => this.sockets.push(job),
    (event, server) => this.sockets.tellServer(event, server),
  )

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.jobAlarm = new JobAlarm(ctx.storage, (userId) => this.look(userId), log)
    this.sockets = new JobSockets(ctx, () => this.openContext(), log)
  }

  async arm(userId: string): Promise<void> {
    await this.jobAlarm.arm(userId)
  }

  async wake(userId: string): Promise<void> {
    await this.jobAlarm.wake(userId)
  }

  async tellAccount(): Promise<void> {
    this.recheckDoor()
    await this.sockets.endSignedOut()
    this.sockets.tellAccount()
  }

  async tellServer(event: ServerFrame, server: Server): Promise<void> {
    await this.sockets.endSignedOut()
    this.sockets.tellServer(event, server)
  }

  async tellLine(line: LinePlace | null): Promise<void> {
    await this.sockets.endSignedOut()
    this.sockets.tellLine(line)
  }

  async disconnect(signInIds: string[] | 'all', renewed?: string): Promise<void> {
    this.recheckDoor()
    this.sockets.disconnect(signInIds, renewed)
  }

  override async alarm(): Promise<void> {
    await this.jobAlarm.ring()
  }

  override async fetch(request: Request): Promise<Response> {
    return this.sockets.accept(request)
  }

  override async webSocketMessage(socket: WorkerSocket, message: string | ArrayBuffer): Promise<void> {
    await this.sockets.receive(socket, message)
  }

  override async webSocketClose(socket: WorkerSocket, code: number, reason: string): Promise<void> {
    try {
      socket.close(code, reason)
    } catch {
      // We may receive codes that the API doesn't let us send, such as 1005.
      socket.close(1000)
    }
  }

  private async look(userId: string) {
    const ctx = await this.openContext()
    this.recheckDoor(userId)
    await this.sockets.endSignedOut()
    const next = await this.runJobs(ctx, userId)
    const at = ctx.now()
    return { at, wait: next === null ? null : next - at }
  }

  /** Whatever we hear of may have ended someone's access: a sign-out, a suspension, the run's end. */
  private recheckDoor(userId = this.ctx.id.name): void {
    if (userId === undefined) return
    const asked = this.env.DOOR_KEEPER.getByName(userId).recheck()
    this.ctx.waitUntil(asked.catch((error) => log('door_recheck_failed', { userId }, error)))
  }

  private openContext(): Promise<Context> {
    return createContext(this.env, (work) => this.ctx.waitUntil(work), log)
  }
}
