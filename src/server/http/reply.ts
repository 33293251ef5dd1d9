import type { Context as HonoContext } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { AppEnv } from './app-env.ts'
import { bearerOf } from './caller.ts'
import { formPage } from './error-response.ts'
import { setFlash } from './flash.ts'

/**
 * Answers a call that a plain HTML form may make as well: JSON, or for a form a redirect to the next screen,
 * which shows `message`. `carry` fills in the form on that screen; `to`
 * replaces it.
 */
export function answer(
  c: HonoContext<AppEnv>,
  body: { message?: string } & Record<string, unknown>,
  {
    status = 200,
    carry = {},
    kind = 'success',
    to = formPage(c, 'done'),
  }: { status?: ContentfulStatusCode; carry?: Record<string, string>; kind?: 'success' | 'info'; to?: string } = {},
): Response {
  const form = c.get('form')
  // Which form this was, on a page with several.
  const about = form?.get('about')
  // Our pages send X-Flash when they go to another screen, so that its first HTML shows the message.
  if (body.message && (form || (c.req.header('X-Flash') && bearerOf(c) === null)))
    setFlash(c, { kind, message: body.message, values: { ...(about && { about }), ...carry } })
  if (!form) return c.json(body, status)
  return c.redirect(to, 303)
}
