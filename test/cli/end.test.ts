import { expect, test } from 'vitest'
import { whenOf } from '../../cli/src/end.ts'

const now = new Date(2026, 10, 24, 15, 30)
const local = (...at: [number, number, number, number, number]) => new Date(...at).toISOString()

test.each([
  ['18:00', local(2026, 10, 24, 18, 0)],
  // It has passed today.
  ['9:05', local(2026, 10, 25, 9, 5)],
  ['15:30', local(2026, 10, 25, 15, 30)],
  ['2026-11-30T08:00', local(2026, 10, 30, 8, 0)],
  ['2026-11-30T08:00:00Z', '2026-11-30T08:00:00.000Z'],
  ['24:00', null],
  ['18:60', null],
  ['tomorrow', null],
  ['2026-11-30', null],
])('takes %s for %s', (text, expected) => {
  expect(whenOf(text, now)).toBe(expected)
})
