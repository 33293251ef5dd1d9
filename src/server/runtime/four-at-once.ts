/**
 * An invocation may have six connections waiting for an answer; further calls queue while their timeouts run.
 * Four leaves room for its other work.
 */
const AT_ONCE = 4

/** A failure doesn't stop the others. @throws the first failure, once all were tried */
export async function fourAtOnce<T>(items: T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = []
  const left = items.values()
  const lane = async () => {
    for (const item of left) await work(item).catch((error) => failures.push(error))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  if (failures.length > 0) throw failures[0]
}
