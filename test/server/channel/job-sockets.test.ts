import type { DurableObjectState } from '@cloudflare/workers-types'
import { eq } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { jobs, serverSessions, servers, signIns } from '../../../db/schema.ts'
import type { Job } from '../../../src/domain/wire.ts'
import { JobSockets } from '../../../src/server/channel/job-sockets.ts'
import { newId } from '../../../src/server/id.ts'
import { openAccount, signedInUser } from '../../../testing/people/sign-up.ts'

// Sockets as the object finds them when it wakes, and a clock to move: workerd's own does not let a test. What the wire carries is tested in
// test/contract/cable/ and test/attacks/sockets.test.ts.

const MINUTE = 60_000
const REMOTE = { type: 'disconnect', reason: 'remote', reconnect: false }

function keptSocket(attachment: object) {
  let kept: unknown = attachment
  return {
    readyState: WebSocket.OPEN as number,
    frames: [] as unknown[],
    deserializeAttachment: () => structuredClone(kept),
    serializeAttachment(value: unknown) {
      kept = structuredClone(value)
    },
    send(frame: string) {
      if (this.readyState !== WebSocket.OPEN) throw new Error('The socket is closed.')
      this.frames.push(JSON.parse(frame))
    },
    close() {
      this.readyState = WebSocket.CLOSED
    },
  }
}

/** An object that wakes with these sockets of a signed-in person. */
async function wake(...attachments: Record<string, unknown>[]) {
  const account = openAccount()
  const { ctx } = account
  const { id: userId } = await signedInUser(account.browser, account)
  const [row] = await ctx.db.select().from(signIns).where(eq(signIns.userId, userId))
  const identifier = JSON.stringify({ channel: 'JobsChannel', user_id: userId })
  const common = { userId, signInId: row?.id, identifiers: [identifier], connectedAt: 0, checkedAt: Date.now() }
  const sockets = attachments.map((attachment) =>
    keptSocket({ ...common, expiresAt: Date.now() + 60 * MINUTE, ...attachment }),
  )
  const state = {
    getWebSockets: () => sockets.filter((socket) => socket.readyState === WebSocket.OPEN),
    setWebSocketAutoResponse() {},
    getWebSocketAutoResponseTimestamp: () => null,
  }
  const jobSockets = new JobSockets(state as unknown as DurableObjectState, async () => ctx, ctx.log)
  const revoke = () => ctx.db.update(signIns).set({ revokedAt: ctx.now() }).where(eq(signIns.userId, userId))
  return { ctx, jobSockets, sockets, identifier, userId, revoke }
}

async function unfinishedJob({ db, now }: Awaited<ReturnType<typeof wake>>['ctx'], userId: string): Promise<string> {
  const [serverId, sessionId, id, at] = [newId('srv'), newId('ses'), newId('job'), now()]
  const instanceType = 'g6.4xlarge'
  const place = { id: serverId, instanceType, availabilityZone: 'us-east-1a', position: 0 }
  // Retired, so that no other test gets it.
  await db.insert(servers).values({ ...place, retiredAt: at })
  await db.insert(serverSessions).values({ id: sessionId, userId, serverId, instanceType, requestedAt: at })
  const start = { id, userId, sessionId, kind: 'server_start', status: 'running', runAt: at } as const
  await db.insert(jobs).values({ ...start, createdAt: at, updatedAt: at })
  return id
}

const JOB = { id: 'job_1', status: 'running' } as Job
const told = (identifier: string) => ({ identifier, message: { event: 'job.updated', job: JOB } })

vi.stubGlobal('WebSocketRequestResponsePair', class {})
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

test('a sign-in that expired hears nothing, and is told that it ended', async () => {
  const { jobSockets, sockets, identifier } = await wake({ expiresAt: Date.now() + MINUTE }, {})
  jobSockets.push(JOB)
  vi.setSystemTime(Date.now() + MINUTE + 1)
  jobSockets.push(JOB)
  expect(sockets.map((socket) => socket.frames)).toEqual([
    [told(identifier), REMOTE],
    [told(identifier), told(identifier)],
  ])
  expect(sockets.map((socket) => socket.readyState)).toEqual([WebSocket.CLOSED, WebSocket.OPEN])
})

test('a sign-in that ended is found within a minute, and the database is not asked more often', async () => {
  const { ctx, jobSockets, sockets, revoke } = await wake({})
  await revoke()
  const asked = vi.spyOn(ctx.db.$client, 'execute')
  vi.setSystemTime(Date.now() + MINUTE)
  await jobSockets.endSignedOut(ctx)
  expect(asked).not.toHaveBeenCalled()
  vi.setSystemTime(Date.now() + 1)
  await jobSockets.endSignedOut(ctx)
  expect(sockets[0]).toMatchObject({ frames: [REMOTE], readyState: WebSocket.CLOSED })
})

test('a sign-in that still counts is looked at again a minute later', async () => {
  const { ctx, jobSockets, sockets, revoke } = await wake({ checkedAt: 0 })
  await jobSockets.endSignedOut(ctx)
  expect(sockets[0]?.frames).toEqual([])
  await revoke()
  vi.setSystemTime(Date.now() + MINUTE + 1)
  await jobSockets.endSignedOut(ctx)
  expect(sockets[0]?.frames).toEqual([REMOTE])
})

test('who signed out between the upgrade and the subscription is not kept', async () => {
  const { jobSockets, sockets, identifier, revoke } = await wake({ identifiers: [] })
  await revoke()
  const [socket] = sockets
  await jobSockets.receive(socket as never, JSON.stringify({ command: 'subscribe', identifier }))
  expect(socket).toMatchObject({
    frames: [{ type: 'confirm_subscription', identifier }, REMOTE],
    readyState: WebSocket.CLOSED,
  })
})

test('however often the sockets of a person subscribe, the database is asked once at a time, and each hears what is current', async () => {
  const { ctx, jobSockets, sockets, identifier, userId } = await wake(...Array(20).fill({ identifiers: [] }))
  const id = await unfinishedJob(ctx, userId)
  const batch = ctx.db.batch.bind(ctx.db)
  let [reads, atOnce, most] = [0, 0, 0]
  vi.spyOn(ctx.db, 'batch').mockImplementation(((queries: never) => {
    reads++
    most = Math.max(most, ++atOnce)
    return batch(queries).finally(() => atOnce--)
  }) as never)
  const say = (socket: unknown, command: string) =>
    jobSockets.receive(socket as never, JSON.stringify({ command, identifier }))
  const commands = ['subscribe', 'unsubscribe', 'subscribe']
  await Promise.all(sockets.flatMap((socket) => commands.map((command) => say(socket, command))))
  expect([most, reads]).toEqual([1, 2])
  const heard = { identifier, message: { event: 'job.updated', job: expect.objectContaining({ id }) } }
  for (const { frames } of sockets) expect(frames.at(-1)).toEqual(heard)
})

test('an object that wakes pings the sockets that do not keep themselves alive, until the last is gone', async () => {
  const { sockets } = await wake({})
  const [socket] = sockets
  vi.advanceTimersByTime(3_000)
  expect(socket?.frames).toEqual([{ type: 'ping', message: expect.any(Number) }])
  vi.advanceTimersByTime(3_000)
  expect(socket?.frames).toHaveLength(2)
  socket?.close()
  vi.advanceTimersByTime(3_000)
  expect(vi.getTimerCount()).toBe(0)
})
