import { DAY_MS, HOUR_MS, type InstantLayout, instantText, MINUTE_MS, toIso } from '../instant.ts'
import { runSecondsWithin } from './billing.ts'
import type { CostLine } from './run-cost.ts'

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080].map((minutes) => minutes * MINUTE_MS)
const MOST_BARS = 24

/** `label`: its time in UTC, which pages also show by the reader's clock. */
export type CostBar = { at: string; layout: InstantLayout; label: string; value: number }

/**
 * What a run had cost at the end of each minute, hour, or day, so that its last bar is its cost. The plan's hours come
 * first in each cycle.
 */
export function costSoFar(lines: CostLine[]): CostBar[] {
  const parts = lines.filter(({ correction }) => !correction)
  const [start, end] = [Date.parse(parts[0]?.start ?? ''), Date.parse(parts.at(-1)?.end ?? '')]
  if (!(end > start)) return []
  const step =
    STEPS.find((one) => (end - start) / one < MOST_BARS - 1) ?? Math.ceil((end - start) / MOST_BARS / DAY_MS) * DAY_MS
  const resolution = end - start < HOUR_MS ? 1000 : MINUTE_MS
  const bars: CostBar[] = []
  const layout = layoutOf(end - start)
  for (let until = (Math.floor(start / step) + 1) * step; ; until += step) {
    // Two bars never have the same label.
    const at = until + resolution > end ? end : until
    const value = parts.reduce((sum, line) => sum + costAt(line, at), 0)
    bars.push({ at: toIso(at), layout, label: instantText(toIso(at), false, layout), value })
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
function layoutOf(length: number): InstantLayout {
  if (length < HOUR_MS) return 'clock'
  return length < 20 * HOUR_MS ? 'time' : 'brief'
}
