import { createMiddleware } from 'hono/factory'
import { AppError } from '../../domain/error.ts'
import type { AppEnv } from './app-env.ts'
import { checkToken } from './bearer.ts'
import { bearerOf } from './caller.ts'
import { factsOf, matchedRoute } from './site-map.ts'

/** Pages redirect people to where they may be; calls refuse. */
export const checkAccess = createMiddleware<AppEnv>(async (c, next) => {
  const route = matchedRoute(c)
  if (route === null) return next()
  const facts = factsOf(c)
  if (!facts) throw new Error(`${route} is not in the site map`)
  if (bearerOf(c) !== null) checkToken(c, facts)
  const { access, kind } = facts
  const user = c.var.signIn?.user
  if (access === 'public' || (access === 'guest' && !user)) return next()
  if (access === 'guest') return c.redirect('/dashboard')
  if (!user) {
    if (kind === 'page') return c.redirect(access === 'admin' ? '/dashboard' : '/sign_in')
    throw new AppError('unauthenticated', 'Please sign in first.')
  }
  if (access === 'admin' && !user.admin) {
    if (kind === 'page') return c.redirect('/dashboard')
    throw new AppError('forbidden', 'You are not allowed to do that.')
  }
  return next()
})
