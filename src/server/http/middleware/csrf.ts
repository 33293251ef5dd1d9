import type { Context as HonoContext } from 'hono'
import { createMiddleware } from 'hono/factory'
import { AppError } from '../../../domain/error.ts'
import type { AppEnv } from '../app-env.ts'
import { bearerOf } from '../caller.ts'
import { readCookie, writeCookie } from '../cookies.ts'
import { issueToken, newBrowserId, readToken } from '../csrf-token.ts'
import { isFormPost, mediaType, readFileForm, wantsPage } from '../form-post.ts'
import { factsOf } from '../matched-route.ts'
import type { RouteFacts } from '../route-table.ts'

/** Refuses every change that our own pages didn't send. Puts a form that passes into `c.var.form`. */
export const csrf = createMiddleware<AppEnv>(async (c, next) => {
  const facts = factsOf(c)
  c.set('form', null)
  if (bearerOf(c) !== null) {
    await refuseForeignBody(c)
    return next()
  }
  if (facts?.fromPrograms) refuseForeignPage(c)
  else if (c.req.method !== 'GET' && c.req.method !== 'HEAD' && !facts?.signedBySender)
    await refuseForeign(c, facts ?? {})
  await next()
  if (facts?.givesToken && !c.var.form) c.header('X-CSRF-Token', csrfToken(c))
})

/** Whether the browser says that our own page sent it; null if it doesn't say. */
function saysOwn(c: HonoContext<AppEnv>): boolean | null {
  const site = c.req.header('Sec-Fetch-Site')
  const origin = c.req.header('Origin')
  if (site !== undefined) return site === 'same-origin'
  return origin === undefined ? null : c.var.ctx.config.origins.includes(origin)
}

export function isOwn(c: HonoContext<AppEnv>): boolean {
  return saysOwn(c) === true
}

/** No cookie counts here. But no other site should spend a visitor's limits. */
function refuseForeignPage(c: HonoContext<AppEnv>): void {
  if (saysOwn(c) === false) throw refused()
}

async function refuseForeign(
  c: HonoContext<AppEnv>,
  { token, takesFile }: Pick<RouteFacts, 'token' | 'takesFile'>,
): Promise<void> {
  if (!isOwn(c)) throw refused()

  const withFile = takesFile ? await readFileForm(c) : null
  const form = withFile?.fields ?? (isFormPost(c) ? new URLSearchParams(await c.req.text()) : null)
  // Browsers send other media types across sites without a preflight.
  if (!form && mediaType(c) !== 'application/json' && (await c.req.text()) !== '') throw refused()

  const needsToken = token === 'always' || (form !== null && token !== 'never')
  const given = form ? form.get('authenticity_token') : c.req.header('X-CSRF-Token')
  const browser = readCookie(c, 'browser')
  const shown = given && browser ? readToken(c.var.ctx.config.secretKey, browser, given) : null
  const isRefused = needsToken && !shown
  // A browser gets a page, which depends on who is signed in: see access.ts.
  if (isRefused && !(form && wantsPage(c))) throw refused()
  c.set('isRefusedForm', isRefused)
  c.set('form', form)
  c.set('file', withFile?.file ?? null)
  if (given && token !== 'never') c.set('shown', shown)
}

/** A program needn't prove its origin, because nobody else knows its token. */
async function refuseForeignBody(c: HonoContext<AppEnv>): Promise<void> {
  if (mediaType(c) === 'application/json' || (await c.req.text()) === '') return
  throw new AppError('malformed', 'Send the body as JSON, with Content-Type: application/json.')
}

export function refused(): AppError {
  return new AppError('csrf', 'Invalid CSRF token.')
}

/** The token for a page's meta tag and forms: masked differently each time, bound to this browser and its person. */
export function csrfToken(c: HonoContext<AppEnv>): string {
  let browser = c.get('browserId') ?? readCookie(c, 'browser')
  if (!browser) {
    browser = newBrowserId()
    writeCookie(c, 'browser', browser)
  }
  c.set('browserId', browser)
  const { tokensFor = c.get('signIn')?.user.id ?? null } = c.var
  return issueToken(c.var.ctx.config.secretKey, browser, tokensFor)
}
