import type { Context as HonoContext } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { IslandFiles } from '../../pages/Island.tsx'
import { Layout } from '../../pages/Layout.tsx'
import { isTheme, type Theme } from '../../ui/theme.ts'
import type { AppEnv } from './app-env.ts'
import { ASSETS, islandFiles } from './assets.ts'
import { readCookie } from './cookies.ts'
import { takeFlash } from './flash.ts'
import { csrfToken } from './middleware/csrf.ts'
import { factsOf } from './site-map.ts'

/** Named by a header of every page: inside the page it would be an inline script. */
export const PREFETCH_RULES = '/prefetch.json'

export type PageHead = {
  title: string
  description?: string
  /** Without the product's name behind it. */
  titleAlone?: boolean
  /** The same for every visitor: rendered once and kept (middleware/kept-pages.ts). A form on it goes without a token. */
  same?: boolean
  /** Without it, what a visitor's way in needs, or the app's for somebody who is signed in. */
  assets?: keyof typeof ASSETS
}

/** A whole page for whoever asks. The user stands in its bootstrap block, so that the client need not ask who it is. */
export function renderPage(
  c: HonoContext<AppEnv>,
  { assets = c.get('signIn') ? 'app' : 'entry', same = false, ...head }: PageHead,
  body: ReactNode,
  status: ContentfulStatusCode = 200,
): Response {
  const signIn = c.get('signIn')
  const user = signIn?.user ?? null
  const { pathname, search } = new URL(c.req.url)
  const origin = c.var.ctx.config.origins[0] ?? ''
  const theme = themeOf(c)
  const keep = same && !user && !import.meta.env.DEV
  const html = `<!doctype html>${renderToString(
    <Layout
      {...head}
      noIndex={status !== 200 || !factsOf(c)?.search}
      user={user}
      notice={signIn?.suspended ? 'suspended' : signIn?.planUnpaid ? 'plan_unpaid' : null}
      path={keep ? c.req.path : pathname + search}
      origin={origin}
      csrfToken={keep ? null : csrfToken(c)}
      theme={theme}
      flash={keep ? null : takeFlash(c)}
      assets={ASSETS[assets]}
    >
      <IslandFiles value={islandFiles}>{body}</IslandFiles>
    </Layout>,
  )}`
  c.header('Speculation-Rules', `"${PREFETCH_RULES}"`)
  if (keep) c.set('sameForAll', html)
  return c.html(html, status) as Response
}

/** The cookie's choice; null where nobody chose. */
function themeOf(c: HonoContext<AppEnv>): Theme | null {
  const kept = readCookie(c, 'theme')
  return isTheme(kept) ? kept : null
}
