import { expect, test } from 'vitest'
import { bytesOfParts, lengthOfPart, partCountOf, partSizeOf, partsLeft } from '../../src/domain/file-parts.ts'

const MIB = 1024 * 1024

test.each([
  [1, 1, 16],
  [16 * MIB, 1, 16],
  [16 * MIB + 1, 2, 16],
  [48_000 * MIB, 3_000, 16],
  [48_000 * MIB + 1, 2_824, 17],
  [5_000_000_000_000, 2_999, 1_590],
])('%i bytes are %i parts of %i MiB', (size, count, mib) => {
  expect([partCountOf(size), partSizeOf(size)]).toEqual([count, mib * MIB])
})

test('the parts add up to the file', () => {
  for (const size of [1, 16 * MIB, 16 * MIB + 1, 33 * MIB - 1]) {
    const parts = Array.from({ length: partCountOf(size) }, (_, i) => i + 1)
    expect(parts.reduce((sum, part) => sum + lengthOfPart(size, part), 0)).toBe(size)
    expect(bytesOfParts(size, parts)).toBe(size)
  }
})

test('continues with what is missing, whatever else the bucket has', () => {
  expect(partsLeft(40 * MIB, [])).toEqual([1, 2, 3])
  expect(partsLeft(40 * MIB, [2, 2, 9])).toEqual([1, 3])
  expect(bytesOfParts(40 * MIB, [3, 3, 9, 0])).toBe(8 * MIB)
})
