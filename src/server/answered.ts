import { AppError } from '../domain/error.ts'

/** A Durable Object that cannot be reached is no fault of the request: it may be tried again. */
export async function answered<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (cause) {
    throw new AppError('unavailable', 'We are very busy right now. Please try again in a moment.', {
      cause,
      retryable: true,
    })
  }
}
