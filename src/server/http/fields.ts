import * as z from 'zod/mini'
import { AppError } from '../../domain/error.ts'
import { nameFault, readParameters } from '../../domain/parameters.ts'

/** An optional text: the form's rules say what is missing, not the shape. */
export const text = z.pipe(
  z.nullish(z.string()),
  z.transform((value) => value ?? ''),
)

/** A text that may be left out or null. */
export const optionalText = z.optional(z.nullable(z.string()))

const sentText = z.nullish(z.string())
const toNumber = (sent: string | null | undefined) =>
  sent === null || sent === undefined || sent === '' ? null : Number(sent)

/** Reads a field of a plain form where JSON sends something other than a text. */
const ofForms = new WeakMap<z.ZodMiniType, z.ZodMiniType>()

function either<Json extends z.ZodMiniType>(json: Json, form: z.ZodMiniType<z.output<Json>, unknown>): Json {
  ofForms.set(json, form)
  return json
}

/** What a plain form with these fields may contain. */
export function shapeOfForm(shape: z.ZodMiniType): z.ZodMiniType {
  if (shape instanceof z.ZodMiniObject)
    return z.object(
      Object.fromEntries(
        Object.entries(shape.shape).map(([name, field]) => [name, shapeOfForm(field as z.ZodMiniType)]),
      ),
    )
  return ofForms.get(shape) ?? shape
}

/** What a passkey answered, or null. A form's script sends it as JSON in a text. */
export const passkeyAnswer = either(
  z.pipe(
    z.nullish(z.looseObject({})),
    z.transform((answer) => answer ?? null),
  ),
  z.pipe(
    sentText,
    z.transform((json) => readObject(json ?? '')),
  ),
)

function readObject(json: string): Record<string, unknown> | null {
  try {
    const read = JSON.parse(json)
    return typeof read === 'object' && !Array.isArray(read) ? read : null
  } catch {
    return null
  }
}

/** What a call sends to confirm who is asking: the password, and a second factor if the account has one. */
export const proof = { current_password: text, totp: text, recovery: text, passkey: passkeyAnswer }
/** The codes of its refusals. */
export const REFUSES_PROOF = ['invalid', 'second_factor_required', 'invalid_code'] as const

/** A number, or null if there is none; NaN for a form's text that isn't a number. */
export const optionalNumber = either(
  z.pipe(
    z.nullish(z.number()),
    z.transform((value) => value ?? null),
  ),
  z.pipe(sentText, z.transform(toNumber)),
)

/** The same, but required: for settings that null switches off, so that an empty body doesn't. */
export const numberOrNull = either(
  z.nullable(z.number()),
  z.pipe(
    z.string(),
    z.transform((sent: string) => toNumber(sent)),
  ),
)

/** The same, with a number instead of null. */
export const numberOr = (missing: number) =>
  either(
    z.pipe(
      z.nullish(z.number()),
      z.transform((value) => value ?? missing),
    ),
    z.pipe(
      sentText,
      z.transform((value) => toNumber(value) ?? missing),
    ),
  )

const sentByCheckbox = z.nullish(z.union([z.enum(['1', 'true', 'on']), z.enum(['0', 'false', 'off', ''])]))
const isOn = (sent: z.output<typeof sentByCheckbox>) => sent === '1' || sent === 'true' || sent === 'on'

/** A checkbox; off if missing. */
export const checkbox = either(
  z.pipe(
    z.nullish(z.boolean()),
    z.transform((value) => value ?? false),
  ),
  z.pipe(sentByCheckbox, z.transform(isOn)),
)

/** A checkbox that may be omitted (null: unchanged). */
export const optionalCheckbox = either(
  z.pipe(
    z.nullish(z.boolean()),
    z.transform((value) => value ?? null),
  ),
  z.pipe(
    sentByCheckbox,
    z.transform((sent) => (sent === undefined || sent === null ? null : isOn(sent))),
  ),
)

/** A text of several lines, as typed: a form also ends each with a carriage return. */
export const textLines = either(
  z.pipe(
    z.nullish(z.string()),
    z.transform((value) => value ?? ''),
  ),
  z.pipe(
    z.nullish(z.string()),
    z.transform((value) => (value ?? '').replaceAll('\r\n', '\n')),
  ),
)

/** Keyed by names of variables. zod silently drops `__proto__` from a record. @throws invalid */
const byName = <Value extends z.ZodMiniType>(value: Value, what: 'parameter' | 'secret') =>
  z.pipe(
    z.transform((sent) => {
      const fault = Object.hasOwn(Object(sent), '__proto__') && nameFault('__proto__', what)
      if (fault) throw new AppError('invalid', fault, { field: `${what}s` })
      return sent
    }),
    z.record(z.string(), value),
  )

/** Parameters of a run: an object, or a form's lines. */
export const parameters = either(
  z.pipe(
    z.nullish(byName(z.string(), 'parameter')),
    z.transform((sent) => sent ?? {}),
  ),
  z.pipe(
    sentText,
    z.transform((sent) => readParameters(sent ?? '')),
  ),
)

/** The words of a command, in a plain form as JSON; null without one. */
export const command = either(
  z.pipe(
    z.nullish(z.array(z.string())),
    z.transform((words) => words ?? null),
  ),
  z.pipe(
    sentText,
    z.transform((sent) => (sent ? readWords(sent) : null)),
  ),
)

/** Empty if it isn't a list of words, so that nothing else starts in its place. */
function readWords(json: string): string[] {
  try {
    const words = JSON.parse(json)
    return Array.isArray(words) && words.every((word) => typeof word === 'string') ? words : []
  } catch {
    return []
  }
}

/** The checkboxes that are on, as a list of their names. */
export const checkedNames = either(
  z.pipe(
    z.nullish(z.array(z.string())),
    z.transform((names) => names ?? []),
  ),
  z.pipe(
    z.nullish(byName(sentByCheckbox, 'secret')),
    z.transform((sent) => Object.keys(sent ?? {}).filter((name) => isOn(sent?.[name]))),
  ),
)
