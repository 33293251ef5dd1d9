import { expect, test } from 'vitest'
import { FIRST_BYTES, LAST_BYTES, type LogLine, PART_LINES } from '../../../src/domain/run-log.ts'
import type { Sample } from '../../../src/domain/run-metrics.ts'
import { LogStore } from '../../../src/server/channel/log-store.ts'
import type { LogBatch } from '../../../src/server/ports/objects.ts'
import { seededRandom } from '../../../testing/random.ts'
import { objectStorage } from '../../../testing/stack/object-storage.ts'

const SEEDS = 40

function readAll(store: LogStore, after = 0): LogLine[] {
  const lines: LogLine[] = []
  for (let at = after; ; ) {
    const part = store.partAfter(at, true)
    expect(part.lines.length).toBeLessThanOrEqual(PART_LINES + 1)
    lines.push(...part.lines)
    if (part.complete) return lines
    expect(part.next).toBeGreaterThan(at)
    at = part.next
  }
}

test.each(Array.from({ length: SEEDS }, (_, seed) => seed))(
  'whatever is sent, its first 1 MB and its last 4 MB stay: seed %i',
  (seed) => {
    const random = seededRandom(seed)
    const storage = objectStorage()
    let store = new LogStore(storage)
    const sent: { n: number; text: string }[] = []
    let first = 1
    const batches = random.between(1, 400)
    for (let i = 0; i < batches; i++) {
      // What the machine couldn't send.
      if (random.chance(0.05)) first += random.between(1, 50)
      const count = random.between(0, 60)
      const texts = Array.from({ length: count }, () => 'x'.repeat(random.between(0, random.chance(0.3) ? 8_000 : 300)))
      const lines = texts.map((text) => ({ at: 0, source: 'stdout' as const, text }))
      const batch = { first, lines, phase: null, samples: [], complete: false }
      store.append(batch, 0)
      // Its answer was lost.
      if (random.chance(0.1)) store.append(batch, 0)
      if (random.chance(0.05)) store = new LogStore(storage)
      sent.push(...texts.map((text, k) => ({ n: first + k, text })))
      first += count
    }
    const all = readAll(store)
    const notes = all.filter(({ source }) => source === 'machine')
    const kept = all.filter(({ source }) => source !== 'machine')
    const size = (lines: { text: string }[]) =>
      lines.reduce((sum, { text }) => sum + Math.max(text.length + 1, text.length / 2 + 4), 0)
    const bySent = new Map(sent.map((line) => [line.n, line.text]))
    expect(kept.filter(({ n, text }) => bySent.get(n) !== text)).toEqual([])
    expect(all.map(({ n }) => n)).toEqual(all.map(({ n }) => n).toSorted((a, b) => a - b))
    const isKept = new Set(kept.map(({ n }) => n))
    const gone = sent.filter(({ n }) => !isKept.has(n))
    expect(notes.length).toBe(gone.length ? 1 : 0)
    if (gone.length) {
      const [from, until] = [gone[0]?.n ?? 0, gone.at(-1)?.n ?? 0]
      // Right after the first ones: what the machine couldn't send is missing as well.
      expect(notes[0]?.n).toBe((kept.findLast(({ n }) => n < from)?.n ?? 0) + 1)
      expect(size(sent.filter(({ n }) => n < from))).toBeGreaterThanOrEqual(FIRST_BYTES)
      expect(size(sent.filter(({ n }) => n > until))).toBeGreaterThanOrEqual(LAST_BYTES)
      expect(gone.length).toBe(sent.filter(({ n }) => n >= from && n <= until).length)
    } else expect(kept.length).toBe(sent.length)
    const after = random.between(0, first)
    expect(readAll(store, after).filter(({ source }) => source !== 'machine')).toEqual(
      kept.filter(({ n }) => n > after),
    )
    expect(store.tail(20).map(({ n }) => n)).toEqual(kept.slice(-20).map(({ n }) => n))
  },
)

