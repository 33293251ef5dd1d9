import { Hono } from 'hono'
import type { AppEnv } from '../../http/app-env.ts'
import { PREFETCH_RULES } from '../../http/render.tsx'
import { pagesWhere, type RouteFacts } from '../../http/site-map.ts'

/** The pages that a browser may prefetch, and when, according to the site map. */
const RULES = {
  prefetch: [
    { where: { href_matches: fetchedAhead('hover') }, eagerness: 'moderate' },
    { where: { href_matches: fetchedAhead('press') }, eagerness: 'conservative' },
  ],
}

export const prefetch = new Hono<AppEnv>().get(PREFETCH_RULES, (c) =>
  c.body(JSON.stringify(RULES), 200, {
    'Content-Type': 'application/speculationrules+json',
    'Cache-Control': 'public, max-age=86400',
  }),
)

/** URL patterns: `*` replaces a route's parameter. */
function fetchedAhead(when: RouteFacts['ahead']): string[] {
  return pagesWhere(({ ahead }) => ahead === when).map((path) => path.replace(/:\w+/g, '*'))
}
