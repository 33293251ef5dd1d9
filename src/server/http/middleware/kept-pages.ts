import type { Context as HonoContext } from 'hono'
import { getCookie } from 'hono/cookie'
import { createMiddleware } from 'hono/factory'
import { isTheme } from '../../../ui/theme.ts'
import type { AppEnv } from '../app-env.ts'

type KeptPage = { body: Uint8Array<ArrayBuffer>; headers: Record<string, string> }

/** Bounded by our own: only pages without parameters are the same for everybody. */
const kept = new Map<string, KeptPage>()
const encoder = new TextEncoder()

/** A page that is the same for everybody: every visitor gets what the first one got, headers and all, before anything else is looked at. */
export const keptPages = createMiddleware<AppEnv>(async (c, next) => {
  const key = keyOf(c)
  const page = key && kept.get(key)
  if (page) return new Response(page.body, { headers: { ...page.headers, 'x-request-id': c.var.requestId } })
  await next()
  const html = c.get('sameForAll')
  // A cookie is for one browser: an answer that sets one is nobody else's.
  const isPlain = c.res.ok && !c.res.headers.has('Set-Cookie')
  if (key && html && isPlain) kept.set(key, { body: encoder.encode(html), headers: Object.fromEntries(c.res.headers) })
})

/** What such a page depends on. Null for somebody who may be signed in. */
function keyOf(c: HonoContext<AppEnv>): string | null {
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') return null
  // Under both of its names, so that it does not matter here which one counts.
  const cookie = (name: string) => [getCookie(c, name), getCookie(c, name, 'host')]
  if (cookie('sign_in').some((value) => value !== undefined)) return null
  const themes = cookie('theme').map((value) => (isTheme(value) ? value : null))
  return [c.env.SITE_ORIGINS, c.req.path, ...themes].join(' ')
}
