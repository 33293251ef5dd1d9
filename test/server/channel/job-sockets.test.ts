import type { DurableObjectState } from '@cloudflare/workers-types'
import { eq } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { signIns } from '../../../db/schema/accounts.ts'
import { jobs, places, runs } from '../../../db/schema/fleet.ts'
import type { Job, Server } from '../../../src/domain/wire/fleet.ts'
import { JobSockets } from '../../../src/server/channel/job-sockets.ts'
import { newId } from '../../../src/server/crypto/id.ts'
import { openAccount, signedInUser } from '../../../testing/people/sign-up.ts'

// Sockets as the object finds them when it wakes, and a clock we can move, which workerd does not offer. What goes
// over the wire is tested in test/contract/cable/ and test/attacks/sockets.test.ts.

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

/** An object that wakes up with these sockets of a signed-in person. */
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
  const [placeId, runId, id, at] = [newId('srv'), newId('ses'), newId('job'), now()]
  const instanceType = 'g6.4xlarge'
  const place = { id: placeId, instanceType, availabilityZone: 'us-east-1a', position: 0 }
  // Retired, so that no other test gets it.
  await db.insert(places).values({ ...place, retiredAt: at })
  await db.insert(runs).values({ id: runId, userId, placeId, instanceType, requestedAt: at })
  const start = { id, userId, runId, kind: 'server_start', status: 'running', runAt: at } as const
  await db.insert(jobs).values({ ...start, createdAt: at, updatedAt: at })
  return id
}

type Heard = { message: { server?: Server } }
const JOB = { id: 'job_1', status: 'running' } as Job
const told = (identifier: string) => ({ identifier, message: { event: 'job.updated', job: JOB } })

vi.stubGlobal('WebSocketRequestResponsePair', class {})
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers().restoreAllMocks())

test('an expired sign-in receives nothing and learns that it ended', async () => {
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

test('tells each open page of its own account that it changed, and an expired sign-in that it ended', async () => {
  const { jobSockets, sockets, identifier } = await wake({ expiresAt: Date.now() - 1 }, {}, { identifiers: [] })
  jobSockets.tellAccount()
  expect(sockets.map((socket) => socket.frames)).toEqual([
    [REMOTE],
    [{ identifier, message: { event: 'account.updated' } }],
    [],
  ])
})

test('tells the last of many changes a second later, and before a job that comes after it', async () => {
  const { jobSockets, sockets } = await wake({})
  const name = (to: string) => jobSockets.tellServer('server.updated', { id: 'ses_1', name: to } as Server)
  const heard = () => sockets[0]?.frames.map((frame) => (frame as Heard).message.server?.name ?? 'job')
  for (let i = 0; i < 300; i++) name(`n${i}`)
  expect(heard()).toEqual(['n0'])
  vi.advanceTimersByTime(1_000)
  expect(heard()).toEqual(['n0', 'n299'])
  name('first')
  jobSockets.push(JOB)
  name('second')
  vi.advanceTimersByTime(1_000)
  expect(heard()).toEqual(['n0', 'n299', 'first', 'job', 'second'])
})

test('lets the tabs of a renewed sign-in connect again before the next push, and closes the others for good', async () => {
  const { jobSockets, sockets } = await wake({ signInId: 'in_old' }, { signInId: 'in_other' }, {})
  jobSockets.disconnect(['in_other'], 'in_old')
  expect(sockets.map(({ frames }) => frames)).toEqual([[], [REMOTE], []])
  jobSockets.tellAccount()
  expect(sockets.map(({ frames }) => frames)).toEqual([
    [{ type: 'disconnect', reason: 'server_restart', reconnect: true }],
    [REMOTE],
    [expect.objectContaining({ message: { event: 'account.updated' } })],
  ])
  expect(sockets.map(({ readyState }) => readyState)).toEqual([WebSocket.CLOSED, WebSocket.CLOSED, WebSocket.OPEN])
})

test('finds an ended sign-in within a minute, and asks the database no more often', async () => {
  const { ctx, jobSockets, sockets, revoke } = await wake({})
  await revoke()
  const asked = vi.spyOn(ctx.db.$client, 'execute')
  vi.setSystemTime(Date.now() + MINUTE)
  await jobSockets.endSignedOut()
  expect(asked).not.toHaveBeenCalled()
  vi.setSystemTime(Date.now() + 1)
  await jobSockets.endSignedOut()
  expect(sockets[0]).toMatchObject({ frames: [REMOTE], readyState: WebSocket.CLOSED })
})

test('checks a live sign-in again a minute later', async () => {
  const { jobSockets, sockets, revoke } = await wake({ checkedAt: 0 })
  await jobSockets.endSignedOut()
  expect(sockets[0]?.frames).toEqual([])
  await revoke()
  vi.setSystemTime(Date.now() + MINUTE + 1)
  await jobSockets.endSignedOut()
  expect(sockets[0]?.frames).toEqual([REMOTE])
})

test('asks the database about a live sign-in once a minute', async () => {
  const { ctx, jobSockets } = await wake({ checkedAt: 0 })
  await jobSockets.endSignedOut()
  const asked = vi.spyOn(ctx.db.$client, 'execute')
  vi.setSystemTime(Date.now() + MINUTE)
  await jobSockets.endSignedOut()
  expect(asked).not.toHaveBeenCalled()
})

test('a subscriber whose jobs cannot be read is asked to connect again', async () => {
  const { ctx, jobSockets, sockets, identifier } = await wake({ identifiers: [] })
  vi.spyOn(ctx.db, 'batch').mockRejectedValueOnce(new Error('the database is away'))
  await jobSockets.receive(sockets[0] as never, JSON.stringify({ command: 'subscribe', identifier }))
  expect(sockets[0]).toMatchObject({
    frames: [
      { type: 'confirm_subscription', identifier },
      { type: 'disconnect', reason: 'server_restart', reconnect: true },
    ],
    readyState: WebSocket.CLOSED,
  })
})

test('someone who unsubscribes while we read their jobs hears nothing of them', async () => {
  const { ctx, jobSockets, sockets, identifier, userId } = await wake({ identifiers: [] })
  await unfinishedJob(ctx, userId)
  const say = (command: string) => jobSockets.receive(sockets[0] as never, JSON.stringify({ command, identifier }))
  await Promise.all([say('subscribe'), say('unsubscribe')])
  expect(sockets[0]?.frames).toEqual([{ type: 'confirm_subscription', identifier }])
})

test('disconnects the sockets of one sign-in, or all of them', async () => {
  const { jobSockets, sockets } = await wake({ signInId: 'in_1' }, { signInId: 'in_2' }, { signInId: 'in_3' })
  const frames = () => sockets.map((socket) => socket.frames)
  jobSockets.disconnect(['in_2'])
  expect(frames()).toEqual([[], [REMOTE], []])
  jobSockets.disconnect('all')
  expect(frames()).toEqual([[REMOTE], [REMOTE], [REMOTE]])
})

test('drops someone who signed out between the upgrade and the subscription', async () => {
  const { jobSockets, sockets, identifier, revoke } = await wake({ identifiers: [] })
  await revoke()
  const [socket] = sockets
  await jobSockets.receive(socket as never, JSON.stringify({ command: 'subscribe', identifier }))
  expect(socket).toMatchObject({
    frames: [{ type: 'confirm_subscription', identifier }, REMOTE],
    readyState: WebSocket.CLOSED,
  })
})

test("however often a person's sockets subscribe, asks the database once at a time, and each gets current jobs", async () => {
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

test('an object that wakes up pings the sockets that do not ping it, until the last is gone', async () => {
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
