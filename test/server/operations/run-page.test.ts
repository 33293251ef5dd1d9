import { expect, test } from 'vitest'
import type { RunRow } from '../../../db/schema/fleet.ts'
import { stopAfterLike } from '../../../src/server/operations/run-page.ts'

const RUN = {
  requestedAt: 0,
  endsAt: null,
  ownEndsAt: null,
  defaultEndsAt: null,
  budgetCents: null,
  idleEnds: false,
  planEnds: false,
  inTrial: false,
  mustStopAt: null,
  byToken: false,
  untilExit: false,
  stopAfter: null,
} as RunRow

test.each<[string, Partial<RunRow>, number | null]>([
  ['as its user set it', { endsAt: 5_400_000 }, 5400],
  ['a minute at least', { endsAt: 59_000 }, 60],
  ['without an end, as its user chose', {}, null],
  ['4 hours after a trial', { inTrial: true }, 14_400],
  ['4 hours after a trial that the row only has the end of', { mustStopAt: 1_800_000 }, 14_400],
  ['as its user set it in a trial', { inTrial: true, endsAt: 5_400_000 }, 5400],
  ['4 hours where a purchase set its end', { inTrial: true, endsAt: 15_000_000, defaultEndsAt: 15_000_000 }, 14_400],
  ['as its user moved that', { inTrial: true, endsAt: 15_001_000, defaultEndsAt: 15_000_000 }, 15_001],
  ['4 hours where a script set none', { byToken: true }, 14_400],
  ['with its program', { byToken: true, untilExit: true }, null],
  ['as a script set it', { byToken: true, endsAt: 60_000 }, 60],
  ['not as disuse ended it', { idleEnds: true, endsAt: 60_000, ownEndsAt: 5_400_000 }, 5400],
  ['not as a smaller plan ended it', { planEnds: true, endsAt: 60_000 }, null],
  ['not as a budget ended it', { budgetCents: 100, endsAt: 60_000, stopAfter: 7200 }, 7200],
])('a start like it stops %s', (_, run, seconds) => {
  expect(stopAfterLike({ ...RUN, ...run })).toBe(seconds)
})
