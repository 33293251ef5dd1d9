import { HOUR_MS } from '../../../src/domain/instant.ts'
import { FLEET_RULES } from './fleet.ts'
import { GROUP_RULES } from './groups.ts'
import { LINE_RULES } from './line.ts'
import { iso, type Rule } from './rule.ts'

/** With everyone's turn and the slowest machines, a morning takes less than half of this. */
const LONGEST_WAIT_MS = 6 * HOUR_MS

const OF_THE_FLEET = new Set(['one-live-run', 'places-are-held-by-live-runs'])

/** What a morning with hundreds of people is about: all other rules would take minutes, and are the small worlds' matter. */
export const CROWD_RULES: Rule[] = [
  ...FLEET_RULES.filter(({ name }) => OF_THE_FLEET.has(name)),
  ...LINE_RULES,
  ...GROUP_RULES,
  {
    name: 'nobody-waits-forever',
    sentence:
      'Of 500 people who come for 20 places that each use for minutes, nobody is in line for more than 6 hours.',
    broken: ({ rows, memory, now }) =>
      rows.line.flatMap(({ userId, joinedAt, runId }) => {
        const since = memory.since(`in line ${userId}`, runId === null, String(joinedAt))
        return since !== null && now - since > LONGEST_WAIT_MS ? [`${userId} is in line since ${iso(since)}`] : []
      }),
  },
]
