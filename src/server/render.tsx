import type { Context as HonoContext } from 'hono'
import type { ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { IslandFiles } from '../pages/Island.tsx'
import { Layout } from '../pages/Layout.tsx'
import type { AppEnv } from './app-env.ts'
import { ASSETS } from './assets.ts'
import { csrfToken } from './middleware/csrf.ts'
import { themeOf } from './routes/theme.ts'

export type PageHead = {
  title: string
  description?: string
  /** For pages that no search engine should keep. */
  noIndex?: boolean
  /** Without it, what pages with islands need. */
  assets?: keyof typeof ASSETS
}

/** A whole page for whoever asks. The user stands in its bootstrap block, so that the client need not ask who it is. */
export function renderPage(
  c: HonoContext<AppEnv>,
  { assets = c.get('signIn') ? 'app' : 'visitor', ...head }: PageHead,
  body: ReactNode,
  status: 200 | 404 = 200,
): Response {
  const url = new URL(c.req.url)
  const document = (
    <Layout
      {...head}
      user={c.get('signIn')?.user ?? null}
      path={url.pathname + url.search}
      origin={c.var.ctx.config.origins[0] ?? ''}
      csrfToken={csrfToken(c)}
      theme={themeOf(c)}
      assets={ASSETS[assets]}
    >
      <IslandFiles value={ASSETS[assets].island}>{body}</IslandFiles>
    </Layout>
  )
  return c.html(`<!doctype html>${renderToString(document)}`, status) as Response
}