test.each([
  ['empty lines', ''],
  ['control characters', '\u0000'.repeat(100)],
])('a flood of %s takes twice the limit at most', (_, text) => {
  const storage = objectStorage()
  const store = new LogStore(storage)
  const lines = Array.from({ length: text ? 2_000 : 20_000 }, () => ({ at: 1e12, source: 'stdout' as const, text }))
  for (let i = 0; i < 50; i++)
    store.append({ first: 1 + lines.length * i, lines, phase: null, samples: [], complete: false }, 1e12)
  const [kept] = storage.sql.exec<{ bytes: number }>('SELECT sum(length(lines)) AS bytes FROM batches').toArray()
  expect(kept?.bytes).toBeLessThan(2.2 * (FIRST_BYTES + LAST_BYTES))
})

test('a part stays small, whatever its lines are made of', () => {
  const store = new LogStore(objectStorage())
  const line = { at: 0, source: 'stdout' as const, text: '\u0000'.repeat(4_990) }
  for (let i = 0; i < 20; i++) {
    const lines = Array.from({ length: 15 }, () => line)
    store.append({ first: 1 + 15 * i, lines, phase: null, samples: [], complete: false }, 0)
  }
  expect(JSON.stringify(store.partAfter(0, true)).length).toBeLessThan(7_000_000)
  expect(readAll(store).length).toBe(300)
})

/** A store whose machine pulls, and what the database would hear of it. */
function pulling() {
  const store = new LogStore(objectStorage())
  const say = (now: number, percent: number | null, bytes = 0, name: 'pulling' | 'started' = 'pulling') => {
    const phase = percent === null ? null : name === 'pulling' ? { name, percent, bytes } : { name }
    const { news } = store.append({ first: 1, lines: [], phase, samples: [], complete: false }, now)
    if (news) store.acted(news)
    return news?.pull ?? null
  }
  return { say }
}

test('reports a pull every 5 s while its percentage moves, and every 20 s otherwise', () => {
  const { say } = pulling()
  const begun = { startedAt: 100_000, heardAt: 100_000, percent: 0, percentAt: 100_000, bytes: 0 }
  expect(say(100_000, 0)).toEqual(begun)
  expect(say(104_999, 1, 10)).toBeNull()
  expect(say(105_000, 2, 20)).toMatchObject({ percent: 2, percentAt: 105_000, bytes: 20 })
  expect(say(110_000, 2, 30)).toBeNull()
  expect(say(124_999, 2, 40)).toBeNull()
  // A batch of something else says that the machine still works.
  expect(say(125_000, null)).toMatchObject({ percent: 2, percentAt: 105_000, bytes: 40, heardAt: 125_000 })
})

test('a pull that begins again never goes back, and is over once the container starts', () => {
  const { say } = pulling()
  say(100_000, 60, 600)
  expect(say(160_000, 10, 100)).toMatchObject({ percent: 60, percentAt: 100_000, bytes: 600 })
  expect(say(161_000, 0, 0, 'started')).toBeNull()
  expect(say(190_000, 70, 700)).toBeNull()
})

test('a machine that pulls for ever costs the database no more writes', () => {
  const { say } = pulling()
  let told = 0
  for (let second = 0; second < 7_200; second++) told += say(second * 1_000 + 1, second % 100, second * 1_000) ? 1 : 0
  expect(told).toBeGreaterThan(20)
  expect(told).toBeLessThan(375)
})

test('a disk that fills up again and again leaves room for the exit, and keeps no warning', () => {
  const store = new LogStore(objectStorage())
  let full = false
  const say = (minute: number, more: Partial<LogBatch>) => {
    const { news } = store.append(
      { first: 1, lines: [], phase: null, samples: [], complete: false, ...more },
      minute * 60_000,
    )
    if (news) store.acted(news)
    full = news?.diskNearlyFull ?? full
    return news
  }
  say(0, { phase: { name: 'started' } })
  for (let minute = 1; minute < 200; minute++)
    say(minute, {
      samples: [{ ...IDLE, at: minute * 60_000, disk_bytes: minute % 2 ? 95 : 50, disk_total_bytes: 100 }],
    })
  const exited = { name: 'exited', exit_code: 0, oom: false } as const
  expect([say(200, { phase: exited })?.phase, full]).toEqual([exited, false])
})

const IDLE: Omit<Sample, 'at'> = {
  gpu_percent: 0,
  gpu_memory_bytes: 0,
  cpu_percent: 0,
  memory_bytes: 0,
  disk_bytes: 0,
  disk_total_bytes: 0,
  sent_bytes: 0,
  received_bytes: 0,
}
