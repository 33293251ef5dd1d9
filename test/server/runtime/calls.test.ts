import { eq } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { callCounts } from '../../../db/schema/operations.ts'
import { AppError } from '../../../src/domain/error.ts'
import { counted, writeCounts } from '../../../src/server/runtime/calls.ts'
import { ownDatabase } from '../../../testing/stack/own-database.ts'
import { recordLog } from '../../../testing/stack/recorded-log.ts'
import { openSite } from '../../../testing/stack/site.ts'

const db = await ownDatabase()
const { log, takeLines } = recordLog()
const start = Date.UTC(2026, 10, 20, 12)
let minutes = 0
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: start + minutes++ * 3_600_000 })
})
afterEach(() => vi.useRealTimers())

const cloud = counted('ec2', {
  launch: async (outcome: 'ok' | 'place' | 'no' | 'silent' | 'bug') => {
    if (outcome === 'ok') return { id: 'i-1' }
    if (outcome === 'place') return { refused: 'place' }
    if (outcome === 'bug') throw new Error('a bug')
    throw new AppError('unavailable', 'No.', { retryable: outcome === 'silent' })
  },
})

const kept = async () => {
  const rows = await db.select().from(callCounts).where(eq(callCounts.system, 'ec2'))
  return Object.fromEntries(rows.map(({ call, outcome, count }) => [`${call} ${outcome}`, count]))
}

test('counts the outcome of each call, and writes once a minute', async () => {
  await cloud.launch('ok')
  await cloud.launch('place')
  for (const outcome of ['no', 'silent', 'bug'] as const) await expect(cloud.launch(outcome)).rejects.toThrow()
  pass(59_999)
  await writeCounts({ db, log }, Date.now())
  expect(await kept()).toEqual({})
  pass(1)
  await Promise.all([writeCounts({ db, log }, Date.now()), writeCounts({ db, log }, Date.now())])
  expect(await kept()).toEqual({ 'launch ok': 1, 'launch refused': 2, 'launch failed': 2 })
  await cloud.launch('ok')
  pass(60_000)
  await writeCounts({ db, log }, Date.now())
  expect(await kept()).toMatchObject({ 'launch ok': 2 })
})

test('keeps the counts while the database does not answer', async () => {
  await cloud.launch('ok')
  pass(60_000)
  await writeCounts(
    {
      db: {
        insert: () => ({ values: () => ({ onConflictDoUpdate: async () => Promise.reject(new Error('down')) }) }),
      } as never,
      log,
    },
    Date.now(),
  )
  expect(takeLines()).toMatchObject([{ event: 'counts_not_written' }])
  pass(60_000)
  await writeCounts({ db, log }, Date.now())
  expect(await kept()).toMatchObject({ 'launch ok': 3 })
})

test('counts a webhook with a wrong signature, but not one that Stripe never sends, and calls of the database', async () => {
  const site = await openSite({}, db)
  const body = new URLSearchParams({ id: 'evt_1' }).toString()
  const forged = 'f'.repeat(64)
  const scans = [{}, ...['', 't=1', `v1=${forged}`, `t=1,v1=${forged}0`].map((text) => ({ 'Stripe-Signature': text }))]
  const signed = ['', 'v0=ff,'].map((other) => ({ 'Stripe-Signature': `t=1,${other}v1=${forged}` }))
  for (const headers of [...scans, ...signed]) {
    const answer = await site.request('/webhooks/stripe', { method: 'POST', body, headers })
    expect(answer.status).toBe(400)
  }
  await site.request('/readyz')
  pass(60_000)
  await site.request('/readyz')
  await site.settle()
  const rows = await site.db.select().from(callCounts)
  const outcomes = rows.map(({ system, call, outcome }) => `${system} ${call} ${outcome}`)
  expect(outcomes).toEqual(expect.arrayContaining(['webhook stripe refused', 'database query ok']))
  expect(rows.find(({ system }) => system === 'webhook')).toMatchObject({ outcome: 'refused', count: signed.length })
})
