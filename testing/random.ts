export type Random = {
  next(): number
  chance(share: number): boolean
  /** A whole number, `to` excluded. */
  between(from: number, to: number): number
  pick<T>(from: readonly T[]): T
}

/** mulberry32: numbers in [0, 1), determined by the seed alone. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    next,
    chance: (share) => next() < share,
    between: (from, to) => Math.floor(from + next() * (to - from)),
    pick: (from) => from[Math.floor(next() * from.length)] as (typeof from)[number],
  }
}
