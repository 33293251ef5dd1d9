import { afterEach, beforeEach, expect, test } from 'vitest'
import { FALLBACK_MS, JobAlarm, type Look } from '../../../src/server/channel/job-alarm.ts'
import { KeptStorage, storageOf } from '../../../testing/stack/alarm-storage.ts'
import { inBrief, recordLog } from '../../../testing/stack/recorded-log.ts'

const { log, takeLines } = recordLog()
afterEach(() => expect(inBrief(takeLines())).toEqual([]))
const clock = { ms: 1_000_000 }
const spread = { random: 0 }
let kept: KeptStorage
let look: Look
let alarm: JobAlarm

beforeEach(() => {
  clock.ms = 1_000_000
  spread.random = 0
  kept = new KeptStorage()
  look = async () => ({ at: clock.ms, wait: null })
  alarm = open(() => {})
})

/** @param alive throws once the process is killed; nothing is stored after that */
function open(alive: () => void): JobAlarm {
  const times = { now: () => clock.ms, random: () => spread.random }
  return new JobAlarm(storageOf(kept, alive), (userId) => look(userId), log, times)
}

/** As the platform does: the alarm is cleared when its handler runs. */
async function ring(): Promise<void> {
  clock.ms = Math.max(clock.ms, kept.alarm ?? 0)
  kept.alarm = null
  await alarm.ring()
}

test('a process that dies in its first read leaves an alarm', async () => {
  kept.values.set('userId', 'user_1')
  const storage = storageOf(kept, () => {})
  const dying = { ...storage, get: async () => Promise.reject(new Error('killed')) }
  const doomed = new JobAlarm(dying, look, log, { now: () => clock.ms })
  await expect(doomed.ring()).rejects.toThrow('killed')
  expect(kept.alarm).toBe(clock.ms + FALLBACK_MS)
})

test('a process that dies while working leaves an alarm', async () => {
  await alarm.wake('user_1')
  let seen: number | null = null
  look = async () => {
    seen = kept.alarm
    return { at: clock.ms, wait: null }
  }
  await ring()
  expect(seen).toBe(clock.ms + FALLBACK_MS)
})

test('once armed, checks again in time, even if an earlier check found nothing due', async () => {
  await alarm.arm('user_1')
  const until = clock.ms + FALLBACK_MS
  clock.ms += 1_000
  kept.alarm = clock.ms
  await ring()
  expect(kept.alarm).toBe(until)
  await ring()
  expect(kept.alarm).toBeNull()
})

test('arming never delays an earlier alarm, and brings a later one forward', async () => {
  kept.alarm = clock.ms + 5_000
  await alarm.arm('user_1')
  expect(kept.alarm).toBe(clock.ms + 5_000)
  kept.alarm = clock.ms + 500_000
  await alarm.arm('user_1')
  expect(kept.alarm).toBe(clock.ms + FALLBACK_MS)
})

test.each(['succeeds', 'fails'])('woken during a check that %s, checks again at once', async (how) => {
  await alarm.wake('user_1')
  look = async () => {
    await alarm.wake('user_1')
    if (how === 'fails') throw new Error('the database is away')
    return { at: clock.ms, wait: 60_000 }
  }
  await ring()
  expect(kept.alarm).toBe(clock.ms)
  expect(inBrief(takeLines())).toEqual(how === 'fails' ? ['alarm_failed'] : [])
  look = async () => ({ at: clock.ms, wait: 60_000 })
  await ring()
  expect(kept.alarm).toBe(clock.ms + 60_000)
})

test('retries failed checks less and less often, across processes, and not all at the same time', async () => {
  await alarm.wake('user_1')
  look = async () => {
    throw new Error('the database is away')
  }
  const waits: number[] = []
  for (let i = 0; i < 5; i++) {
    await ring()
    waits.push((kept.alarm ?? 0) - clock.ms)
    alarm = open(() => {})
  }
  expect(waits).toEqual([5_000, 10_000, 20_000, 30_000, 30_000])
  spread.random = 0.5
  await ring()
  expect((kept.alarm ?? 0) - clock.ms).toBe(37_500)

  // A successful check resets this: the next failure counts as the first.
  spread.random = 0
  look = async () => ({ at: clock.ms, wait: 1_000 })
  await ring()
  look = async () => {
    throw new Error('the database is away')
  }
  await ring()
  expect((kept.alarm ?? 0) - clock.ms).toBe(5_000)
  const line = { event: 'alarm_failed', userId: 'user_1', error: [{ message: 'the database is away' }] }
  expect(takeLines()).toMatchObject(Array(7).fill(line))
})

test('retries as slowly as configured', async () => {
  const slow = new JobAlarm(
    storageOf(kept, () => {}),
    async () => {
      throw new Error('EC2 is away')
    },
    log,
    { now: () => clock.ms, random: () => 0, retryMs: { first: 30_000, latest: 60_000 } },
  )
  await slow.wake('fleet')
  const waits: number[] = []
  for (let i = 0; i < 3; i++) {
    await slow.ring()
    waits.push((kept.alarm ?? 0) - clock.ms)
  }
  expect(waits).toEqual([30_000, 60_000, 60_000])
  takeLines()
})

test('when revived, rings now if the alarm was lost or is long past, and keeps one that is still to come', async () => {
  kept.values.set('lookedAt', clock.ms)
  await alarm.revive('user_1', clock.ms)
  expect(kept.alarm).toBe(clock.ms)
  kept.alarm = clock.ms + 45_000
  await alarm.revive('user_1', clock.ms)
  expect(kept.alarm).toBe(clock.ms + 45_000)
  kept.alarm = clock.ms - FALLBACK_MS - 1
  await alarm.revive('user_1', clock.ms)
  expect(kept.alarm).toBe(clock.ms)
})

test("when revived, rings now if its last check is long past by the product's clock", async () => {
  const now = 9_000_000
  kept.values.set('userId', 'user_1')
  kept.alarm = clock.ms
  const due = clock.ms + 60_000
  look = async () => ({ at: now, wait: 60_000 })
  await ring()
  await alarm.revive('user_1', now + 90_000)
  expect(kept.alarm).toBe(due)
  await alarm.revive('user_1', now + 90_001)
  expect(kept.alarm).toBe(clock.ms)
})
