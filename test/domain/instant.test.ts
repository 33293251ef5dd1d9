import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type InstantLayout,
  instantText,
  instantTitle,
  splitAtInstants,
  toDay,
  toIso,
} from '../../src/domain/instant.ts'
import { readAsAmerican } from '../../testing/people/american-reader.ts'

readAsAmerican()

const DAY = { year: 'numeric', month: 'short', day: 'numeric' } as const
const MINUTE = { hour: 'numeric', minute: '2-digit' } as const
const LAYOUTS: Record<InstantLayout, Intl.DateTimeFormatOptions> = {
  full: { ...DAY, ...MINUTE },
  brief: { month: 'short', day: 'numeric', ...MINUTE },
  exact: { ...DAY, ...MINUTE, second: '2-digit' },
  clock: { ...MINUTE, second: '2-digit' },
  time: MINUTE,
  day: DAY,
}
/** A reader's clock shows 6:00 PM; the server doesn't know their zone and writes 18:00 UTC. */
const inUtc = (layout: InstantLayout): Intl.DateTimeFormatOptions => {
  const zone = layout === 'day' ? {} : ({ timeZoneName: 'short' } as const)
  const hour = layout === 'day' ? {} : ({ hour: '2-digit', hourCycle: 'h23' } as const)
  return { ...LAYOUTS[layout], ...hour, ...zone, timeZone: 'UTC' }
}
const LAYOUT_NAMES = Object.keys(LAYOUTS) as InstantLayout[]
const instant = fc.integer({ min: Date.UTC(1970, 0), max: Date.UTC(2999, 11) }).map((ms) => new Date(ms).toISOString())

test.each(LAYOUT_NAMES)('layout %s in UTC matches Intl', (layout) => {
  const intl = new Intl.DateTimeFormat('en-US', inUtc(layout))
  fc.assert(
    fc.property(instant, (at) => {
      expect(instantText(at, false, layout)).toBe(intl.format(Date.parse(at)))
    }),
  )
})

test.each(LAYOUT_NAMES)("layout %s on the reader's clock matches Intl", (layout) => {
  const intl = new Intl.DateTimeFormat('en-US', LAYOUTS[layout])
  fc.assert(
    fc.property(instant, (at) => {
      expect(instantText(at, true, layout)).toBe(intl.format(Date.parse(at)).replace('\u202f', ' '))
    }),
  )
})

test('a bare date is a UTC day, wherever it is read', () => {
  for (const local of [true, false]) expect(instantText('2026-02-01', local)).toBe('Feb 1, 2026')
  expect(instantTitle('2026-02-01')).toBe('2026-02-01 (UTC)')
})

test('uses the full layout by default', () => {
  expect(instantText('2026-11-21T02:17:09.000Z', false)).toBe('Nov 21, 2026, 02:17 UTC')
  expect(instantText('2026-11-21T02:17:09.000Z', true)).toBe(instantText('2026-11-21T02:17:09.000Z', true, 'full'))
})

test('a sentence splits at the instants it names', () => {
  expect(splitAtInstants('It ends Jan 3, 2028, 09:05 UTC. By you.')).toEqual([
    'It ends ',
    { at: '2028-01-03T09:05:00.000Z' },
    '. By you.',
  ])
  fc.assert(
    fc.property(instant, (at) => {
      const [before, named, after] = splitAtInstants(`To ${instantText(at, false)}.`)
      expect([before, named, after]).toEqual(['To ', { at: `${at.slice(0, 16)}:00.000Z` }, '.'])
    }),
  )
})

test('a name that only looks like an instant stays as it is', () => {
  for (const name of ['“Jan 45, 2028, 10:00 UTC”', '“Foo 31, 2028, 10:00 UTC”'])
    expect(splitAtInstants(name).join('')).toBe(name)
})

test.each(['', 'Address 10.0.0.1.', 'Startup took 3s.', 'On Jan 3, 2028.'])(
  'a sentence without an instant stays whole: %s',
  (text) => expect(splitAtInstants(text)).toEqual([text]),
)

test('the title has the seconds', () => {
  expect(instantTitle('2026-11-21T02:17:33.000Z')).toBe('2026-11-21 02:17:33 UTC')
})

test('writes an instant as ISO 8601 in UTC, and nothing as nothing', () => {
  expect([toIso(0), toIso(Date.UTC(2028, 1, 29, 23, 59, 59, 999)), toIso(null)]).toEqual([
    '1970-01-01T00:00:00.000Z',
    '2028-02-29T23:59:59.999Z',
    null,
  ])
})

test('a day is a UTC day', () => {
  expect([toDay(Date.UTC(2028, 1, 29, 0)), toDay(Date.UTC(2028, 1, 29, 23, 59, 59, 999))]).toEqual([
    '2028-02-29',
    '2028-02-29',
  ])
})
