import { expect, test } from 'vitest'
import { readyText } from '../../src/domain/start-time.ts'

test.each([
  [null, "We don't know yet how long it takes to start."],
  [{ p50: 25, p90: 40 }, 'Usually ready in 25s, 9 in 10 times within 40s.'],
  [{ p50: 130, p90: 395 }, 'Usually ready in 2m 10s, 9 in 10 times within 6m 35s.'],
  [{ p50: 25, p90: 25 }, 'Usually ready in 25s.'],
])('of %o it says: %s', (estimate, text) => {
  expect(readyText(estimate)).toBe(text)
})
