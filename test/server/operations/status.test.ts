import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { jobs, places } from '../../../db/schema/fleet.ts'
import { incidents } from '../../../db/schema/operations.ts'
import type { JobErrorCode } from '../../../src/domain/run-end.ts'
import { newId } from '../../../src/server/crypto/id.ts'
import { checkStarts, readStatus } from '../../../src/server/operations/status.ts'
import { openBillingStack } from '../../../testing/stack/billing-stack.ts'

const MINUTE = 60_000
const stack = await openBillingStack(Date.UTC(2026, 10, 20, 12))
const { db, ctx, clock } = stack
const [ada, bob] = [await stack.newUser(), await stack.newUser()]

async function check(afterMinutes = 1) {
  clock.now += afterMinutes * MINUTE
  await checkStarts(ctx)
  return (await readStatus(ctx)).incidents.map(({ kind, endedAt }) => (endedAt === null ? kind : `${kind}, over`))
}

async function endStart(userId: string, errorCode: JobErrorCode | null): Promise<void> {
  const runId = await stack.insertRun(userId, { from: clock.now, until: clock.now })
  clock.now += 1
  const status = errorCode ? ('failed' as const) : ('succeeded' as const)
  const job = { id: newId('job'), userId, runId, kind: 'server_start' as const, status, errorCode }
  await db.insert(jobs).values({ ...job, createdAt: clock.now, updatedAt: clock.now })
}

const forget = async () => {
  await db.delete(incidents)
  await db.delete(jobs)
}

test('a full fleet is an incident until a place is free, and the same incident if it fills up again at once', async () => {
  expect(await check()).toEqual([])
  await db.update(places).set({ reservedBy: 'ses_x' })
  const since = clock.now + MINUTE
  expect(await check()).toEqual(['full'])
  expect(await check()).toEqual(['full'])
  await db.update(places).set({ reservedBy: null })
  expect(await check()).toEqual(['full, over'])
  await db.update(places).set({ reservedBy: 'ses_x' })
  expect(await check(4)).toEqual(['full'])
  const [only] = (await readStatus(ctx)).incidents
  expect(only?.startedAt).toBe(since)
  await db.update(places).set({ reservedBy: null })
  await check()
  await db.update(places).set({ reservedBy: 'ses_x' })
  await check(5)
  expect(await check()).toEqual(['full', 'full, over'])
  await db.update(places).set({ reservedBy: null })
  await check()
  await forget()
})

test('starts count as failing after one account-wide refusal, or three faults in a row of two people', async () => {
  await endStart(ada.id, 'launch_refused')
  expect(await check()).toEqual(['failing'])
  await endStart(ada.id, null)
  expect(await check()).toEqual(['failing, over'])
  await forget()
  for (const _ of [1, 2, 3]) await endStart(ada.id, 'no_answer')
  expect(await check()).toEqual([])
  await endStart(bob.id, 'timeout')
  expect(await check()).toEqual(['failing'])
  // What people did themselves, and a full fleet, say nothing about starts.
  await endStart(ada.id, 'stopped')
  await endStart(bob.id, 'no_capacity')
  expect(await check()).toEqual(['failing'])
  await check(4)
  await db.update(jobs).set({ updatedAt: sql`updated_at - ${30 * MINUTE}` })
  expect(await check()).toEqual(['failing, over'])
  await forget()
})

test('a silence of more than five minutes is an incident, once', async () => {
  expect(await check(5)).toEqual([])
  const last = clock.now
  clock.now += 5 * MINUTE + 1
  await Promise.all([checkStarts(ctx), checkStarts(ctx)])
  expect((await readStatus(ctx)).incidents).toEqual([{ kind: 'down', startedAt: last, endedAt: clock.now }])
  await forget()
})

test('two triggers at once begin one incident', async () => {
  await db.update(places).set({ reservedBy: 'ses_x' })
  await Promise.all([checkStarts(ctx), checkStarts(ctx)])
  expect(await db.$count(incidents)).toBe(1)
  await forget()
})

test('remembers 90 days', async () => {
  const day = 24 * 60 * MINUTE
  const over = (days: number) => ({
    id: String(days),
    kind: 'full' as const,
    startedAt: 0,
    endedAt: clock.now - days * day,
  })
  await db.insert(incidents).values([over(90), { ...over(89) }])
  expect((await readStatus(ctx)).incidents).toHaveLength(1)
})
