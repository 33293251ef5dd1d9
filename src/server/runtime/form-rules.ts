import type * as v from 'valibot'
import { AppError } from '../../domain/error.ts'
import { checkForm } from '../../domain/form.ts'

/** The form's value, normalized. @throws invalid with the sentence that the browser shows for the same fault */
export function requireValid<S extends v.GenericSchema<unknown, unknown>>(
  schema: S,
  input: v.InferInput<S>,
  options: { every?: boolean } = {},
): v.InferOutput<S> {
  const result = checkForm(schema, input, options)
  if (result.ok) return result.value
  const [first] = result.faults
  throw new AppError('invalid', first.message, {
    errors: result.faults.map((fault) => fault.message),
    field: first.field,
  })
}
