import { afterAll, expect, test } from 'vitest'
import { Player } from './players.ts'
import { KEPT, schedulesOf } from './regressions.ts'
import { scheduleOf } from './run-seed.ts'
import type { Schedule } from './schedule.ts'

const MORNING = scheduleOf(2, 'competition')
/** The fewest people that are a crowd, with as many for each place as among 500. */
const CROWD: Schedule = { ...MORNING, people: MORNING.people.slice(0, 101), places: 4 }

/** Each breaks another promise. The last one is seen only after hours. */
const UNFAIR = [
  ['first-come-first-served', 'last-come-first-served', MORNING],
  ['no-click-passes-the-line', 'click-passes-the-line', MORNING],
  ['no-place-is-idle', 'free-places-are-not-given', MORNING],
  ['places-are-held-by-live-runs', 'reserved-place-is-taken', MORNING],
  ['a-turn-has-a-place', 'no-machine-ends-the-wait', MORNING],
  ['nobody-waits-forever', 'end-is-not-kept', CROWD],
] as const

const player = new Player()
afterAll(() => player.end())

test.each(KEPT)('$found: without that mistake, no rule breaks', { timeout: 600_000 }, async ({ schedule }) => {
  expect(await broken([schedule])).toEqual([null])
})

test.each([...new Set(KEPT.map(({ mistake }) => mistake))])(
  'with %s, its schedules still break a rule',
  { timeout: 600_000 },
  async (mistake) => {
    expect(await broken(schedulesOf(mistake), mistake)).not.toContain(null)
  },
)

test.each(UNFAIR)('on a crowded morning, %s breaks with %s', { timeout: 600_000 }, async (rule, mistake, morning) => {
  expect((await broken([morning], mistake)).map((seen) => seen?.split(':')[0])).toEqual([rule])
})

/** What each schedule breaks, with a mistake or without, or null if it breaks no rule. */
async function broken(schedules: Schedule[], mutant?: string): Promise<(string | null)[]> {
  const outcomes = await player.play({ scenario: 'ordinary', seeds: [], schedules, mutant })
  return outcomes.map((outcome) => outcome.broken?.seen ?? null)
}
