import { validator } from 'hono/validator'
import type { output, ZodMiniType } from 'zod/mini'
import { AppError } from '../../domain/error.ts'

/** Checks the shape of a JSON body, and refuses a wrong one with a sentence that names the field. */
export function valid<Schema extends ZodMiniType>(shape: Schema) {
  const check = validator('json', (value): output<Schema> => {
    const result = shape.safeParse(value)
    if (!result.success) throw refuseShape(result.error)
    if (!isWellFormed(result.data)) throw new AppError('malformed', 'The request body is not valid Unicode text.')
    return result.data
  })
  return Object.assign(check, { shape })
}

/** The shape that a route's handler checks, for the API's description; null for any other handler. */
export function shapeOf(handler: object): ZodMiniType | null {
  return 'shape' in handler ? (handler.shape as ZodMiniType) : null
}

export function isOptional(handler: object): boolean {
  return 'optional' in handler && handler.optional === true
}

export function refuseShape(error: { issues: readonly { path: PropertyKey[] }[] }): AppError {
  const field = error.issues[0]?.path.join('.')
  return new AppError(
    'malformed',
    field ? `The field "${field}" is missing or has the wrong type.` : 'The request body must be a JSON object.',
  )
}

/** JSON can contain lone surrogates (`\ud800`), which databases reject. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  return typeof value !== 'object' || value === null || Object.values(value).every(isWellFormed)
}
