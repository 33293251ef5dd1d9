/** Every code that a program can see in a refusal, with its HTTP status. docs/api.md says what each means. */
export const REFUSALS = {
  unauthenticated: 401,
  invalid_credentials: 401,
  second_factor_required: 401,
  invalid_code: 401,
  no_minutes: 402,
  suspended: 402,
  plan_unpaid: 402,
  no_plan: 402,
  budget: 402,
  forbidden: 403,
  held: 403,
  csrf: 403,
  insufficient_scope: 403,
  not_found: 404,
  method_not_allowed: 405,
  has_server: 409,
  stopping: 409,
  not_running: 409,
  other_person: 409,
  conflict: 409,
  too_large: 413,
  invalid: 422,
  not_offered: 422,
  unaddressable: 422,
  too_many: 429,
  provider_failed: 502,
  no_capacity: 503,
  unavailable: 503,
} as const

export type RefusalCode = keyof typeof REFUSALS

/** Codes that only our code distinguishes, with their HTTP status and the code that programs see. */
const OURS = {
  /** Not JSON, or a field is missing or has the wrong type. */
  malformed: { status: 400, code: 'invalid' },
  /** Its body didn't arrive in time. */
  late: { status: 408, code: 'invalid' },
  /** It existed, and is gone for good. */
  gone: { status: 410, code: 'not_found' },
  /** Our own bug: the user gets a fixed sentence. */
  unexpected: { status: 500, code: 'unavailable' },
} as const

/** What went wrong. */
export type ErrorCode = RefusalCode | keyof typeof OURS

/** The HTTP status of a refusal, and the code that programs see. */
export function refusalOf(code: ErrorCode): { status: number; code: RefusalCode } {
  return isOurs(code) ? OURS[code] : { status: REFUSALS[code], code }
}

const isOurs = (code: ErrorCode): code is keyof typeof OURS => Object.hasOwn(OURS, code)

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

/** What every refusal is: a code for programs, a sentence for people. */
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
