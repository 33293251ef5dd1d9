import type { DurableObjectStorage } from '@cloudflare/workers-types'
import {
  condense,
  METRICS,
  type MetricsPart,
  MOST_SAMPLES,
  type Sample,
  TIERS,
  type Tier,
  tierFor,
} from '../../domain/run-metrics.ts'

/** Samples per row, so that most batches write one row. */
const CHUNK = 60
/** Full chunks, enough for the longest answer. */
const MOST_CHUNKS = MOST_SAMPLES / CHUNK + 1

/** As stored: `at`, the disk's size, and each of METRICS. */
type Kept = (number | null)[]
type Chunk = { first: number; samples: string }

/** How busy a run's machine was, in its object's SQLite: fine for the last hour, and coarser for longer. */
export class SampleStore {
  private readonly storage: DurableObjectStorage
  private last: Sample | null | undefined

  constructor(storage: DurableObjectStorage) {
    this.storage = storage
  }

  /** The newest one; null before the machine's first. */
  newest(): Sample | null {
    if (this.last === undefined) this.last = this.isThere() ? (this.chunksOf(TIERS[0], 1)[0]?.at(-1) ?? null) : null
    return this.last
  }

  /** Adds the samples that are new. None may be from the future. */
  add(samples: Sample[], now: number): void {
    const fresh: Sample[] = []
    for (const given of samples) {
      const sample = { ...given, at: Math.min(given.at, now) }
      const before = fresh.at(-1) ?? this.newest()
      if (before && sample.at <= before.at) continue
      if (before) this.closePeriods(before.at, sample.at, fresh)
      else this.create()
      fresh.push(sample)
    }
    if (!fresh.length) return
    this.append(TIERS[0], fresh)
    this.last = fresh.at(-1)
  }

  /** Oldest first, with what is known of the period that hasn't ended. */
  read(since: number, until: number): MetricsPart {
    const tier = tierFor(until - since)
    const samples = this.newest() ? this.all(TIERS.indexOf(tier)) : []
    return { everySeconds: tier.everySeconds, samples: samples.filter(({ at }) => at >= since).slice(-MOST_SAMPLES) }
  }

  clear(): void {
    if (this.isThere()) this.storage.sql.exec('DELETE FROM samples')
    this.last = null
  }

  /** Each coarser period that ended between both times is one sample from now on. @param fresh not written yet */
  private closePeriods(before: number, at: number, fresh: Sample[]): void {
    for (const [i, tier] of TIERS.entries()) {
      if (i === 0 || period(tier, before) === period(tier, at)) continue
      const known = i === 1 ? [...this.all(0), ...fresh] : this.all(i - 1)
      const finer = known.filter((sample) => period(tier, sample.at) === period(tier, before))
      if (finer.length) this.append(tier, [condense(finer)])
    }
  }

  private all(i: number): Sample[] {
    const tier = TIERS[i] as Tier
    const kept = this.chunksOf(tier, MOST_CHUNKS).flat()
    if (i === 0) return kept
    const closed = kept.at(-1)?.at ?? 0
    const open = this.all(i - 1).filter(({ at }) => at > closed)
    return open.length ? [...kept, condense(open)] : kept
  }

  private chunksOf({ everySeconds }: Tier, count: number): Sample[][] {
    const query = 'SELECT first, samples FROM samples WHERE every = ? ORDER BY first DESC LIMIT ?'
    const rows = this.storage.sql.exec<Chunk>(query, everySeconds, count).toArray()
    return rows.reverse().map(({ samples }) => (JSON.parse(samples) as Kept[]).map(toSample))
  }

  private append(tier: Tier, samples: Sample[]): void {
    const every = tier.everySeconds
    const last = this.chunksOf(tier, 1)[0] ?? []
    const room = Math.max(0, CHUNK - last.length)
    if (last.length && room) this.write(every, [...last, ...samples.slice(0, room)])
    const rest = last.length ? samples.slice(room) : samples
    if (!rest.length) return
    this.write(every, rest)
    const kept = 'SELECT first FROM samples WHERE every = ? ORDER BY first DESC LIMIT ?'
    const { sql } = this.storage
    sql.exec(`DELETE FROM samples WHERE every = ? AND first NOT IN (${kept})`, every, every, MOST_CHUNKS)
  }

  private write(every: number, samples: Sample[]): void {
    const query = 'INSERT OR REPLACE INTO samples (every, first, samples) VALUES (?, ?, ?)'
    this.storage.sql.exec(query, every, samples[0]?.at, JSON.stringify(samples.map(toKept)))
  }

  private isThere(): boolean {
    return this.storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'samples'").toArray().length > 0
  }

  private create(): void {
    this.storage.sql.exec(
      'CREATE TABLE IF NOT EXISTS samples (every INTEGER, first INTEGER, samples TEXT, PRIMARY KEY (every, first)) WITHOUT ROWID',
    )
  }
}

const period = ({ everySeconds }: Tier, at: number) => Math.floor(at / (everySeconds * 1_000))

const toKept = (sample: Sample): Kept => [sample.at, sample.disk_total_bytes, ...METRICS.map((name) => sample[name])]

function toSample([at, diskTotal, ...values]: Kept): Sample {
  const known = Object.fromEntries(METRICS.map((name, i) => [name, values[i] ?? null]))
  return { at: at ?? 0, disk_total_bytes: diskTotal ?? null, ...known } as Sample
}
