import { isApiToken } from '../../domain/api-token.ts'
import type { Door } from '../../domain/door.ts'
import { DAY_MS } from '../../domain/instant.ts'
import { readSigned, sign } from '../crypto/signed-cookie.ts'
import type { Context } from '../runtime/context.ts'
import type { Pass } from './access.ts'

/** The sign-in or link that it names usually ends earlier. */
const LIFETIME_MS = 30 * DAY_MS

type Content = Pass & { label: string }

/** Over https, the prefix keeps other hosts of the domain from setting it. */
export const cookieName = ({ scheme }: Pick<Door, 'scheme'>): string => (scheme === 'https' ? '__Host-door' : 'door')

const wayName = (ours: string) => `${ours}-way`
/** Long enough to sign in on the way. */
const WAY_S = 3600

/** Whether this cookie is ours: the machine neither sees nor sets it. @param ours as `cookieName` returns it */
export const isOurs = (name: string, ours: string): boolean =>
  [ours, wayName(ours)].some((one) => one.toLowerCase() === name.toLowerCase())

const toCookie = ({ scheme }: Door, name: string, value: string) =>
  `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${scheme === 'https' ? '; Secure' : ''}`

/** For this one host. It ends with the browser, and whenever its pass does. */
export function passCookie(ctx: Context, door: Door, label: string, pass: Pass): string {
  const value = sign(ctx, 'door', { ...pass, label, expires: ctx.now() + LIFETIME_MS })
  return toCookie(door, cookieName(door), value)
}

/** Recognizes a browser that a port's host sent to the main one. */
export const wayCookie = (door: Door, way: string): string =>
  `${toCookie(door, wayName(cookieName(door)), way)}; Max-Age=${WAY_S}`

export function readWay(door: Door, cookies: string | null): string | null {
  const name = wayName(cookieName(door))
  const found = cookiesOf(cookies).find((cookie) => nameOf(cookie) === name)
  return found?.slice(found.indexOf('=') + 1) || null
}

