import { DAY_MS, HOUR_MS } from './instant.ts'

/**
 * How busy a machine is. `cpu_percent` is the program's share of all its cores; `sent_bytes` and `received_bytes` count
 * from the program's start. Null where nothing is known.
 */
export const METRICS = [
  'gpu_percent',
  'gpu_memory_bytes',
  'cpu_percent',
  'memory_bytes',
  'disk_bytes',
  'sent_bytes',
  'received_bytes',
] as const
export type Metric = (typeof METRICS)[number]

/** `at` in ms since 1970. */
export type Sample = { at: number; disk_total_bytes: number | null } & Record<Metric, number | null>

/** The distance between samples and how far back they reach, finest first. `last` is its name in the page's address. */
export const TIERS = [
  { last: '1h', words: '1 hour', everySeconds: 10, reachMs: HOUR_MS },
  { last: '12h', words: '12 hours', everySeconds: 60, reachMs: 12 * HOUR_MS },
  { last: '5d', words: '5 days', everySeconds: 600, reachMs: 5 * DAY_MS },
  { last: '30d', words: '30 days', everySeconds: 3_600, reachMs: 30 * DAY_MS },
] as const
export type Tier = (typeof TIERS)[number]

/** On the wire. `at` is ISO 8601. */
export type Metrics = { every_seconds: number; samples: ({ at: string } & Record<Metric, number | null>)[] }

/** Oldest first. */
export type MetricsPart = { everySeconds: number; samples: Sample[] }

/** What a run's page shows: one of the `tiers` that there is something for. `since` and `until` in ms since 1970. */
export type MachineUse = { tier: Tier; tiers: Tier[]; since: number; until: number; samples: Sample[] }

/** The most samples in one answer. */
export const MOST_SAMPLES = 720

/** The finest samples that reach back that far. */
export function tierFor(sinceMs: number): Tier {
  return TIERS.find(({ reachMs }) => sinceMs <= reachMs) ?? TIERS[3]
}

/**
 * Combines several samples, at least one, into one at the time of the last: the mean of shares, the highest of what
 * fills up, and the last count.
 */
export function condense(samples: Sample[]): Sample {
  const merged = { ...(samples.at(-1) as Sample) }
  for (const name of METRICS) {
    const values = samples.map((sample) => sample[name]).filter((value) => value !== null)
    if (!values.length) continue
    if (name.endsWith('_percent')) merged[name] = Math.round(sum(values) / values.length)
    else if (name === 'sent_bytes' || name === 'received_bytes') merged[name] = values.at(-1) ?? null
    else merged[name] = Math.max(...values)
  }
  return merged
}

/** One sample for each period that has any. */
export function condenseBy(periodMs: number, samples: Sample[]): Sample[] {
  const groups = new Map<number, Sample[]>()
  for (const sample of samples) {
    const period = Math.floor(sample.at / periodMs)
    const group = groups.get(period)
    if (group) group.push(sample)
    else groups.set(period, [sample])
  }
  return [...groups.values()].map(condense)
}

/** Bytes per second between each sample and the one before. Null if either is unknown or the count started over. */
export function ratesOf(samples: Sample[], name: 'sent_bytes' | 'received_bytes'): (number | null)[] {
  return samples.map((sample, i) => {
    const before = samples[i - 1]
    const [from, to] = [before?.[name] ?? null, sample[name]]
    if (!before || from === null || to === null || to < from) return null
    return (to - from) / ((sample.at - before.at) / 1_000)
  })
}

/** A fuller disk is worth a warning, until it is below the second share again. */
const NEARLY_FULL = { from: 0.9, until: 0.85 }

export function isDiskNearlyFull({ disk_bytes, disk_total_bytes }: Sample, before: boolean): boolean {
  if (disk_bytes === null || !disk_total_bytes) return before
  return disk_bytes / disk_total_bytes >= (before ? NEARLY_FULL.until : NEARLY_FULL.from)
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
