import type { Context as HonoContext } from 'hono'
import { createMiddleware } from 'hono/factory'
import { readSignInToken } from '../../accounts/credentials/sign-in-token.ts'
import { findSignIn, isUseDue, noteUse, userOfSignIn } from '../../accounts/live-sign-ins.ts'
import type { AppEnv } from '../app-env.ts'
import { signInByToken } from '../bearer.ts'
import { bearerOf } from '../caller.ts'
import { readCookie } from '../cookies.ts'
import { factsOf } from '../matched-route.ts'

/**
 * Finds who is asking: a browser by its cookie, a program by its API token. One round trip also carries the
 * route's own reads; without either there is none. A database outage is an error, never "signed out".
 */
export const currentSignIn = createMiddleware<AppEnv>(async (c, next) => {
  c.set('signIn', null)
  c.set('readAlong', [])
  const token = bearerOf(c)
  if (token === null) await signInByCookie(c)
  else await signInByToken(c, token)
  await next()
  // A shared cache would give them to others.
  if (c.res.headers.get('Cache-Control')?.startsWith('public'))
    for (const name of ['X-Person', 'RateLimit']) c.header(name, undefined)
})

async function signInByCookie(c: HonoContext<AppEnv>): Promise<void> {
  const { ctx } = c.var
  const cookie = readCookie(c, 'sign_in')
  if (!cookie) return
  const id = await readSignInToken(ctx, cookie)
  const facts = factsOf(c)
  const found = id ? await findSignIn(ctx, id, facts?.reads?.(ctx, userOfSignIn(id)) ?? []) : null
  if (!found) {
    // The cookie stays: clearing it could delete the one that a sign-in in another tab has just set.
    c.set('endedSignIn', id)
    return
  }
  c.set('signIn', found.signIn)
  // An older page of someone else notices before it acts.
  c.header('X-Person', found.signIn.user.id)
  c.set('readAlong', found.along)
  // Opening a page or doing something counts as use; an open page's polling does not.
  if (c.req.method !== 'HEAD' && !facts?.byItself && isUseDue(ctx, found.lastSeenAt))
    ctx.background(noteUse(ctx, found.signIn.id))
}
