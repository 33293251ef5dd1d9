import type { Context as HonoContext } from 'hono'
import { AppError } from '../../domain/error.ts'
import type { CurrentSignIn } from '../accounts/live-sign-ins.ts'
import type { Context } from '../runtime/context.ts'
import type { Env } from '../settings/env.ts'
import type { Log } from '../settings/log.ts'
import type { RouteTable } from './route-table.ts'

/** What every handler gets from Hono. */
export type AppEnv = {
  Bindings: Env
  Variables: {
    routes: RouteTable
    ctx: Context
    signIn: CurrentSignIn | null
    /** The sign-in that the cookie names, if it has ended; null if the cookie names none. */
    endedSignIn: string | null | undefined
    /** What this route's `reads` found, together with the sign-in. */
    readAlong: readonly unknown[]
    requestId: string
    /** The request's log; exists before its context does. */
    log: Log
    /** The whole page, if it is the same for every visitor. */
    sameForAll: string | undefined
    /** For how long; undefined: until the next release. */
    sameForMs: number | undefined
    /** The fields of a plain HTML form whose CSRF token passed. */
    form: URLSearchParams | null
    /** The file of that form, on routes that take one. */
    file: File | null
    /** What this answer's CSRF tokens are bound to. */
    browserId: string | undefined
    /** Who they are for, if this call changes that: the person who signs in, or nobody. */
    tokensFor: string | null | undefined
    /** Who the page that sent this shows, by its CSRF token; null if the token isn't this browser's. */
    shown: { userId: string | null } | null | undefined
    /** This form's token isn't this browser's, so we show the form again. */
    isRefusedForm: boolean
    /** This page shows the flash message itself. */
    flashTaken: boolean
    /** The one foreign origin to which a form on this page may lead. */
    formTarget: string
    /** The origin of the bucket, on pages that send files there and show them. */
    filesOrigin: string
  }
}

/** The sign-in, on routes that require one. @throws unauthenticated */
export function signedIn(c: HonoContext<AppEnv>): CurrentSignIn {
  if (!c.var.signIn) throw new AppError('unauthenticated', 'Please sign in first.')
  return c.var.signIn
}
