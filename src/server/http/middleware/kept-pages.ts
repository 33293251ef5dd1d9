import type { Context as HonoContext } from 'hono'
import { getCookie } from 'hono/cookie'
import { createMiddleware } from 'hono/factory'
import { isTheme } from '../../../ui/theme.ts'
import type { AppEnv } from '../app-env.ts'

type KeptPage = { body: Uint8Array<ArrayBuffer>; headers: Record<string, string>; until: number }

/** Bounded by our own routes: only pages without parameters are the same for everyone. */
const kept = new Map<string, KeptPage>()
const encoder = new TextEncoder()

/** Keeps pages that are the same for everyone, and sends each visitor the first one's answer, headers included, before any other work. */
export const keptPages = createMiddleware<AppEnv>(async (c, next) => {
  const key = keyOf(c)
  const page = key && kept.get(key)
  if (page && Date.now() < page.until)
    return new Response(page.body, { headers: { ...page.headers, 'x-request-id': c.var.requestId } })
  await next()
  const html = c.get('sameForAll')
  // An answer that sets a cookie is for one browser only.
  const isPlain = c.res.ok && !c.res.headers.has('Set-Cookie')
  if (key && html && isPlain)
    kept.set(key, {
      body: encoder.encode(html),
      headers: Object.fromEntries(c.res.headers),
      until: Date.now() + (c.get('sameForMs') ?? Number.POSITIVE_INFINITY),
    })
})

/** What such a page depends on; null for people who may be signed in. */
function keyOf(c: HonoContext<AppEnv>): string | null {
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') return null
  if (c.req.header('Authorization')) return null
  // Reads both names, so it doesn't matter which one is in use.
  const cookie = (name: string) => [getCookie(c, name), getCookie(c, name, 'host')]
  if (cookie('sign_in').some((value) => value !== undefined)) return null
  const themes = cookie('theme').map((value) => (isTheme(value) ? value : null))
  return [c.env.SITE_ORIGINS, c.req.path, ...themes].join(' ')
}