/** Trims only HTTP's spaces: to a browser, a name after any other character isn't ours, and so not limited to one host. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length]
  while (isSpace(text[start])) start++
  while (end > start && isSpace(text[end - 1])) end--
  return text.slice(start, end)
}

const isSpace = (letter: string | undefined) => letter === ' ' || letter === '\t'

const nameOf = (cookie: string) => trimmed(cookie.split('=')[0] ?? '')

/** Browsers send one line. If a program sent several, the runtime joins them with this separator, which a value may also contain. */
const LINE_END = /, (?=[\w!#$%&'*+.^`|~-]+=)/

/**
 * Everything that could be a cookie, so that we find ours on every line. Those behind a comma come last: a page can write
 * one that passes for ours into the value of its own.
 */
function cookiesOf(given: string | null): string[] {
  const lines = partsOf(given).map((part) => part.split(LINE_END))
  return [...lines.flatMap(([first]) => first ?? []), ...lines.flatMap(([, ...others]) => others)]
}

const partsOf = (given: string | null): string[] => (given ?? '').split(';').map(trimmed).filter(Boolean)

/** A browser has one. Each costs a signature, before we know who asks. */
const MOST_PASSES = 10

/** The pass in the request's cookies, if it is for this run. */
export function readPass(ctx: Context, door: Door, label: string, cookies: string | null): Pass | null {
  const ours = cookiesOf(cookies).filter((cookie) => nameOf(cookie) === cookieName(door))
  for (const cookie of ours.slice(0, MOST_PASSES)) {
    const found = readSigned<Content>(ctx, 'door', cookie.slice(cookie.indexOf('=') + 1))
    if (found?.label === label) return { kind: found.kind, id: found.id }
  }
  return null
}

/**
 * What a request presents: an API token, or a pass that we signed, even one that no longer counts. We keep the key, so
 * nothing in it has a length that a stranger chooses.
 */
export function readShown(ctx: Context, door: Door, label: string, { headers }: Request) {
  const given = /^\s*bearer\s+(pg_\S+)\s*$/i.exec(headers.get('authorization') ?? '')?.[1] ?? null
  const bearer = given !== null && isApiToken(given) ? given : null
  const pass = bearer === null ? readPass(ctx, door, label, headers.get('cookie')) : null
  return { bearer, pass, key: `${ctx.config.secretKey} ${label} ${bearer ?? `${pass?.kind} ${pass?.id}`}` }
}

/** Many servers refuse more than this (431). */
const MOST_BYTES = 8 * 1024
/** Even in a flood, cookies up to this size get through, such as a session's. */
const SMALL_BYTES = 256
const MOST_SMALL_BYTES = 1024

const bytesOf = (cookies: string[]) => cookies.reduce((sum, cookie) => sum + Buffer.byteLength(cookie) + 2, 0)

/** Whether a page may have filled the domain's cookies to shut its visitors out of other runs. */
export const isFlood = (cookies: string | null): boolean => bytesOf(cookiesOf(cookies)) > MOST_BYTES

/** The machine's own cookies, without ours. In a flood, only the small ones, such as a session's. */
export function cookiesForMachine(given: string | null, ours: string): string | null {
  const isNotOurs = (cookie: string) => !isOurs(nameOf(cookie), ours)
  const theirs = partsOf(given).flatMap((part) => {
    const cookies = part.split(LINE_END)
    // Ours contains no comma: one next to it is the runtime's, or a page's that imitates ours.
    return cookies.every(isNotOurs) ? [part] : cookies.filter(isNotOurs)
  })
  const small = theirs.filter((cookie) => Buffer.byteLength(cookie) <= SMALL_BYTES)
  if (!isFlood(given)) return theirs.join('; ') || null
  return bytesOf(small) <= MOST_SMALL_BYTES ? small.join('; ') || null : null
}

/** The headers of an answer are limited as well: Cloudflare takes 128 KB. The next answers end the rest. */
const MOST_ENDED = 100
const MOST_ENDED_BYTES = 32 * 1024

/**
 * Headers that end the cookies a page set for the doors' whole domain. Cookies of a single host have no `Domain`, and
 * stay. A request doesn't say a cookie's path, but that path begins the request's own, or is the same.
 */
export function endedCookies(door: Door, request: Request): string[] {
  // To a browser, a comma is part of a name.
  const cookies = new Set(partsOf(request.headers.get('cookie')).flatMap((part) => [part, ...part.split(LINE_END)]))
  // A page can also set one cookie without a name for each path.
  const named = new Set([...cookies].map((cookie) => (cookie.includes('=') ? nameOf(cookie) : '')))
  const names = [...named].filter((name) => !isOurs(name, cookieName(door)))
  const { pathname } = new URL(request.url)
  const pathEnds = pathEndsOf(pathname)
  const domains = door.domain.split('.').flatMap((_, i, all) => (i < all.length - 1 ? [all.slice(i).join('.')] : []))
  const kinds = door.scheme === 'https' ? ['; Secure', '; Secure; Partitioned'] : ['']
  // A stranger chooses names and paths, so the work must not grow with their product.
  const all = pathEnds.length * names.length * domains.length * kinds.length
  // If we always began at the first, those that stay, such as the host's own, would keep the others from ending.
  const first = Math.floor(Math.random() * all)
  const ended: string[] = []
  let bytes = 0
  for (let i = 0; i < Math.min(all, MOST_ENDED); i++) {
    let rest = (first + i) % all
    const pick = <T>(from: readonly T[]): T => {
      const one = from[rest % from.length] as T
      rest = Math.floor(rest / from.length)
      return one
    }
    const [kind, domain, name, end] = [pick(kinds), pick(domains), pick(names), pick(pathEnds)]
    const one = `${name}=${name ? '' : 'x'}; Domain=${domain}; Path=${pathname.slice(0, end)}; Max-Age=0${kind}`
    bytes += Buffer.byteLength(one)
    if (bytes > MOST_ENDED_BYTES) break
    ended.push(one)
  }
  return ended
}

/** Where a cookie's path can end. */
function pathEndsOf(pathname: string): number[] {
  const ends = new Set([1])
  for (let i = pathname.indexOf('/', 1); i !== -1; i = pathname.indexOf('/', i + 1)) ends.add(i).add(i + 1)
  return [...ends.add(pathname.length)]
}
