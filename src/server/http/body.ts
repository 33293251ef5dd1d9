import type { MiddlewareHandler } from 'hono'
import * as z from 'zod/mini'
import type { AppEnv } from './app-env.ts'
import { nestFields } from './form-post.ts'
import { refuseShape, valid } from './valid.ts'

/**
 * Checks a body that arrives as JSON or from a plain HTML form (`user[email]`); read it with
 * `c.req.valid('json')` either way.
 * @param optional no body at all counts as an empty object
 */
export function body<S extends z.ZodMiniType>(shape: S, { optional = false } = {}) {
  const json = valid(shape)
  type Body = MiddlewareHandler<AppEnv, string, { in: { json: z.input<S> }; out: { json: z.output<S> } }>
  const either: Body = async (c, next) => {
    const form = c.get('form')
    const empty = optional && !form && (await c.req.text()) === ''
    if (!form && !empty) return (json as unknown as Body)(c, next)
    const result = shape.safeParse(nestFields(form ?? []))
    if (!result.success) throw refuseShape(result.error)
    c.req.addValidatedData('json', result.data as object)
    await next()
  }
  return Object.assign(either, { shape, optional })
}

/** An optional text: the form's rules say what is missing, not the shape. */
export const text = z.pipe(
  z.nullish(z.string()),
  z.transform((value) => value ?? ''),
)

/** A text that may be left out or null. */
export const optionalText = z.optional(z.nullable(z.string()))

/** An optional whole number, as JSON or forms send it; NaN if it is something else. */
export const wholeNumber = (missing: number) =>
  z.pipe(
    z.nullish(z.union([z.number(), z.string()])),
    z.transform((value) => (value === null || value === undefined || value === '' ? missing : Number(value))),
  )

type Numeric = number | string | null | undefined
const toNumber = (value: Numeric) => (value === null || value === undefined || value === '' ? null : Number(value))

/** A number, as JSON or forms send it; NaN if it is something else, null without it. */
export const optionalNumber = z.pipe(z.nullish(z.union([z.number(), z.string()])), z.transform(toNumber))

/** The same, but it must be there: for settings that null switches off, so that an empty body doesn't. */
export const numberOrNull = z.pipe(
  z.nullable(z.union([z.number(), z.string()])),
  z.transform((value: number | string | null) => toNumber(value)),
)

const sentByCheckbox = z.nullish(z.union([z.boolean(), z.enum(['1', 'true', 'on']), z.enum(['0', 'false', 'off', ''])]))
type Sent = z.output<typeof sentByCheckbox>
const isOn = (value: Sent) => value === true || value === '1' || value === 'true' || value === 'on'

/** A checkbox, as JSON or forms send it. */
export const checkbox = z.pipe(
  sentByCheckbox,
  z.transform((value: Sent) => isOn(value)),
)

/** A checkbox that stays as it is if it is left out: null. */
export const optionalCheckbox = z.pipe(
  sentByCheckbox,
  z.transform((value: Sent) => (value === undefined || value === null ? null : isOn(value))),
)
