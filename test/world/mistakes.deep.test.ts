import { expect, test } from 'vitest'
import '../../testing/stack/faster-drizzle.ts'
import { openWorldDatabase } from './database.ts'
import { play } from './play.ts'
import { KEPT } from './regressions.ts'
import { takeOverRandomness } from './seeded-crypto.ts'
import { MORNING, sim } from './sim-process.ts'

/** Each breaks another promise. */
const UNFAIR = [
  ['first-come-first-served', 'last-come-first-served'],
  ['no-click-passes-the-line', 'click-passes-the-line'],
  ['no-place-is-idle', 'free-places-are-not-given'],
  ['places-are-held-by-live-runs', 'reserved-place-is-taken'],
  ['a-turn-has-a-place', 'no-machine-ends-the-wait'],
  ['nobody-waits-forever', 'end-is-not-kept'],
] as const

test.each(UNFAIR)('on such a morning, %s breaks with %s', { timeout: 1_800_000 }, async (rule, mistake) => {
  const { stdout, code } = await sim(...MORNING, '--mutant', mistake)
  expect(code, stdout).toBe(1)
  expect(stdout).toContain(`${rule}: `)
})

test.each([...new Set(KEPT.map(({ mistake }) => mistake))])(
  'with %s, its schedules still break a rule',
  { timeout: 600_000 },
  async (mistake) => {
    const { stdout, code } = await sim('--mutant', mistake)
    expect(code, stdout).toBe(0)
  },
)

test.each(KEPT)('$found: without that mistake, no rule breaks', async ({ schedule }) => {
  takeOverRandomness()
  await play(await openWorldDatabase(), schedule)
})
