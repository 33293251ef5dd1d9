/** Rare states that a run of 2,000 seeds must see at least 10 times each. Otherwise the generator is at fault. */
export const REACH: string[] = []

const ENOUGH = { seeds: 2_000, times: 10 }

/** For fewer seeds, correspondingly less is enough, but at least once. */
export function whatIsMissing(reached: Map<string, number>, seeds: number): string[] {
  const enough = Math.floor((ENOUGH.times * Math.min(seeds, ENOUGH.seeds)) / ENOUGH.seeds)
  return REACH.flatMap((state) => {
    const times = reached.get(state) ?? 0
    return times < enough
      ? [`"${state}" was seen ${times} times, which proves little: at least ${enough} are wanted`]
      : []
  })
}
