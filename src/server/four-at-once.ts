/**
 * Of one invocation six connections may wait for an answer at once; what comes later queues while its timer runs. Four leave room for
 * whatever else the invocation does.
 */
const AT_ONCE = 4

/** One that fails does not keep the others. @throws the first failure, once all were tried */
export async function fourAtOnce<T>(items: T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = []
  const left = items.values()
  const lane = async () => {
    for (const item of left) await work(item).catch((error) => failures.push(error))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  if (failures.length > 0) throw failures[0]
}
