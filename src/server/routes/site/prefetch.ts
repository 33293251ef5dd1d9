import type { Context as HonoContext } from 'hono'
import type { AppEnv } from '../../http/app-env.ts'
import { PREFETCH_RULES } from '../../http/render.tsx'
import { route } from '../../http/route.ts'
import type { RouteFacts } from '../../http/route-table.ts'

/** The pages that a browser may prefetch, and when. */
export const prefetch = [
  route(`GET ${PREFETCH_RULES}`, {
    access: 'public',
    description: '200: speculation rules, the pages a browser may fetch before you follow a link.',
  }).answer((c) => {
    const rules = {
      prefetch: [
        { where: { href_matches: fetchedAhead(c, 'hover') }, eagerness: 'moderate' },
        { where: { href_matches: fetchedAhead(c, 'press') }, eagerness: 'conservative' },
      ],
    }
    return c.body(JSON.stringify(rules), 200, {
      'Content-Type': 'application/speculationrules+json',
      'Cache-Control': 'public, max-age=86400',
    })
  }),
]

/** URL patterns: `*` replaces a route's parameter. */
function fetchedAhead(c: HonoContext<AppEnv>, when: RouteFacts['ahead']): string[] {
  return c.var.routes.pagesWhere(({ ahead }) => ahead === when).map((path) => path.replace(/:\w+/g, '*'))
}
