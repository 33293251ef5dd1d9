import { AppError } from '../domain/error.ts'

const RETRY_AFTER_S = 5
/** A full queue of hashes takes a few seconds, or ten on a slow machine. */
const LONGEST_WAIT_MS = 15_000

/** A Durable Object that is unreachable or silent is not the request's fault, so the error is retryable. */
export async function answered<T>(call: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('A Durable Object did not answer')), LONGEST_WAIT_MS)
  })
  try {
    return await Promise.race([call, silence])
  } catch (cause) {
    throw busy(cause)
  } finally {
    clearTimeout(timer)
  }
}

export function busy(cause?: unknown): AppError {
  return new AppError('unavailable', "We're handling a lot of requests right now. Please try again in a moment.", {
    cause,
    retryable: true,
    retryAfter: RETRY_AFTER_S,
  })
}
