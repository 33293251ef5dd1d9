/** The value that this share of the sample stays at or below: 0.5 is the median. */
export function quantile(sample: number[], share: number): number {
  const sorted = sample.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

export const median = (sample: number[]) => quantile(sample, 0.5)

/** How many ms the work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
