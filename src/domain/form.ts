import * as v from 'valibot'

/** One thing wrong with a form: the sentence, and the field it belongs to (null: the form as a whole). */
export type FormFault = { field: string | null; message: string }

type FormSchema = v.GenericSchema<unknown, unknown>

/** One rule of a form: the field that it is about, and the sentence for a person who breaks it. */
export const rule = <Form extends Record<string, unknown>>(
  field: keyof Form & string,
  holds: (form: Form) => boolean,
  sentence: string,
) =>
  v.rawCheck<Form>(({ dataset, addIssue }) => {
    if (!dataset.typed || holds(dataset.value)) return
    const { value } = dataset
    addIssue({
      message: sentence,
      // Stryker disable next-line StringLiteral: words that Valibot's types want and nobody reads.
      path: [{ type: 'object', origin: 'value', input: value, key: field, value: value[field] }],
    })
  })

/** The first rule that a form breaks, in the order in which the schema names them, or `every` one; or its value, normalized. */
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
