import type { Context as HonoContext } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { AppEnv } from './app-env.ts'
import { setFlash } from './flash.ts'
import { factsOf } from './site-map.ts'

/**
 * What a call that a plain HTML form may make, too, answers: JSON; for a form a redirect to the screen that comes next, where
 * `message` is shown. `carry` fills the form of that screen.
 */
export function answer(
  c: HonoContext<AppEnv>,
  body: { message?: string } & Record<string, unknown>,
  { status = 200, carry = {} }: { status?: ContentfulStatusCode; carry?: Record<string, string> } = {},
): Response {
  const form = c.get('form')
  // Our own pages ask for it when they move on to another screen, which then shows the message in its first HTML.
  if (body.message && (form || c.req.header('X-Flash')))
    setFlash(c, { kind: 'success', message: body.message, values: carry })
  if (!form) return c.json(body, status)
  return c.redirect(factsOf(c)?.form?.done ?? '/dashboard', 303)
}
