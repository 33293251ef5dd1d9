import { isApiToken } from '../../domain/api-token.ts'
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

const wayName = (ours: string) => `${ours}-way`
/** Over that time, someone may sign in on their way. */
const WAY_S = 3600

/** Whether the machine neither sees nor sets this one. @param ours as `cookieName` has it */
export const isOurs = (name: string, ours: string): boolean =>
  [ours, wayName(ours)].some((one) => one.toLowerCase() === name.toLowerCase())

const toCookie = ({ scheme }: Door, name: string, value: string) =>
  `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${scheme === 'https' ? '; Secure' : ''}`

/** For this one host. It ends with the browser, and whenever its pass does. */
export function passCookie(ctx: Context, door: Door, label: string, pass: Pass): string {
  const value = sign(ctx, 'door', { ...pass, label, expires: ctx.now() + LIFETIME_MS })
  return toCookie(door, cookieName(door), value)
}

/** Knows the browser again that a port's host sent to the main one. */
export const wayCookie = (door: Door, way: string): string =>
  `${toCookie(door, wayName(cookieName(door)), way)}; Max-Age=${WAY_S}`

export function readWay(door: Door, cookies: string | null): string | null {
  const name = wayName(cookieName(door))
  const found = cookiesOf(cookies).find((cookie) => nameOf(cookie) === name)
  return found?.slice(found.indexOf('=') + 1) || null
}

const nameOf = (cookie: string) => (cookie.split('=')[0] ?? '').trim()

/** Browsers send one line. Where a program sent several, the runtime joins them with this, which a value may have too. */
const LINE_END = /, (?=[\w!#$%&'*+.^`|~-]+=)/

/** Whatever could be a cookie, so that ours is found in each line. */
const cookiesOf = (given: string | null): string[] => partsOf(given).flatMap((part) => part.split(LINE_END))

const partsOf = (given: string | null): string[] =>
  (given ?? '')
    .split(';')
    .map((part) => part.trim())
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

/**
 * What a request shows: an API token, or a pass that we signed, which need not count any more. The key is kept, so
 * nothing of a stranger's own length is in it.
 */
export function readShown(ctx: Context, door: Door, label: string, { headers }: Request) {
  const given = /^\s*bearer\s+(pg_\S+)\s*$/i.exec(headers.get('authorization') ?? '')?.[1] ?? null
  const bearer = given !== null && isApiToken(given) ? given : null
  const pass = bearer === null ? readPass(ctx, door, label, headers.get('cookie')) : null
  return { bearer, pass, key: `${ctx.config.secretKey} ${label} ${bearer ?? `${pass?.kind} ${pass?.id}`}` }
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
  const isNotOurs = (cookie: string) => !isOurs(nameOf(cookie), ours)
  const theirs = partsOf(given).flatMap((part) => {
    const cookies = part.split(LINE_END)
    // Ours has no comma in it: one beside it is from the runtime.
    return cookies.every(isNotOurs) ? [part] : cookies.filter(isNotOurs)
  })
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
  const names = new Set(cookiesOf(request.headers.get('cookie')).map(nameOf))
  for (const name of names) if (isOurs(name, cookieName(door))) names.delete(name)
  const domains = door.domain.split('.').flatMap((_, i, all) => (i < all.length - 1 ? [all.slice(i).join('.')] : []))
  const secure = door.scheme === 'https' ? '; Secure' : ''
  const ended: string[] = []
  // A stranger chooses both: the work must not grow with their product.
  for (const path of pathsTo(new URL(request.url).pathname))
    for (const name of names)
      for (const domain of domains) {
        if (ended.length === MOST_ENDED) return ended
        ended.push(`${name}=; Domain=${domain}; Path=${path}; Max-Age=0${secure}`)
      }
  return ended
}

function* pathsTo(pathname: string): Generator<string> {
  yield '/'
  for (let i = pathname.indexOf('/', 1); i !== -1; i = pathname.indexOf('/', i + 1)) {
    yield pathname.slice(0, i)
    yield pathname.slice(0, i + 1)
  }
}
