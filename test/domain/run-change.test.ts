import { expect, test } from 'vitest'
import { checkForm } from '../../src/domain/form.ts'
import { parseInstant, runChange } from '../../src/domain/run-change.ts'

const NOW = Date.parse('2026-11-24T15:00:00.000Z')
const check = (input: object) => checkForm(runChange(NOW), input)
const faultOf = (input: object) => {
  const result = check(input)
  return result.ok ? null : result.faults[0].message
}

test.each([
  ['2026-11-24T18:00:00Z', '2026-11-24T18:00:00.000Z'],
  ['2026-11-24T18:00:00.250Z', '2026-11-24T18:00:00.250Z'],
  ['2026-11-24T18:00:00+02:00', '2026-11-24T16:00:00.000Z'],
  // What a form without script sends.
  ['2026-11-24T18:00', '2026-11-24T18:00:00.000Z'],
  [' 2026-11-24t18:00z ', '2026-11-24T18:00:00.000Z'],
  ['2026-02-31T18:00Z', null],
  ['2026-11-24T25:00Z', null],
  ['2026-11-24', null],
  ['18:00', null],
  ['tomorrow', null],
  ['x2026-11-24T18:00Z', null],
  ['2026-11-24T18:00Zx', null],
])('reads %s as %s', (text, expected) => {
  const at = parseInstant(text)
  expect(at === null ? null : new Date(at).toISOString()).toBe(expected)
})

test('an end lies in the future, at most 30 days away', () => {
  const at = (ms: number) => ({ ends_at: new Date(NOW + ms).toISOString() })
  const MONTH = 30 * 86_400_000
  expect(faultOf(at(1))).toBeNull()
  expect(faultOf(at(MONTH))).toBeNull()
  expect(faultOf(at(0))).toBe('The end must be in the future.')
  expect(faultOf(at(-1))).toBe('The end must be in the future.')
  expect(faultOf(at(MONTH + 1))).toBe('The end can be at most 30 days away.')
  expect(faultOf({ ends_at: 'tomorrow' })).toBe('Give the end as a date and a time, such as 2026-11-24T18:00:00Z.')
})

test('tells a field that is left out from one that is removed', () => {
  expect(check({})).toEqual({ ok: true, value: { endsAt: undefined, name: undefined } })
  expect(check({ ends_at: null, name: null })).toEqual({ ok: true, value: { endsAt: null, name: null } })
  expect(check({ ends_at: '', name: ' ' })).toEqual({ ok: true, value: { endsAt: null, name: null } })
  expect(check({ ends_at: '2026-11-24T18:00Z', name: ' Lidar ' })).toEqual({
    ok: true,
    value: { endsAt: Date.parse('2026-11-24T18:00Z'), name: 'Lidar' },
  })
})

test('refuses a name that a start would refuse', () => {
  expect(faultOf({ name: 'a'.repeat(50) })).toBeNull()
  expect(faultOf({ name: 'a'.repeat(51) })).toBe('Name cannot exceed 50 characters.')
  expect(faultOf({ name: 'a\u202eb' })).toBe("Name contains characters we can't display.")
})
