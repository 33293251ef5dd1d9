import { DAY_MS } from '../instant.ts'
import { runSecondsWithin } from './billing.ts'

export type Bar = { label: string; value: number }

/** Server hours on each of the last `days` days in UTC, the day of `now` last. */
export function hoursPerDay(runs: { start: number; end: number }[], now: number, days: number): Bar[] {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  return Array.from({ length: days }, (_, i) => {
    const start = today - (days - 1 - i) * DAY_MS
    const day = { start, end: start + DAY_MS }
    const seconds = runs.reduce((sum, run) => sum + runSecondsWithin(run.start, run.end, day), 0)
    return { label: new Date(start).toISOString().slice(5, 10), value: seconds / 3600 }
  })
}

/** The bills of each of the last `months` months added up, the month of `now` last. */
export function dollarsPerMonth(bills: { month: string; dollars: number }[], now: number, months: number): Bar[] {
  const today = new Date(now)
  return Array.from({ length: months }, (_, i) => {
    const first = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - (months - 1 - i), 1))
    const label = first.toISOString().slice(0, 7)
    const cents = bills
      .filter(({ month }) => month === label)
      .reduce((sum, { dollars }) => sum + Math.round(dollars * 100), 0)
    return { label, value: cents / 100 }
  })
}
