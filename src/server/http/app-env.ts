import type { Context as HonoContext } from 'hono'
import { AppError } from '../../domain/error.ts'
import type { CurrentSignIn } from '../accounts/live-sign-ins.ts'
import type { Context } from '../context.ts'
import type { Env } from '../env.ts'
import type { Log } from '../log.ts'

/** What Hono hands to every handler. */
export type AppEnv = {
  Bindings: Env
  Variables: {
    ctx: Context
    signIn: CurrentSignIn | null
    /** What this route had read along with the sign-in: see site-map.ts. */
    readAlong: readonly unknown[]
    requestId: string
    /** The request's own, also while it has no context. */
    log: Log
    /** The whole answer, when it is the same for every visitor. */
    sameForAll: string | undefined
    /** The fields of a plain HTML form, once its CSRF token was checked. */
    form: URLSearchParams | null
    /** What CSRF tokens of this answer are bound to. */
    browserId: string | undefined
    /** This page has shown, or will show, what the one before left for it. */
    flashTaken: boolean
    /** The one foreign origin that a form of this page may lead to. */
    formTarget: string
  }
}

/** The sign-in of a route that only signed-in users reach. @throws unauthenticated */
export function signedIn(c: HonoContext<AppEnv>): CurrentSignIn {
  if (!c.var.signIn) throw new AppError('unauthenticated', 'Please sign in first.')
  return c.var.signIn
}
