import { describe, expect, test } from 'vitest'
import { checkForm } from '../../src/domain/form.ts'
import { idleForm, idleVerdict, readIdle } from '../../src/domain/idle.ts'

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]

describe('what a simulator says', () => {
  test('counts in seconds', () => {
    expect(readIdle('{"idle_seconds": 90}', HOUR)).toBe(90 * SECOND)
    expect(readIdle('{"idle_seconds": 0, "mode": "fly"}', HOUR)).toBe(0)
    expect(readIdle('{"idle_seconds": 1.5}', HOUR)).toBe(1_500)
  })

  test.each([
    null,
    '',
    'nothing',
    '[]',
    'null',
    '7',
    '{}',
    '{"idle_seconds": "90"}',
    '{"idle_seconds": null}',
    '{"idle_seconds": true}',
    '{"idle_seconds": -1}',
    '{"idle_seconds": 1e308}',
    '{"idle_seconds": 1e999}',
    '{"idle_seconds": NaN}',
    '{"idle_seconds": [90]}',
    '<html></html>',
  ])('is not believed if it is %s', (body) => {
    expect(readIdle(body, HOUR)).toBeNull()
  })

  test('is not believed if it is longer than its machine has run', () => {
    expect(readIdle('{"idle_seconds": 4200}', HOUR)).toBe(4_200 * SECOND)
    expect(readIdle('{"idle_seconds": 4201}', HOUR)).toBeNull()
  })
})

describe('a look', () => {
  const now = 100 * HOUR
  const look = (idleMs: number | null, endsAt: number | null = null) =>
    idleVerdict({ now, since: idleMs === null ? null : now - idleMs, minutes: 30, endsAt })

  test('at a used server comes again when it could have been idle for long enough to warn', () => {
    expect(look(0)).toEqual({ next: now + 20 * MINUTE })
    expect(look(19 * MINUTE + 30 * SECOND)).toEqual({ next: now + MINUTE })
  })

  test('sets an end ten minutes ahead, and never nearer', () => {
    expect(look(20 * MINUTE)).toEqual({ end: now + 10 * MINUTE, next: now + MINUTE })
    expect(look(20 * MINUTE - 1)).toEqual({ next: now + MINUTE })
    expect(look(5 * HOUR)).toEqual({ end: now + 10 * MINUTE, next: now + MINUTE })
  })

  test('at a silent server never sets one, and gives it the whole time again', () => {
    expect(look(null)).toEqual({ next: now + 30 * MINUTE })
  })

  test('while it counts down comes each minute, and once more just before the end', () => {
    expect(look(22 * MINUTE, now + 8 * MINUTE)).toEqual({ next: now + MINUTE })
    expect(look(29 * MINUTE + 30 * SECOND, now + 30 * SECOND)).toEqual({ next: now + 15 * SECOND })
  })

  test('takes the end back once someone uses it, or it says nothing anymore', () => {
    expect(look(10 * SECOND, now + 8 * MINUTE)).toEqual({ end: null, next: now + 20 * MINUTE - 10 * SECOND })
    expect(look(null, now + 8 * MINUTE)).toEqual({ end: null, next: now + 30 * MINUTE })
    // It rounds, or its clock differs a little.
    expect(look(22 * MINUTE - SECOND, now + 8 * MINUTE)).toEqual({ next: now + MINUTE })
    expect(look(22 * MINUTE - SECOND - 1, now + 8 * MINUTE)).toMatchObject({ end: null })
  })
})

test('the time is whole minutes, from 15 to 240, or none', () => {
  for (const minutes of [null, 15, 240]) expect(checkForm(idleForm, { minutes }).ok).toBe(true)
  for (const minutes of [14, 241, 15.5, 0, -15, Number.NaN])
    expect(checkForm(idleForm, { minutes }).ok, String(minutes)).toBe(false)
})
