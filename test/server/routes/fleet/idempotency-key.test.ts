import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { idempotencyKeys, jobs, places, runs } from '../../../../db/schema/fleet.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { openSite } from '../../../../testing/stack/site.ts'

const site = await openSite()
const AUTO = '/api/v1/aws/auto_cloud_start_request'
const START = '/api/v1/aws/start'
const STOP = '/api/v1/aws/stop_server'

async function program() {
  const { userId } = await site.signInAs('user')
  await site.giveEndedTrial(userId)
  const { headers } = await site.tokenOf(userId, 'operate')
  const placeId = newId('srv')
  await site.db.insert(places).values({ id: placeId, instanceType: 'g6', availabilityZone: 'a', position: 1 })
  const send = async (path: string, body: unknown, key?: string) => {
    const response = await site.request(path, {
      method: 'POST',
      headers: {
        ...headers,
        'Content-Type': 'application/json',
        ...(key === undefined ? {} : { 'Idempotency-Key': key }),
      },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as Record<string, never> }
  }
  const runsOf = () => site.db.select().from(runs).where(eq(runs.userId, userId))
  const stop = async (key?: string) => {
    const [run] = await runsOf()
    return send(STOP, { server_id: run?.placeId, session_id: run?.id }, key)
  }
  /** The machine is gone, and its place is free. */
  const end = async () => {
    const now = Date.now()
    await site.db.update(runs).set({ endedAt: now, stopRequestedAt: now }).where(eq(runs.userId, userId))
    await site.db.update(places).set({ reservedBy: null }).where(eq(places.id, placeId))
  }
  return { userId, placeId, send, stop, end, runsOf }
}

test.each([AUTO, START])(
  '%s twice with a key starts once and answers the same, even though the run has changed',
  async (path) => {
    const { placeId, send, runsOf, userId } = await program()
    const first = await send(path, { server_id: placeId }, 'a')
    expect(first.status).toBe(202)
    await site.db.update(runs).set({ runningAt: Date.now(), ipAddress: '203.0.113.1' }).where(eq(runs.userId, userId))
    expect(await send(path, { server_id: placeId }, 'a')).toEqual(first)
    expect(await runsOf()).toHaveLength(1)
    // Without the key, or with another one, it is a new start.
    for (const key of [undefined, 'b']) expect((await send(path, { server_id: placeId }, key)).status).toBe(409)
  },
)

test('the same key starts nothing again after the server has stopped', async () => {
  const { send, end, runsOf } = await program()
  const first = await send(AUTO, {}, 'a')
  await end()
  expect(await send(AUTO, {}, 'a')).toEqual(first)
  expect(await runsOf()).toHaveLength(1)
  expect((await send(AUTO, {}, 'b')).status).toBe(202)
})

test('a stop answers the same while it is in progress and afterward', async () => {
  const { send, stop, end } = await program()
  await send(AUTO, {})
  const first = await stop('s')
  expect(first.status).toBe(202)
  expect((await stop()).body.job_id).toBe(first.body.job_id)
  await end()
  expect(await stop('s')).toEqual(first)
  expect((await stop()).status).toBe(409)
})

test('another body or another call with a used key is refused, and changes nothing', async () => {
  const { send, stop, runsOf, placeId } = await program()
  await send(AUTO, {}, 'a')
  for (const refused of [
    await send(AUTO, { x: 1 }, 'a'),
    await send(START, { server_id: placeId }, 'a'),
    await stop('a'),
  ]) {
    expect(refused.status).toBe(422)
    expect(refused.body.error).toBe('You used this Idempotency-Key for another call. Use a new one.')
  }
  expect((await runsOf())[0]?.stopRequestedAt).toBeNull()
  // Also where the call would do nothing.
  await stop()
  expect((await stop('a')).status).toBe(422)
})

test('five at once with one key are one start, and all get the same answer', async () => {
  const { send, runsOf } = await program()
  const answers = await Promise.all(Array.from({ length: 5 }, () => send(AUTO, {}, 'a')))
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
  expect(answers[0]?.status).toBe(202)
  expect(await runsOf()).toHaveLength(1)
})

test('a start and a stop at once with one key: one of them is refused', async () => {
  const { send, stop } = await program()
  await send(AUTO, {})
  const answers = await Promise.all([stop('a'), send(AUTO, {}, 'a')])
  expect(answers.map(({ status }) => status)).toEqual([
    202,
    expect.toSatisfy((status) => status === 409 || status === 422),
  ])
})

test('people share no keys', async () => {
  const [ada, eve] = [await program(), await program()]
  const hers = await ada.send(AUTO, {}, 'a')
  const other = await eve.send(AUTO, {}, 'a')
  expect([hers.status, other.status]).toEqual([202, 202])
  expect(other.body.job_id).not.toBe(hers.body.job_id)
})

test('a refused call leaves its key free', async () => {
  const { send, stop, end } = await program()
  await send(AUTO, {})
  expect((await send(AUTO, {}, 'a')).status).toBe(409)
  await stop()
  await end()
  expect((await send(AUTO, { x: 1 }, 'a')).status).toBe(202)
})

test('a key is tied to its call for 24 hours', async () => {
  const { userId, send, end, runsOf } = await program()
  await send(AUTO, {}, 'a')
  await end()
  const age = (ms: number) =>
    site.db
      .update(idempotencyKeys)
      .set({ createdAt: Date.now() - ms })
      .where(eq(idempotencyKeys.userId, userId))
  await age(24 * 3_600_000 - 60_000)
  await send(AUTO, {}, 'a')
  expect(await runsOf()).toHaveLength(1)
  await age(24 * 3_600_000)
  const again = await send(AUTO, { x: 1 }, 'a')
  expect(again.status).toBe(202)
  expect(await runsOf()).toHaveLength(2)
  expect(await send(AUTO, { x: 1 }, 'a')).toEqual(again)
})

test.each(['', ' '.repeat(256), 'schlüssel'])('the key %j is malformed', async (key) => {
  const { send } = await program()
  expect((await send(AUTO, {}, key)).status).toBe(400)
})

test('an answer that was lost in a crash is given to the call that repeats it', async () => {
  const { userId, send, end } = await program()
  const first = await send(AUTO, {}, 'a')
  // The process died after the start was written and before it answered.
  await site.db.update(idempotencyKeys).set({ answer: null }).where(eq(idempotencyKeys.userId, userId))
  const again = await send(AUTO, {}, 'a')
  expect(again).toEqual(first)
  await end()
  expect(await send(AUTO, {}, 'a')).toEqual(again)
  expect(await site.db.$count(jobs, eq(jobs.userId, userId))).toBe(1)
})
