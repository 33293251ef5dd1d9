import { Hono, type Context as HonoContext } from 'hono'
import type { AppEnv } from '../http/app-env.ts'

/** Where a search may lead. */
export const SEARCHED = ['/', '/pricing', '/contact_sales', '/terms_of_service', '/sign_up', '/sign_in']

/** What is of no use to anybody but its owner. */
const PERSONAL = [
  '/api/',
  '/users/',
  '/confirm_email',
  '/reset_password',
  '/dashboard',
  '/subscriptions',
  '/account_overview',
  '/billing_history',
  '/devices',
  '/close_account',
  '/console',
]

const CACHE = { 'Cache-Control': 'public, max-age=86400' }

/** Served by code, because both name the site's own address. */
export const robots = new Hono<AppEnv>()
  .get('/robots.txt', (c) =>
    c.text(
      ['User-agent: *', ...PERSONAL.map((path) => `Disallow: ${path}`), `Sitemap: ${origin(c)}/sitemap.xml`, ''].join(
        '\n',
      ),
      200,
      CACHE,
    ),
  )
  .get('/sitemap.xml', (c) => {
    const pages = SEARCHED.map((path) => `<url><loc>${origin(c)}${path}</loc></url>`).join('\n')
    const sitemap = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${pages}
</urlset>
`
    return c.body(sitemap, 200, { ...CACHE, 'Content-Type': 'application/xml; charset=utf-8' })
  })

function origin(c: HonoContext<AppEnv>): string {
  return c.var.ctx.config.origins[0] ?? ''
}
