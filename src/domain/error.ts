/** What went wrong, independent of transport. `src/server/http/error-response.ts` maps each code to an HTTP status. */
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
  /** Our own bug: the user gets a fixed sentence. */
  | 'unexpected'

type Options = {
  cause?: unknown
  /** Every sentence, for forms with several faults. */
  errors?: string[]
  /** Whether the same call, unchanged, may succeed later. */
  retryable?: boolean
  /** Seconds, for `too_many` and `unavailable`. */
  retryAfter?: number
  /** The form field that the first sentence is about. */
  field?: string | null
  /** The path of the page where the user can fix it. */
  page?: string
}

/** For `catch`: rethrows an AppError and turns anything else into one with this sentence. */
export function orElse(sentence: string): (thrown: unknown) => never {
  return (cause) => {
    throw cause instanceof AppError ? cause : new AppError('unexpected', sentence, { cause })
  }
}

/** The product's only error class: a code for programs, a sentence for people. */
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
