import { zValidator } from '@hono/zod-validator'
import type { ValidationTargets } from 'hono'
import type { ZodType } from 'zod'
import { AppError } from '../../domain/error.ts'

/** What shape may arrive. Anything else is refused with one sentence that names the field. */
export function valid<Target extends keyof ValidationTargets, Schema extends ZodType>(target: Target, schema: Schema) {
  return zValidator(target, schema, (result) => {
    if (!result.success) throw refuseShape(result.error)
  })
}

export function refuseShape(error: { issues: readonly { path: PropertyKey[] }[] }): AppError {
  const field = error.issues[0]?.path.join('.')
  return new AppError(
    'malformed',
    field ? `The field "${field}" is missing or not of the right kind.` : 'The request body must be a JSON object.',
  )
}
