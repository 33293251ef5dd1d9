import type { Context as HonoContext } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { isDatabaseBusy, NoAnswer } from '../../../db/client.ts'
import { AppError, refusalOf } from '../../domain/error.ts'
import type { AppEnv } from './app-env.ts'
import { askForCookies, setFlash } from './flash.ts'
import { typedValues } from './form-post.ts'
import { factsOf, matchedRoute } from './matched-route.ts'
import { findOwnReferrer } from './own-path.ts'

export function statusOf(error: AppError): ContentfulStatusCode {
  return refusalOf(error.code).status as ContentfulStatusCode
}

/** The body of every refusal; some calls also carry the list as `Errors`, or more. */
export function errorBody(error: AppError) {
  const { code } = refusalOf(error.code)
  const body = { code, error: error.message, message: error.message, errors: error.errors }
  return error.page === undefined ? body : { ...body, page: error.page }
}

/** Turns anything that isn't ours into a fixed sentence, never a vendor's words. */
export function toAppError(thrown: unknown): AppError {
  for (let e = thrown; e instanceof Error; e = e.cause) {
    if (e instanceof AppError) return e
    if (isDatabaseBusy(e)) return new NoAnswer(thrown)
  }
  if (thrown instanceof HTTPException && thrown.status === 400)
    return new AppError('malformed', 'The request body is not valid JSON.', { cause: thrown })
  return new AppError('unexpected', 'Something went wrong on our side. Please try again in a moment.', {
    cause: thrown,
  })
}

/** JSON, or for a plain HTML form a redirect back to it with the sentence and the typed values. */
export function errorResponse(thrown: unknown, c: HonoContext<AppEnv>, extra: Record<string, unknown> = {}): Response {
  const error = toAppError(thrown)
  const status = statusOf(error)
  // An intended refusal, such as a full fleet, needs no investigation.
  if (status >= 500 && (error !== thrown || error.cause)) logError(thrown, c)
  if (error.retryAfter !== undefined) c.header('Retry-After', String(error.retryAfter))
  const form = c.get('form')
  if (form) {
    // Several faults belong to the form, not to one field.
    const field = error.errors.length === 1 ? error.field : null
    // Someone else is signed in now, who didn't type this.
    const values = error.code === 'other_person' && c.var.signIn ? {} : typedValues(form)
    const { code } = refusalOf(error.code)
    setFlash(c, { kind: 'danger', message: error.errors.join(', '), code, field, values })
    if (error.code === 'unauthenticated') return c.redirect('/sign_in', 303)
    const page = formPage(c, 'at')
    return c.redirect(error.code === 'csrf' ? askForCookies(page) : page, 303)
  }
  return c.json({ ...errorBody(error), ...factsOf(c)?.errorFields?.(error), ...extra }, status)
}

/** The page to return to from a plain form. */
export function formPage(c: HonoContext<AppEnv>, which: 'at' | 'done'): string {
  const form = factsOf(c)?.form
  const position = matchedRoute(c)?.split('/').indexOf(':id') ?? -1
  // Once decoded, it may contain characters that no header can.
  const id = encodeURIComponent(c.req.path.split('/')[position] ?? '')
  const page = (form?.[which] ?? '/dashboard').replace(':id', () => id)
  const { query = '', field = '' } = (which === 'at' && form?.keeps) || {}
  const kept = c.get('form')?.get(field)
  const search = kept ? `?${new URLSearchParams({ [query]: kept })}` : ''
  return (form?.back ? findOwnReferrer(c) : null) ?? page + search
}

/** Logs for the operator what we don't show people. */
export function logError(thrown: unknown, c: HonoContext<AppEnv>): void {
  c.var.log('request_failed', { path: c.req.path }, thrown)
}
