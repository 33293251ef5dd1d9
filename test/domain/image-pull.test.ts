import { expect, test } from 'vitest'
import { isPullTooSlow, type Pull, pullProgress } from '../../src/domain/image-pull.ts'

const MB = 1_000_000
const pull = (more: Partial<Pull> = {}): Pull => ({
  startedAt: 1_000,
  heardAt: 1_000,
  percent: 0,
  percentAt: 1_000,
  bytes: 0,
  ...more,
})
const after = (seconds: number, more: Partial<Pull> = {}) => pull({ heardAt: 1_000 + seconds * 1_000, ...more })

test.each([
  ['with ten minutes left', after(599), 599, false],
  ['that moved less than 1 MB/s in ten minutes', after(600, { bytes: 600 * MB - 1 }), 600, true],
  ['that moved 1 MB/s', after(600, { bytes: 600 * MB }), 600, false],
  ['that slowed down later', after(1_200, { bytes: 1_199 * MB }), 1_200, true],
  ['whose machine said nothing since: we judge what it said', after(599), 1_799, false],
  ['that takes thirty minutes, however fast it is', after(1_800, { bytes: 9e12 }), 1_800, true],
  ['that takes a millisecond less', after(1_799, { bytes: 9e12 }), 1_799.999, false],
])('a pull %s', (_, given, seconds, expected) => {
  expect(isPullTooSlow(given, 1_000 + seconds * 1_000)).toBe(expected)
})

test.each([
  ['at once', 0, 0, 'Loading your image, 0%…'],
  ['at 1 %, whose rate says little', 60, 1, 'Loading your image, 1%…'],
  ['in its first seconds', 4.999, 50, 'Loading your image, 50%…'],
  ['once its rate is known', 72, 42, 'Loading your image, 42%, about 1m 40s…'],
  ['in the end', 100, 99, 'Loading your image, 99%, about 10s…'],
  ['of a large image', 60, 2, 'Loading your image, 2%, about 49m 0s…'],
])('says how far it is %s', (_, seconds, percent, text) => {
  expect(pullProgress(pull({ percent, percentAt: 1_000 + seconds * 1_000 }))).toBe(text)
})
