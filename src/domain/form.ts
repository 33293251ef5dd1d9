import * as v from 'valibot'

/** One thing wrong with a form: the sentence, and the field it belongs to (null: the form as a whole). */
export type FormFault = { field: string | null; message: string }

type FormSchema = v.GenericSchema<unknown, unknown>

/** The first rule that a form breaks, in the order in which the schema names them, or `every` one; or its value, normalised. */
export function checkForm<S extends FormSchema>(
  schema: S,
  input: unknown,
  { every = false }: { every?: boolean } = {},
): { ok: true; value: v.InferOutput<S> } | { ok: false; faults: [FormFault, ...FormFault[]] } {
  const result = v.safeParse(schema, input, { abortPipeEarly: !every })
  if (result.success) return { ok: true, value: result.output }
  const [first, ...others] = result.issues.map((issue) => ({ field: v.getDotPath(issue), message: issue.message }))
  return { ok: false, faults: [first as FormFault, ...others] }
}
