/** Large files travel in parts, so that a lost connection costs one part and not the whole file. */

const MIB = 1024 * 1024
/** A bucket takes 10,000, but lists 1,000 at a time, and completing an upload may list them twice. */
const MAX_PARTS = 3_000
const SMALLEST_PART = 16 * MIB

/** Up to this size, one request carries the whole file. */
export const MAX_WHOLE = SMALLEST_PART

/** The length of every part of an upload except the last. */
export function partSizeOf(size: number): number {
  return Math.max(SMALLEST_PART, Math.ceil(size / MAX_PARTS / MIB) * MIB)
}

export function partCountOf(size: number): number {
  return Math.max(1, Math.ceil(size / partSizeOf(size)))
}

/** The length of one part, counted from 1. */
export function lengthOfPart(size: number, part: number): number {
  const each = partSizeOf(size)
  return Math.min(each, size - (part - 1) * each)
}

/** The parts that still have to be sent, in order. Ignores parts that no file of this size has. */
export function partsLeft(size: number, done: number[]): number[] {
  const sent = new Set(done)
  return Array.from({ length: partCountOf(size) }, (_, i) => i + 1).filter((part) => !sent.has(part))
}

/** How many bytes these parts have. */
export function bytesOfParts(size: number, parts: number[]): number {
  const count = partCountOf(size)
  return [...new Set(parts)]
    .filter((part) => part >= 1 && part <= count)
    .reduce((sum, part) => sum + lengthOfPart(size, part), 0)
}
