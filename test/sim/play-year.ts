import type { DatabaseKind } from '../../testing/stack/billing-stack.ts'
import { examineYear, type YearReport } from './examine-year.ts'
import { liveYear } from './live-year.ts'
import { openYearWorld } from './year-world.ts'

/** A leap year, from its first day until well after its last. */
const FROM = Date.UTC(2028, 0, 1)
const UNTIL = Date.UTC(2029, 0, 5)

/** Plays the year and examines the result. */
export async function playYear({
  database,
  ...options
}: {
  customers: number
  runs: number
  seed: number
  database: DatabaseKind
}): Promise<YearReport> {
  // A place for everyone: another simulation covers how people share a scarce fleet.
  const world = await openYearWorld(FROM, options.customers, database)
  try {
    const everybody = await liveYear(world, { ...options, from: FROM, until: UNTIL })
    return await examineYear(world, everybody, UNTIL)
  } finally {
    await world.close()
  }
}
