import { expect, test } from 'vitest'
import '../../testing/stack/faster-drizzle.ts'
import { openWorldDatabase } from './database.ts'
import { play } from './play.ts'
import { Player } from './players.ts'
import { KEPT, schedulesOf } from './regressions.ts'
import { scheduleOf } from './run-seed.ts'
import type { Schedule } from './schedule.ts'
import { takeOverRandomness } from './seeded-crypto.ts'

const MORNING = scheduleOf(2, 'competition')
/** The fewest people that are a crowd, with as many for each place as among 500. */
const CROWD: Schedule = { ...MORNING, people: MORNING.people.slice(0, 101), places: 4 }

/** Each breaks another promise. */
const UNFAIR = [
  ['first-come-first-served', 'last-come-first-served'],
  ['no-click-passes-the-line', 'click-passes-the-line'],
  ['no-place-is-idle', 'free-places-are-not-given'],
  ['places-are-held-by-live-runs', 'reserved-place-is-taken'],
  ['a-turn-has-a-place', 'no-machine-ends-the-wait'],
  ['nobody-waits-forever', 'end-is-not-kept'],
] as const

test.each(UNFAIR)('on a crowded morning, %s breaks with %s', { timeout: 600_000 }, async (rule, mistake) => {
  expect(await broken(mistake, [CROWD])).toEqual([rule])
})

test.each([...new Set(KEPT.map(({ mistake }) => mistake))])(
  'with %s, its schedules still break a rule',
  { timeout: 600_000 },
  async (mistake) => {
    expect(await broken(mistake, schedulesOf(mistake))).not.toContain(null)
  },
)

test.each(KEPT)('$found: without that mistake, no rule breaks', async ({ schedule }) => {
  takeOverRandomness()
  await play(await openWorldDatabase(), schedule)
})

/** The rule that each schedule breaks with this mistake, or null if it breaks none. */
async function broken(mutant: string, schedules: Schedule[]): Promise<(string | null)[]> {
  const player = new Player()
  try {
    const outcomes = await player.play({ scenario: 'ordinary', seeds: [], schedules, mutant })
    return outcomes.map((outcome) => outcome.broken?.rule ?? null)
  } finally {
    player.end()
  }
}
