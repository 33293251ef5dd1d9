import type { Context as HonoContext } from 'hono'
import { COOKIE_S } from '../../domain/retention.ts'
import { TYPED_BEFORE } from '../../domain/user.ts'
import type { User } from '../../domain/wire/accounts.ts'
import { readSigned, sign } from '../crypto/signed-cookie.ts'
import type { AppEnv } from './app-env.ts'
import { clearCookie, readCookie, writeCookie } from './cookies.ts'
import { setFlash } from './flash.ts'

/** Leaves room in a cookie. Nobody types an address that long. */
const MAX_LENGTH = 1_000
/** A browser allows 4096 bytes, attributes included. */
const MAX_COOKIE = 3_800

/** Where to go after signing in. `userId` is null if nobody was signed in on that page. `values`: what was typed into its form. */
type WayBack = { path: string; userId: string | null; values?: Record<string, string> | undefined }

/** Remembers a page that requires a sign-in, to return to it afterward. The dashboard is the default anyway. */
export function keepWayBack(c: HonoContext<AppEnv>, way: Omit<WayBack, 'path'> & { path: string | null }): void {
  const { path } = way
  if (path === null || path.length > MAX_LENGTH || !leadsTo(c, path)) return
  // The console sends visitors on to the dashboard, which must not forget where they came from.
  if (path === '/dashboard' && leadsTo(c, read(c)?.path ?? '')?.access === 'admin') return
  const expires = c.var.ctx.now() + COOKIE_S.back * 1000
  const kept = sign(c.var.ctx, 'back', { ...way, expires })
  writeCookie(
    c,
    'back',
    kept.length <= MAX_COOKIE ? kept : sign(c.var.ctx, 'back', { ...way, values: undefined, expires }),
  )
}

/** Where this person was when they had to sign in, if they may go there. Null: the dashboard. */
export function takeWayBack(c: HonoContext<AppEnv>, user: User): string | null {
  const kept = read(c)
  if (readCookie(c, 'back')) clearCookie(c, 'back')
  if (!kept || (kept.userId !== null && kept.userId !== user.id)) return null
  const page = leadsTo(c, kept.path)
  if (!page || (page.access !== 'user' && !user.admin)) return null
  if (kept.values) setFlash(c, { kind: 'info', message: TYPED_BEFORE, values: kept.values })
  return kept.path
}

function read(c: HonoContext<AppEnv>): WayBack | null {
  return readSigned<WayBack>(c.var.ctx, 'back', readCookie(c, 'back') ?? '')
}

/** The page at this path, if people must sign in to see it. */
function leadsTo(c: HonoContext<AppEnv>, path: string) {
  const page = /^\/(?![/\\])/.test(path) ? c.var.routes.pageAt(path.split(/[?#]/)[0] ?? '') : null
  return page && !page.file && (page.access === 'user' || page.access === 'admin') ? page : null
}
