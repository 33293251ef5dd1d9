import type { Context as HonoContext } from 'hono'
import { createMiddleware } from 'hono/factory'
import { ACT_WITHIN_MS } from '../../domain/audit.ts'
import { AppError } from '../../domain/error.ts'
import { whyEnded } from '../accounts/live-sign-ins.ts'
import type { AppEnv } from './app-env.ts'
import { checkToken } from './bearer.ts'
import { bearerOf } from './caller.ts'
import { formPage } from './error-response.ts'
import { isPrefetch, isSeen, setFlash } from './flash.ts'
import { findOwnPath, findOwnReferrer } from './own-path.ts'
import { factsOf, matchedRoute, type RouteFacts } from './site-map.ts'
import { keepWayBack } from './way-back.ts'

/** Pages redirect people to where they may be; calls refuse. */
export const checkAccess = createMiddleware<AppEnv>(async (c, next) => {
  const route = matchedRoute(c)
  if (route === null) return next()
  const facts = factsOf(c)
  if (!facts) throw new Error(`${route} is not in the site map`)
  if (bearerOf(c) !== null && !facts.ownToken) checkToken(c, facts)
  const { access, kind } = facts
  const user = c.var.signIn?.user
  if (access === 'public' || (access === 'guest' && !user)) return next()
  if (access === 'guest') return c.redirect('/dashboard')
  if (!user) {
    if (kind === 'page') return askToSignIn(c, access === 'admin' ? '/dashboard' : '/sign_in')
    throw new AppError('unauthenticated', c.var.form ? await refuseForm(c, facts) : SIGN_IN_FIRST)
  }
  if (access === 'admin' && !user.admin) {
    if (kind === 'page') return c.redirect('/dashboard')
    throw new AppError('forbidden', 'You are not allowed to do that.')
  }
  if (facts.recentPassword && c.var.ctx.now() - (c.var.signIn?.passwordAt ?? 0) >= ACT_WITHIN_MS)
    return askForPassword(c)
  return next()
})

const SIGN_IN_FIRST = 'Please sign in first.'

/** Before an act in the console. After the password, it returns to the form's page. */
function askForPassword(c: HonoContext<AppEnv>): Response {
  const message = 'Confirm your password first, then act again.'
  if (!c.var.form) throw new AppError('forbidden', message, { page: '/admin/confirm' })
  setFlash(c, { kind: 'info', message })
  return c.redirect(`/admin/confirm?to=${encodeURIComponent(formPage(c, 'at'))}`, 303)
}

/** Sends a visitor to sign in, and remembers the page for afterward. Says why, if their session has ended. */
async function askToSignIn(c: HonoContext<AppEnv>, to: string): Promise<Response> {
  // The browser would show this answer without its cookies' message, so it must ask again.
  if (isPrefetch(c)) return c.body(null, 503)
  if (isSeen(c)) {
    const ended = await findEnded(c)
    if (ended) setFlash(c, { kind: 'info', message: ended.why })
    keepWayBack(c, findOwnPath(new URL(c.req.url)), ended?.userId ?? null)
  }
  return c.redirect(to)
}

/** The same for a plain form, whose own page it returns to. @returns what to say on the sign-in page */
async function refuseForm(c: HonoContext<AppEnv>, facts: RouteFacts): Promise<string> {
  const ended = await findEnded(c)
  keepWayBack(c, findOwnReferrer(c) ?? facts.form?.at ?? null, ended?.userId ?? null)
  return ended?.why ?? SIGN_IN_FIRST
}

/** Null for people who weren't signed in at all. */
async function findEnded(c: HonoContext<AppEnv>) {
  const id = c.get('endedSignIn')
  return id === undefined ? null : whyEnded(c.var.ctx, id)
}
