import { HOUR_MS } from '../../../src/domain/instant.ts'
import type { Rows } from '../database.ts'
import type { Memory } from '../memory.ts'
import type { Person } from '../people.ts'
import type { World } from '../world.ts'

/** What a rule looks at: the product's rows, the vendors' records, and what the world remembers. */
export type View = { world: World; rows: Rows; people: Person[]; memory: Memory; now: number }

export type Rule = {
  name: string
  /** For docs/correctness.md. */
  sentence: string
  /** @returns what breaks it */
  broken: (view: View) => string[]
}

export const iso = (at: number | null) => (at !== null && Number.isFinite(at) ? new Date(at).toISOString() : 'never')

/** Whether EC2 failed to find the run's instance this many times in a row. */
export function wasUnseen(rows: Rows, runId: string, looks: number): boolean {
  return rows.witnessed.some(({ what, id }) => id === runId && what === `unseen ${looks}`)
}

/**
 * Whether it has been quiet long enough since then for this to be over. Triggers are rarer here than in reality, so
 * enough of them must have had their chance. Where a look comes only once a day, one must have begun after that day:
 * for money, after the bound.
 */
export function isOverdue(
  world: World,
  what: 'money' | 'fleet',
  since: number,
  ms: number,
  rounds = 3,
  apartMs?: number,
): boolean {
  const apart = apartMs ?? (what === 'money' ? Math.min(6 * HOUR_MS, ms / 4) : 0)
  const isOver = world.calm.forMs(what, since) > ms && world.calm.roundsSince(what, since, apart) >= rounds
  return isOver && (what === 'fleet' || world.calm.roundsSince(what, world.calm.from(what, since) + ms, 0) > 0)
}
