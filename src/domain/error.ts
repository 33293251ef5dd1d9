/** What went wrong, free of any transport. `src/server/http/error-response.ts` gives each its HTTP status. */
export type ErrorCode =
  | 'malformed'
  | 'unauthenticated'
  | 'payment_required'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'too_large'
  | 'invalid'
  | 'too_many'
  | 'provider_failed'
  | 'unavailable'
  /** A fault of ours: answered with a fixed sentence. */
  | 'unexpected'

type Options = {
  cause?: unknown
  /** More than one sentence, for forms with several faults. */
  errors?: string[]
  /** Whether the same call may succeed later without anyone changing anything. */
  retryable?: boolean
  /** Seconds, for `too_many` and `unavailable`. */
  retryAfter?: number
  /** The field of a form that the first sentence is about. */
  field?: string | null
  /** A path of ours where the person can do something about it. */
  page?: string
}

/** For `catch`: what of ours is no AppError yet becomes one with the sentence that its call has for that. */
export function orElse(sentence: string): (thrown: unknown) => never {
  return (cause) => {
    throw cause instanceof AppError ? cause : new AppError('unexpected', sentence, { cause })
  }
}

/** The one error of this product: a code for the program, a sentence for the person. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly errors: string[]
  readonly retryable: boolean
  readonly retryAfter: number | undefined
  readonly field: string | null
  readonly page: string | undefined

  constructor(code: ErrorCode, sentence: string, options: Options = {}) {
    super(sentence, { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.errors = options.errors?.length ? options.errors : [sentence]
    this.retryable = options.retryable ?? false
    this.retryAfter = options.retryAfter
    this.field = options.field ?? null
    this.page = options.page
  }
}
