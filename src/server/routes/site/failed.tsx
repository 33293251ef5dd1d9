import type { Context as HonoContext } from 'hono'
import { Failure } from '../../../pages/Failure.tsx'
import type { AppEnv } from '../../http/app-env.ts'
import { errorResponse, logError, statusOf, toAppError } from '../../http/error-response.ts'
import { findOwnPath } from '../../http/own-path.ts'
import { renderPage } from '../../http/render.tsx'
import { isPage } from '../../http/site-map.ts'

/** The only error handler: people who open a page get a page, calls get JSON. */
export function failed(thrown: unknown, c: HonoContext<AppEnv>): Response {
  const error = toAppError(thrown)
  const status = statusOf(error)
  if (!isPage(c) || (status < 500 && status !== 429) || !c.get('ctx')) return errorResponse(thrown, c)
  if (status >= 500) logError(thrown, c)
  if (error.retryAfter !== undefined) c.header('Retry-After', String(error.retryAfter))
  const body = <Failure sentence={error.message} path={findOwnPath(new URL(c.req.url)) ?? '/'} />
  return renderPage(c, { title: "This page didn't load", assets: 'public' }, body, status)
}
