import type { Context as HonoContext } from 'hono'
import { createMiddleware } from 'hono/factory'
import { ACT_WITHIN_MS, READ_WITHIN_MS } from '../../domain/audit.ts'
import { AppError } from '../../domain/error.ts'
import { personOfToken } from '../../domain/page-token.ts'
import { NOW_SIGNED_OUT, nowSignedInAs, PAGE_TOO_OLD } from '../../domain/user.ts'
import { whyEnded } from '../accounts/live-sign-ins.ts'
import { type AppEnv, signedIn } from './app-env.ts'
import { checkToken } from './bearer.ts'
import { bearerOf } from './caller.ts'
import { formPage } from './error-response.ts'
import { isPrefetch, isSeen, setFlash } from './flash.ts'
import { typedValues } from './form-post.ts'
import { factsOf, matchedRoute } from './matched-route.ts'
import { findOwnPath, findOwnReferrer } from './own-path.ts'
import type { RouteFacts } from './route-table.ts'
import { keepWayBack } from './way-back.ts'

/** Pages redirect people to where they may be; calls refuse. */
export const checkAccess = createMiddleware<AppEnv>(async (c, next) => {
  const route = matchedRoute(c)
  if (route === null) return next()
  const facts = factsOf(c)
  if (!facts) throw new Error(`${route} is in no table of routes`)
  // No ID contains one, and neither the database nor a header can carry it.
  if (c.req.path.includes('\0')) return c.notFound()
  if (bearerOf(c) !== null && !facts.ownToken) checkToken(c, facts)
  const { access, kind } = facts
  const user = c.var.signIn?.user
  if (access === 'guest') return user ? c.redirect('/dashboard') : next()
  if (!user && access !== 'public') {
    if (kind === 'page') return askToSignIn(c, access === 'admin' ? '/dashboard' : '/sign_in')
    throw new AppError('unauthenticated', c.var.form ? await refuseForm(c, c.var.form) : SIGN_IN_FIRST)
  }
  refuseStalePage(c, facts)
  if (!user) return next()
  if (access === 'admin' && !user.admin) {
    if (kind === 'page') return turnAway(c)
    throw new AppError('forbidden', 'You are not allowed to do that.')
  }
  if (access === 'admin' && !facts.withoutFactor && c.var.ctx.config.adminFactor && !c.var.signIn?.hasFactor)
    return askForFactor(c, kind)
  const provedAgo = c.var.ctx.now() - (c.var.signIn?.passwordAt ?? 0)
  if (facts.recentPassword && provedAgo >= ACT_WITHIN_MS) return askToConfirm(c, kind, CONFIRM_TO_ACT)
  if (access === 'admin' && !facts.withoutProof && provedAgo >= READ_WITHIN_MS)
    return askToConfirm(c, kind, CONFIRM_TO_READ)
  return next()
})

const ONLY_ADMINS = 'Only admins can open the console.'
const CONSOLE_NEEDS_FACTOR = 'Add a second factor first: the console opens only with one.'
const CONFIRM_TO_ACT = "Confirm it's you first, then act again."
const CONFIRM_TO_READ = 'Please confirm who you are: the console asks again after 12 hours.'
const SIGN_IN_FIRST = 'Please sign in first.'

/**
 * A page acts for the person it shows. It may be older than a sign-in of someone else in another tab.
 * @throws csrf, other_person
 */
function refuseStalePage(c: HonoContext<AppEnv>, { forAnyone }: RouteFacts): void {
  const { shown, signIn } = c.var
  if (c.var.isRefusedForm) throw new AppError('csrf', PAGE_TOO_OLD)
  const userId = signIn?.user.id ?? null
  if (shown === undefined || shown?.userId === userId) return
  if (forAnyone && !(shown?.userId && signIn)) return
  if (!shown) throw new AppError('other_person', PAGE_TOO_OLD, { page: ownPage(c) })
  throw new AppError('other_person', signIn ? nowSignedInAs(signIn.user) : NOW_SIGNED_OUT, { page: ownPage(c) })
}

/** For a read that a page makes for the person it shows. @throws other_person */
export function requirePerson(c: HonoContext<AppEnv>, shown: string | undefined, page: string): void {
  const { user } = signedIn(c)
  if (shown !== undefined && shown !== user.id) throw new AppError('other_person', nowSignedInAs(user), { page })
}

/** Where the person who is now signed in finds what they wanted to change. */
const ownPage = (c: HonoContext<AppEnv>) => (factsOf(c)?.form ? formPage(c, 'at') : '/dashboard')

function turnAway(c: HonoContext<AppEnv>): Response {
  if (isSeen(c)) setFlash(c, { kind: 'info', message: ONLY_ADMINS })
  return c.redirect('/dashboard')
}

/** Until an admin has a second factor, the console shows only the page that adds one. */
function askForFactor(c: HonoContext<AppEnv>, kind: RouteFacts['kind']): Response {
  const page = '/account_security'
  if (kind !== 'page' && !c.var.form) throw new AppError('forbidden', CONSOLE_NEEDS_FACTOR, { page })
  if (isSeen(c)) setFlash(c, { kind: 'info', message: CONSOLE_NEEDS_FACTOR })
  return c.redirect(page, 303)
}

/** Before an act in the console, or before reading on after a long time. Returns to the page, or to the form's page. */
function askToConfirm(c: HonoContext<AppEnv>, kind: RouteFacts['kind'], message: string): Response {
  if (kind !== 'page' && !c.var.form) throw new AppError('forbidden', message, { page: '/admin/confirm' })
  if (isSeen(c)) setFlash(c, { kind: 'info', message })
  // A download opens no page to return to.
  const read = factsOf(c)?.file ? findOwnReferrer(c) : findOwnPath(new URL(c.req.url))
  const to = c.var.form ? formPage(c, 'at') : read
  return c.redirect(`/admin/confirm?${new URLSearchParams({ to: to ?? '' })}`, 303)
}

/** Sends a visitor to sign in, and remembers the page for afterward. Says why, if their session has ended. */
async function askToSignIn(c: HonoContext<AppEnv>, to: string): Promise<Response> {
  // The browser would show this answer without its cookies' message, so it must ask again.
  if (isPrefetch(c)) return c.body(null, 503)
  if (isSeen(c)) {
    const ended = await findEnded(c)
    if (ended) setFlash(c, { kind: 'info', code: 'unauthenticated', message: ended.why })
    keepWayBack(c, { path: findOwnPath(new URL(c.req.url)), userId: ended?.userId ?? null })
  }
  return c.redirect(to)
}

/**
 * The same for a plain form: returns to its own page, with what was typed, if the page's person signs in. Without
 * cookies, only the form's token still says who that is.
 * @returns what to say on the sign-in page
 */
async function refuseForm(c: HonoContext<AppEnv>, form: URLSearchParams): Promise<string> {
  const ended = await findEnded(c)
  const shown = personOfToken(form.get('authenticity_token') ?? '')
  const userId = ended?.userId ?? (shown || null)
  keepWayBack(c, {
    path: findOwnReferrer(c) ?? formPage(c, 'at'),
    userId,
    values: userId ? typedValues(form) : undefined,
  })
  return ended?.why ?? SIGN_IN_FIRST
}

/** Null for people who weren't signed in at all. */
async function findEnded(c: HonoContext<AppEnv>) {
  const id = c.get('endedSignIn')
  return id === undefined ? null : whyEnded(c.var.ctx, id)
}
