import type { Context as HonoContext } from 'hono'
import { createMiddleware } from 'hono/factory'
import { AppError } from '../../../domain/error.ts'
import type { AppEnv } from '../app-env.ts'
import { readCookie, writeCookie } from '../cookies.ts'
import { issueToken, newBrowserId, verifyToken } from '../csrf-token.ts'
import { isFormPost, mediaType } from '../form-post.ts'

const BROWSER_LIFETIME_S = 30 * 24 * 3600
/** Signed by Stripe itself. */
const SIGNED_BY_SENDER = new Set(['POST /webhooks/stripe'])
/** Calls that change who is signed in, or the account: the page's token, too. */
const TOKEN_NEEDED = new Set([
  'POST /users/sign_in',
  'DELETE /users/sign_out',
  'PUT /users',
  'DELETE /users',
  'PUT /users/password',
])
const TOKEN_NEEDED_BELOW = '/api/v1/users/sign_ins'
/** Stands on pages that are the same for everybody, which hold no token; changes nothing but a colour. */
const TOKEN_FREE = new Set(['POST /theme'])
/** A page that was not reloaded goes on with the token that these answer. */
const TOKEN_GIVEN = new Set(['POST /users', 'POST /users/sign_in', 'GET /api/v1/users/get_session'])

/** Refuses every change that our own pages did not ask for. A form that passes is in `c.var.form` afterwards. */
export const csrf = createMiddleware<AppEnv>(async (c, next) => {
  const call = `${c.req.method} ${c.req.path}`
  c.set('form', null)
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD' && !SIGNED_BY_SENDER.has(call)) await refuseForeign(c, call)
  if (TOKEN_GIVEN.has(call)) c.header('X-CSRF-Token', csrfToken(c))
  await next()
})

async function refuseForeign(c: HonoContext<AppEnv>, call: string): Promise<void> {
  const site = c.req.header('Sec-Fetch-Site')
  const origin = c.req.header('Origin')
  const own =
    site === undefined ? origin !== undefined && c.var.ctx.config.origins.includes(origin) : site === 'same-origin'
  if (!own) throw refused()

  const form = isFormPost(c) ? new URLSearchParams(await c.req.text()) : null
  // Anything but JSON or a form can be sent across sites without the browser asking first.
  if (!form && mediaType(c) !== 'application/json' && (await c.req.text()) !== '') throw refused()

  const needsToken =
    (form !== null && !TOKEN_FREE.has(call)) || TOKEN_NEEDED.has(call) || c.req.path.startsWith(TOKEN_NEEDED_BELOW)
  const token = form ? form.get('authenticity_token') : c.req.header('X-CSRF-Token')
  const browser = readCookie(c, 'browser')
  if (needsToken && !(token && browser && verifyToken(c.var.ctx.config.secretKey, browser, token))) throw refused()
  c.set('form', form)
}

function refused(): AppError {
  return new AppError('forbidden', 'Invalid CSRF token.')
}

/** The token for a page's meta tag and forms: another text each time, bound to the browser that it is given to. */
export function csrfToken(c: HonoContext<AppEnv>): string {
  let browser = c.get('browserId') ?? readCookie(c, 'browser')
  if (!browser) {
    browser = newBrowserId()
    writeCookie(c, 'browser', browser, BROWSER_LIFETIME_S)
  }
  c.set('browserId', browser)
  return issueToken(c.var.ctx.config.secretKey, browser)
}
