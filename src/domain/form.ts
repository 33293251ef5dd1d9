import * as v from 'valibot'

/** One thing wrong with a form: a sentence and the field it belongs to (null: the whole form). */
export type FormFault = { field: string | null; message: string }

type FormSchema = v.GenericSchema<unknown, unknown>

/** One rule of a form: the field it is about, and the sentence to show when it fails. */
export const rule = <Form extends Record<string, unknown>>(
  field: keyof Form & string,
  holds: (form: Form) => boolean,
  sentence: string | ((form: Form) => string),
) =>
  v.rawCheck<Form>(({ dataset, addIssue }) => {
    if (!dataset.typed || holds(dataset.value)) return
    const { value } = dataset
    addIssue({
      message: typeof sentence === 'string' ? sentence : sentence(value),
      // Stryker disable next-line StringLiteral: Valibot's types require these words, and nobody reads them.
      path: [{ type: 'object', origin: 'value', input: value, key: field, value: value[field] }],
    })
  })

/** A form's normalized value, or the first rule that it breaks in schema order (with `every`, all of them). */
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
