import { AppError } from '../../domain/error.ts'

const RETRY_AFTER_S = 5
/** A full queue of hashes takes a few seconds, or ten on a slow machine. */
const LONGEST_WAIT_MS = 15_000
/** Until the platform has started an object again. */
const PAUSE_MS = 100

/**
 * A Durable Object that is unreachable or silent isn't the request's fault, so the error is retryable.
 * @param call gets a new stub each time
 * @param repeatable whether it may run twice
 */
export async function answered<T>(call: () => Promise<T>, repeatable: boolean): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('A Durable Object did not answer')), LONGEST_WAIT_MS)
  })
  try {
    return await Promise.race([repeatable ? twice(call) : call(), silence])
  } catch (cause) {
    throw busy(cause)
  } finally {
    clearTimeout(timer)
  }
}

async function twice<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!isPassing(error)) throw error
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    return call()
  }
}

/** As the platform marks it: the object was moved, evicted, or replaced by a deploy. A second call adds to an overload. */
function isPassing(error: unknown): boolean {
  const { retryable, overloaded } = Object(error) as { retryable?: unknown; overloaded?: unknown }
  return retryable === true && overloaded !== true
}

export function busy(cause?: unknown): AppError {
  return new AppError('unavailable', "We're handling a lot of requests right now. Please try again in a moment.", {
    cause,
    retryable: true,
    retryAfter: RETRY_AFTER_S,
  })
}
