import type { Context as HonoContext } from 'hono'
import { Failure } from '../../../pages/Failure.tsx'
import type { AppEnv } from '../../http/app-env.ts'
import { readCookie } from '../../http/cookies.ts'
import { errorResponse, logError, statusOf, toAppError } from '../../http/error-response.ts'
import { wantsPage } from '../../http/form-post.ts'
import { isPage } from '../../http/matched-route.ts'
import { findOwnPath } from '../../http/own-path.ts'
import { renderPage } from '../../http/render.tsx'
import { notFound } from './not-found.tsx'

/** The only error handler: people who open a page get a page, calls get JSON. */
export function failed(thrown: unknown, c: HonoContext<AppEnv>): Response {
  const error = toAppError(thrown)
  const status = statusOf(error)
  const isOtherMethod = error.code === 'method_not_allowed'
  // An unknown method has no route that says who reads the answer. A form's page would only send the form again.
  const isForPerson = isPage(c) && (isOtherMethod ? wantsPage(c) : !c.get('form') || status >= 500 || status === 429)
  if (!isForPerson || !c.get('ctx')) return errorResponse(thrown, c)
  if (status === 404) return notFound(c)
  if (status >= 500) logError(thrown, c)
  if (error.retryAfter !== undefined) c.header('Retry-After', String(error.retryAfter))
  const body = <Failure sentence={error.message} path={pathToTry(c, status)} />
  const unknown = status >= 500 && !c.get('signIn') && readCookie(c, 'sign_in') !== undefined
  return renderPage(c, { title: "This page didn't load", assets: 'public', unknown }, body, status)
}

/** The same page; without its query if that was refused. */
function pathToTry(c: HonoContext<AppEnv>, status: number): string {
  const url = new URL(c.req.url)
  if (status === 422) url.search = ''
  return (c.var.routes.pageAt(url.pathname) && findOwnPath(url)) ?? '/'
}
