import { AppError } from '../domain/error.ts'

const RETRY_AFTER_S = 5

/** A Durable Object that cannot be reached is no fault of the request: it may be tried again. */
export async function answered<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (cause) {
    throw busy(cause)
  }
}

export function busy(cause?: unknown): AppError {
  return new AppError('unavailable', "We're handling a lot of requests right now. Please try again in a moment.", {
    cause,
    retryable: true,
    retryAfter: RETRY_AFTER_S,
  })
}
