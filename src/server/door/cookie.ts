import type { Door } from '../../domain/door.ts'
import { DAY_MS } from '../../domain/instant.ts'
import { readSigned, sign } from '../crypto/signed-cookie.ts'
import type { Context } from '../runtime/context.ts'
import type { Pass } from './access.ts'

/** The sign-in or the link that it names ends earlier, as a rule. */
const LIFETIME_MS = 30 * DAY_MS

type Content = Pass & { label: string }

/** Over https, the prefix keeps other hosts of the domain from setting it. */
export const cookieName = ({ scheme }: Pick<Door, 'scheme'>): string => (scheme === 'https' ? '__Host-door' : 'door')

/** For this one host. It ends with the browser, and whenever its pass does. */
export function passCookie(ctx: Context, door: Door, label: string, pass: Pass): string {
  const value = sign(ctx, 'door', { ...pass, label, expires: ctx.now() + LIFETIME_MS })
  return `${cookieName(door)}=${value}; Path=/; HttpOnly; SameSite=Lax${door.scheme === 'https' ? '; Secure' : ''}`
}

const nameOf = (cookie: string) => (cookie.split('=')[0] ?? '').trim()

/** Several lines come joined by commas, which a cookie's value never has before a name. */
const cookiesOf = (given: string | null): string[] =>
  (given ?? '')
    .split(/;|, (?=[\w!#$%&'*+.^`|~-]+=)/)
    .map((cookie) => cookie.trim())
    .filter(Boolean)

/** The pass in the request's cookies, if it is for this run. */
export function readPass(ctx: Context, door: Door, label: string, cookies: string | null): Pass | null {
  for (const cookie of cookiesOf(cookies)) {
    if (nameOf(cookie) !== cookieName(door)) continue
    const found = readSigned<Content>(ctx, 'door', cookie.slice(cookie.indexOf('=') + 1))
    if (found?.label === label) return { kind: found.kind, id: found.id }
  }
  return null
}

/** Many servers refuse more (431). */
const MOST_BYTES = 8 * 1024
/** Of too many, a session's own, for example. */
const SMALL_BYTES = 256
const MOST_SMALL_BYTES = 1024

const bytesOf = (cookies: string[]) => cookies.reduce((sum, { length }) => sum + length + 2, 0)

/** Whether a page may have filled the domain's cookies, to shut its visitors out of other runs. */
export const isFlood = (cookies: string | null): boolean => bytesOf(cookiesOf(cookies)) > MOST_BYTES

/** The machine's own cookies, without ours. Of a flood, only what is small. */
export function cookiesForMachine(given: string | null, ours: string): string | null {
  const theirs = cookiesOf(given).filter((cookie) => nameOf(cookie) !== ours)
  const small = theirs.filter(({ length }) => length <= SMALL_BYTES)
  if (!isFlood(given)) return theirs.join('; ') || null
  return bytesOf(small) <= MOST_SMALL_BYTES ? small.join('; ') || null : null
}

/** An answer's headers have limits as well. The next answer ends the rest. */
const MOST_ENDED = 100

/**
 * What ends the cookies that a page set for the doors' whole domain. Those of one host have no `Domain`, and stay. A
 * request names no cookie's path, which begins this one's.
 */
export function endedCookies(door: Door, request: Request): string[] {
  const steps = new URL(request.url).pathname.split('/').slice(1, -1)
  const paths = steps.flatMap((_, i) => [`/${steps.slice(0, i + 1).join('/')}`, `/${steps.slice(0, i + 1).join('/')}/`])
  const names = new Set(cookiesOf(request.headers.get('cookie')).map(nameOf))
  names.delete(cookieName(door))
  const domains = door.domain.split('.').flatMap((_, i, all) => (i < all.length - 1 ? [all.slice(i).join('.')] : []))
  const secure = door.scheme === 'https' ? '; Secure' : ''
  const ends = ['/', ...paths].flatMap((path) =>
    [...names].flatMap((name) =>
      domains.map((domain) => `${name}=; Domain=${domain}; Path=${path}; Max-Age=0${secure}`),
    ),
  )
  return ends.slice(0, MOST_ENDED)
}
