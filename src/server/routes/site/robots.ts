import type { Context as HonoContext } from 'hono'
import type { AppEnv } from '../../http/app-env.ts'
import { route } from '../../http/route.ts'
import type { RouteTable } from '../../http/route-table.ts'

/** Path prefixes that search engines must skip: calls and personal pages, but no prefix of a page that they may show. */
function barred({ pagesWhere }: RouteTable): Set<string> {
  const open = pagesWhere(({ search }) => search !== undefined)
  const personal = pagesWhere(({ search }) => !search).map((path) => path.replace(/(?<=\w)[/.].*/, ''))
  return new Set(['/api/', '/users/', ...personal.filter((start) => !open.some((path) => path.startsWith(start)))])
}

const CACHE = { 'Cache-Control': 'public, max-age=86400' }

/** Generated, because both contain the site's own origin. */
export const robots = [
  route('GET /robots.txt', { access: 'public', description: '200: for search engines.' }).answer((c) =>
    c.text(
      [
        'User-agent: *',
        ...[...barred(c.var.routes)].map((path) => `Disallow: ${path}`),
        `Sitemap: ${origin(c)}/sitemap.xml`,
        '',
      ].join('\n'),
      200,
      CACHE,
    ),
  ),
  route('GET /sitemap.xml', { access: 'public', description: '200: for search engines.' }).answer((c) => {
    const pages = c.var.routes
      .pagesWhere(({ search }) => search === 'listed')
      .map((path) => `<url><loc>${origin(c)}${path}</loc></url>`)
      .join('\n')
    const sitemap = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${pages}
</urlset>
`
    return c.body(sitemap, 200, { ...CACHE, 'Content-Type': 'application/xml; charset=utf-8' })
  }),
]

function origin(c: HonoContext<AppEnv>): string {
  return c.var.ctx.config.origins[0] ?? ''
}
