import type { Context as HonoContext } from 'hono'
import { COOKIE_S } from '../../domain/retention.ts'
import type { User } from '../../domain/wire.ts'
import { readSigned, sign } from '../signed-cookie.ts'
import type { AppEnv } from './app-env.ts'
import { clearCookie, readCookie, writeCookie } from './cookies.ts'
import { pageAt } from './site-map.ts'

/** Leaves room in a cookie. Nobody types an address that long. */
const MAX_LENGTH = 1_000

/** Where to go after signing in. `userId` is null if nobody was signed in on that page. */
type WayBack = { path: string; userId: string | null }

/** Remembers a page that requires a sign-in, to return to it afterward. The dashboard is the default anyway. */
export function keepWayBack(c: HonoContext<AppEnv>, path: string | null, userId: string | null): void {
  if (path === null || path.length > MAX_LENGTH || !leadsTo(path)) return
  // The console sends visitors on to the dashboard, which must not forget where they came from.
  if (path === '/dashboard' && leadsTo(read(c)?.path ?? '')?.access === 'admin') return
  const expires = c.var.ctx.now() + COOKIE_S.back * 1000
  writeCookie(c, 'back', sign(c.var.ctx, 'back', { path, userId, expires }))
}

/** Where this person was when they had to sign in, if they may go there. Null: the dashboard. */
export function takeWayBack(c: HonoContext<AppEnv>, user: User): string | null {
  const kept = read(c)
  if (readCookie(c, 'back')) clearCookie(c, 'back')
  if (!kept || (kept.userId !== null && kept.userId !== user.id)) return null
  const page = leadsTo(kept.path)
  return page && (page.access === 'user' || user.admin) ? kept.path : null
}

function read(c: HonoContext<AppEnv>): WayBack | null {
  return readSigned<WayBack>(c.var.ctx, 'back', readCookie(c, 'back') ?? '')
}

/** The page at this path, if people must sign in to see it. */
function leadsTo(path: string) {
  const page = /^\/(?![/\\])/.test(path) ? pageAt(path.split('?')[0] ?? '') : null
  return page && !page.file && (page.access === 'user' || page.access === 'admin') ? page : null
}
