import { DAY_MS, HOUR_MS, MINUTE_MS, toIso } from '../instant.ts'
import { runSecondsWithin } from './billing.ts'
import type { CostLine } from './run-cost.ts'
import type { Bar } from './usage-chart.ts'

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080].map((minutes) => minutes * MINUTE_MS)
const MOST_BARS = 24

/**
 * What a run had cost at the end of each minute, hour, or day, so that its last bar is its cost. The plan's hours come
 * first in each cycle. Times are in UTC.
 */
export function costSoFar(lines: CostLine[]): Bar[] {
  const parts = lines.filter(({ correction }) => !correction)
  const [start, end] = [Date.parse(parts[0]?.start ?? ''), Date.parse(parts.at(-1)?.end ?? '')]
  if (!(end > start)) return []
  const step =
    STEPS.find((one) => (end - start) / one < MOST_BARS - 1) ?? Math.ceil((end - start) / MOST_BARS / DAY_MS) * DAY_MS
  const resolution = end - start < HOUR_MS ? 1000 : MINUTE_MS
  const bars: Bar[] = []
  for (let until = (Math.floor(start / step) + 1) * step; ; until += step) {
    // Two bars never have the same label.
    const at = until + resolution > end ? end : until
    bars.push({ label: labelOf(at, end - start), value: parts.reduce((sum, line) => sum + costAt(line, at), 0) })
    if (at === end) return bars
  }
}

function costAt({ start, end, seconds, included, dollars }: CostLine, at: number): number {
  const charged = seconds - included
  if (charged <= 0) return 0
  const from = Date.parse(start)
  const used = runSecondsWithin(from, Math.min(at, Date.parse(end)), { start: from, end: at })
  return (dollars * Math.max(0, Math.min(used, seconds) - included)) / charged
}

/** Unique within a run: seconds only where minutes may repeat. */
function labelOf(at: number, length: number): string {
  const iso = toIso(at)
  if (length < HOUR_MS) return iso.slice(11, 19)
  return length < 20 * HOUR_MS ? iso.slice(11, 16) : `${iso.slice(5, 10)} ${iso.slice(11, 16)}`
}
