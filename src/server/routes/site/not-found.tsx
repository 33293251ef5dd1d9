import type { Context as HonoContext } from 'hono'
import { AppError } from '../../../domain/error.ts'
import { NOT_FOUND_TITLE, NotFound } from '../../../pages/NotFound.tsx'
import type { AppEnv } from '../../http/app-env.ts'
import { errorBody } from '../../http/error-response.ts'
import { factsOf, isPage } from '../../http/matched-route.ts'
import { answerOtherMethod } from '../../http/middleware/known-method.ts'
import { findOwnReferrer } from '../../http/own-path.ts'
import { renderPage } from '../../http/render.tsx'

/** Calls get JSON; people get a page with ways back. */
export function notFound(c: HonoContext<AppEnv>): Response {
  const other = answerOtherMethod(c)
  if (other) return other
  const isKnownForm = c.get('form') && factsOf(c)
  if (!isPage(c) && !isKnownForm) return c.json(errorBody(new AppError('not_found', 'Unknown endpoint.')), 404)
  const body = <NotFound path={c.req.path} signedIn={c.get('signIn') !== null} back={findOwnReferrer(c)} />
  return renderPage(c, { title: NOT_FOUND_TITLE, titleAlone: true, assets: 'public' }, body, 404)
}
