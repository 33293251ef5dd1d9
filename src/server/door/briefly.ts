/** Ending access takes at most a second. */
const KEPT_MS = 500
const MOST_KEPT = 2_000

/** Shares what was read a moment ago: a page loads many files at once, and a program opens many connections. */
export function briefly<T>(): (key: string, read: () => Promise<T>) => Promise<T> {
  const kept = new Map<string, { value: T; until: number }>()
  return async (key, read) => {
    const known = kept.get(key)
    if (known && Date.now() < known.until) return known.value
    const value = await read()
    if (kept.size >= MOST_KEPT) kept.clear()
    kept.set(key, { value, until: Date.now() + KEPT_MS })
    return value
  }
}
