/** For this long, ended access may begin another request. If it lasts, it is watched after half a second, and cut a quarter later. */
const KEPT_MS = 250
const MOST_KEPT = 2_000

/** Shares what was read a moment ago: a page loads many files at once, and a program opens many connections. */
export function briefly<T>() {
  const kept = new Map<string, { value: T; until: number }>()
  const known = (key: string): T | null => {
    const found = kept.get(key)
    return found && Date.now() < found.until ? found.value : null
  }
  const find = async (key: string, read: () => Promise<T>): Promise<T> => {
    const shared = known(key)
    if (shared !== null) return shared
    const value = await read()
    const now = Date.now()
    for (const [old, { until }] of kept) {
      if (now < until) break
      kept.delete(old)
    }
    if (kept.size >= MOST_KEPT) kept.clear()
    // At the end, so that the oldest come first.
    kept.delete(key)
    kept.set(key, { value, until: now + KEPT_MS })
    return value
  }
  return { known, find }
}
