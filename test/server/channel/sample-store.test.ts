import type { DurableObjectStorage } from '@cloudflare/workers-types'
import { beforeEach, expect, test } from 'vitest'
import { METRICS, type Sample } from '../../../src/domain/run-metrics.ts'
import { SampleStore } from '../../../src/server/channel/sample-store.ts'
import { objectStorage } from '../../../testing/stack/object-storage.ts'

const HOUR = 3_600_000
const BEGAN = 1_800_000_000_000

let writes = 0
let storage: DurableObjectStorage
let store: SampleStore
beforeEach(() => {
  writes = 0
  storage = objectStorage(() => writes++)
  store = new SampleStore(storage)
})

function sample(at: number, known: Partial<Sample> = {}): Sample {
  const unknown = Object.fromEntries(METRICS.map((name) => [name, null])) as Record<(typeof METRICS)[number], null>
  return { at, disk_total_bytes: null, ...unknown, ...known }
}

/** One each 10 seconds, as a machine sends them: three at once. */
function run(from: number, until: number, known: (at: number) => Partial<Sample>): void {
  for (let at = from + 10_000; at <= until; at += 30_000) {
    const times = [at, at + 10_000, at + 20_000].filter((one) => one <= until)
    const batch = times.map((one) => sample(one, known(one)))
    store.add(batch, Math.max(...times))
  }
}

test('before its first sample it has written nothing, and has nothing', () => {
  expect(store.newest()).toBeNull()
  expect(store.read(0, BEGAN)).toEqual({ everySeconds: 3_600, samples: [] })
  store.clear()
  expect(writes).toBe(0)
})

test('the last hour is fine, 12 hours are by the minute, and more is by ten minutes', () => {
  const end = BEGAN + 20 * HOUR
  run(BEGAN, end, (at) => ({ memory_bytes: at - BEGAN, sent_bytes: (at - BEGAN) / 1_000 }))
  const hour = store.read(end - HOUR, end)
  expect([hour.everySeconds, hour.samples.length]).toEqual([10, 361])
  expect(hour.samples[0]?.at).toBe(end - HOUR)
  const half = store.read(end - 12 * HOUR, end)
  expect([half.everySeconds, half.samples.length]).toEqual([60, 720])
  const all = store.read(BEGAN, end)
  expect(all.everySeconds).toBe(600)
  // 20 hours, and the moment that the last one begins with.
  expect(all.samples.length).toBe(121)
  for (const { samples } of [hour, half, all]) {
    expect(samples.at(-1)?.at).toBe(end)
    expect(samples.map(({ at }) => at)).toEqual([...new Set(samples.map(({ at }) => at))].sort())
    // The highest of each period is its last, and so is its count.
    for (const { at, memory_bytes, sent_bytes } of samples)
      expect([memory_bytes, sent_bytes]).toEqual([at - BEGAN, (at - BEGAN) / 1_000])
  }
})

test('the first batch may reach over a minute', () => {
  store.add(
    [0, 59_000, 61_000].map((ms) => sample(BEGAN + ms, { disk_bytes: ms })),
    BEGAN + 61_000,
  )
  expect(store.read(BEGAN, BEGAN + 61_000).samples.length).toBe(3)
  const minutes = store.read(BEGAN - 2 * HOUR, BEGAN + 61_000)
  expect(minutes.samples.map(({ disk_bytes }) => disk_bytes)).toEqual([59_000, 61_000])
})

test('a quiet batch writes one row', () => {
  run(BEGAN, BEGAN + HOUR, () => ({}))
  writes = 0
  run(BEGAN + HOUR, BEGAN + 2 * HOUR, () => ({}))
  // Beside 120 batches: the ends of minutes, ten minutes, and an hour, and two writes for each new chunk.
  expect(writes).toBeLessThanOrEqual(120 + 60 + 6 + 1 + 2 * 8)
})

test('it never has more than 780 samples of a kind, whatever a machine sends', () => {
  for (let i = 0; i < 3_000; i++) store.add([sample(BEGAN + i)], BEGAN + i)
  expect(store.read(BEGAN, BEGAN + 3_000).samples.length).toBe(720)
  expect(storage.sql.exec('SELECT first FROM samples').toArray().length).toBeLessThanOrEqual(13)
})

test('what it has already, or what is older, adds nothing; after a restart it knows that too', () => {
  store.add([sample(BEGAN, { cpu_percent: 1 })], BEGAN)
  store = new SampleStore(storage)
  store.add([sample(BEGAN, { cpu_percent: 2 }), sample(BEGAN - 1, { cpu_percent: 3 })], BEGAN)
  expect(store.read(BEGAN - HOUR, BEGAN).samples).toEqual([sample(BEGAN, { cpu_percent: 1 })])
  store.clear()
  expect(store.newest()).toBeNull()
})
