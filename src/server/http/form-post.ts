import type { Context as HonoContext } from 'hono'
import { AppError } from '../../domain/error.ts'
import type { AppEnv } from './app-env.ts'

const FORM = 'application/x-www-form-urlencoded'
const FILE_FORM = 'multipart/form-data'

export function mediaType(c: HonoContext<AppEnv>): string {
  return (c.req.header('Content-Type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

/** Whether a plain HTML form sent this. We answer with a 303 and a message on the next page. */
export function isFormPost(c: HonoContext<AppEnv>): boolean {
  return mediaType(c) === FORM
}

/** Whether a browser shows the answer, rather than a program or our script. */
export function wantsPage(c: HonoContext<AppEnv>): boolean {
  return c.req.header('Accept')?.includes('text/html') ?? false
}

/** A plain HTML form with a file: its fields, and the file named `file`. Null if this is none. @throws malformed */
export async function readFileForm(
  c: HonoContext<AppEnv>,
): Promise<{ fields: URLSearchParams; file: File | null } | null> {
  if (mediaType(c) !== FILE_FORM) return null
  const headers = { 'Content-Type': c.req.header('Content-Type') ?? '' }
  const form = await new Response(await c.req.arrayBuffer(), { headers }).formData().catch((cause) => {
    throw new AppError('malformed', 'The form could not be read.', { cause })
  })
  const fields = new URLSearchParams()
  for (const [name, value] of form) if (typeof value === 'string') fields.append(name, value)
  const file = form.get('file')
  return { fields, file: typeof file === 'object' ? file : null }
}

/** `user[email]=…` becomes `{ user: { email: … } }`; of a repeated field, the last value counts. */
export function nestFields(fields: Iterable<[string, string]>): Record<string, unknown> {
  const nested: Record<string, string | Record<string, string>> = Object.create(null)
  for (const [name, value] of fields) {
    const [, group, key] = /^([^[\]]+)\[([^[\]]+)\]$/.exec(name) ?? []
    if (!group || !key) nested[name] = value
    else {
      const known = nested[group]
      // Filled, not copied for each field: 64 KiB can hold thousands.
      const inner: Record<string, string> = typeof known === 'object' ? known : Object.create(null)
      inner[key] = value
      nested[group] = inner
    }
  }
  return nested
}

/** The values to show again in a refused form: no passwords, codes, tokens, or secret values, and nothing that nobody typed. */
export function typedValues(form: URLSearchParams): Record<string, string> {
  const kept = [...form].filter(
    ([name]) =>
      !/password(_confirmation)?\]?$|^authenticity_token$|^_method$|^account$|^value$|^token$|^response$|(totp|recovery|passkey)\]?$/i.test(
        name,
      ),
  )
  return Object.fromEntries(kept)
}
