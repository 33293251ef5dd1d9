import type { Context as HonoContext } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { endNotice } from '../../domain/ending.ts'
import { IslandFiles } from '../../pages/Island.tsx'
import { Layout } from '../../pages/Layout.tsx'
import type { BellProps } from '../../pages/layout/Bell.tsx'
import type { Ending } from '../../pages/layout/EndingBanner.tsx'
import { isTheme, type Theme } from '../../ui/theme.ts'
import type { AppEnv } from './app-env.ts'
import { ASSETS, islandFiles, withBell } from './assets.ts'
import { readCookie } from './cookies.ts'
import { hasFlash, isPrefetch, takeFlash } from './flash.ts'
import { factsOf } from './matched-route.ts'
import { csrfToken } from './middleware/csrf.ts'

/** Every page names it in a header; inline it would violate the CSP. */
export const PREFETCH_RULES = '/prefetch.json'

export type PageHead = {
  title: string
  description?: string
  unknown?: boolean
  /** Leaves out the product's name. */
  titleAlone?: boolean
  /** The same for every visitor: rendered once and kept (middleware/kept-pages.ts). Its forms carry no token. */
  same?: boolean | { forMs: number }
  /** Default: `app` if someone is signed in, otherwise `entry`. */
  assets?: keyof typeof ASSETS
}

/** Renders a whole page. Its bootstrap block holds the user, so that the client needn't ask. */
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
  // The browser would show this copy without its message, so it must ask again.
  if (!keep && isPrefetch(c) && hasFlash(c)) return c.body(null, 503)
  const html = `<!doctype html>${renderToString(
    <Layout
      {...head}
      noIndex={status !== 200 || !factsOf(c)?.search}
      user={user}
      hasFactor={signIn?.hasFactor ?? false}
      hasPasskey={signIn?.hasPasskey ?? false}
      notice={signIn?.held ? 'held' : signIn?.suspended ? 'suspended' : signIn?.planUnpaid ? 'plan_unpaid' : null}
      overdue={signIn?.overdue ?? null}
      path={keep ? c.req.path : pathname + search}
      origin={origin}
      csrfToken={keep ? null : csrfToken(c)}
      theme={theme}
      hasFiles={c.var.ctx.config.files !== null}
      flash={keep ? null : takeFlash(c)}
      bell={bellOf(c)}
      ending={endingOf(c)}
      assets={user ? withBell(ASSETS[assets]) : ASSETS[assets]}
    >
      <IslandFiles value={islandFiles}>{body}</IslandFiles>
    </Layout>,
  )}`
  c.header('Speculation-Rules', `"${PREFETCH_RULES}"`)
  if (keep) c.set('sameForAll', html)
  if (keep && same !== true) c.set('sameForMs', same.forMs)
  return c.html(html, status) as Response
}

/** What the bell of a signed-in person shows. */
export function bellOf(c: HonoContext<AppEnv>): BellProps | null {
  const bell = c.get('signIn')?.bell
  if (!bell) return null
  const notice = bell.ending && endNotice(bell.ending)
  const now = c.var.ctx.now()
  const lookAt = notice && (notice.from > now ? notice.from : notice.end > now ? notice.end : null)
  return { unread: bell.unread, lookIn: lookAt && lookAt - now }
}

/** Their live server, if it stops in a few minutes. */
export function endingOf(c: HonoContext<AppEnv>): Ending | null {
  const ending = c.get('signIn')?.bell.ending
  const notice = ending && endNotice(ending)
  const now = c.var.ctx.now()
  return notice && notice.from <= now && now < notice.end ? { ...notice, runId: ending.id, now } : null
}

/** The theme in the cookie; null if they never chose one. */
function themeOf(c: HonoContext<AppEnv>): Theme | null {
  const kept = readCookie(c, 'theme')
  return isTheme(kept) ? kept : null
}
