import { isApiToken } from '../../domain/api-token.ts'
import { type Door, doorUrl, findDoorHost } from '../../domain/door.ts'
import { allAtDoor, atDoor, type Crossing, onMachine } from './addresses.ts'
import { cookiesForMachine, isOurs } from './cookie.ts'

/** These belong to one connection, not to the message. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]
/** Who is asking, as Cloudflare and proxies report it; what CGI takes for its own proxy; and what each connection sets itself. */
const NOT_FOR_MACHINES =
  /^(cf-.*|x-forwarded(-.*)?|x-door-.*|forwarded|x-real-ip|(true-|x-)?client-ip|cdn-loop|proxy|host|content-length|expect|sec-websocket-(key|version|extensions|accept))$/
/** These would reach beyond this answer: to shared caches, other origins, or scripts that outlive the run. */
const NOT_FOR_BROWSERS =
  /^(set-cookie2?|alt-svc|clear-site-data|service-worker-allowed|strict-transport-security|(cloudflare-)?cdn-cache-control|surrogate-control|cf-.*|sec-websocket-(accept|extensions))$/

const MAX_LED = 8_192

/** A guest may see the simulator but not the owner's files. Only the machine knows which is which. */
export type Who = 'owner' | 'guest'

const isHop = (headers: Headers) => {
  const named = (headers.get('connection') ?? '').toLowerCase().split(',')
  const names = new Set([...HOP_BY_HOP, ...named.map((name) => name.trim())])
  return (name: string) => names.has(name)
}

/** As programs behind CGI and WSGI read a header's name: they can't tell `X_Door_Visitor` from `X-Door-Visitor`. */
const readsLike = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '-')

/** The headers that the machine sees: nothing that lets it in anywhere else or tells who is asking. */
export function toMachine(given: Headers, crossing: Crossing, who: Who): Headers {
  const { door, label, port } = crossing
  const headers = new Headers()
  const isDropped = isHop(given)
  for (const [name, value] of given) {
    const read = readsLike(name)
    if (!isDropped(name) && !isDropped(read) && !NOT_FOR_MACHINES.test(read)) headers.append(name, value)
  }
  const tokens = given.get('authorization')?.match(/pg_[0-9A-Za-z]+/g)
  if (tokens?.some(isApiToken)) headers.delete('authorization')
  const cookies = cookiesForMachine(given.get('cookie'), crossing.cookie)
  if (cookies === null) headers.delete('cookie')
  else headers.set('cookie', cookies)
  // The machine's own pages come from the host in `Host`, which servers compare.
  const origin = onMachine(crossing, given.get('origin') ?? '')
  if (origin) headers.set('origin', origin.origin)
  const destination = onMachine(crossing, given.get('destination') ?? '')
  if (destination) headers.set('destination', destination.href)
  // The machine must not learn which other site led here.
  const referer = onMachine(crossing, given.get('referer') ?? '')
  if (referer) headers.set('referer', referer.origin + referer.pathname)
  else headers.delete('referer')
  if (given.get('upgrade')?.toLowerCase() === 'websocket') headers.set('upgrade', 'websocket')
  // Programs that read it compare it with `Origin`. Without it, they compare `Host`, like all others.
  if (!origin) headers.set('x-forwarded-host', new URL(doorUrl(door, label, port)).host)
  headers.set('x-forwarded-proto', door.scheme)
  headers.set('x-door-visitor', who)
  return headers
}

/** The headers that a browser sees: nothing that acts beyond this run's own host. */
export function toBrowser(given: Headers, crossing: Crossing, site: string): Headers {
  const { door, label, cookie } = crossing
  const headers = new Headers()
  const isDropped = isHop(given)
  for (const [name, value] of given) if (!isDropped(name) && !NOT_FOR_BROWSERS.test(name)) headers.append(name, value)
  // In a chunked answer, a length doesn't count (RFC 9112, 6.3).
  if (given.has('transfer-encoding')) headers.delete('content-length')
  for (const one of given.getSetCookie()) {
    const kept = ownCookie(one, cookie)
    if (kept) headers.append('set-cookie', kept)
  }
  for (const name of ['location', 'content-location']) {
    const value = headers.get(name)
    if (value !== null) headers.set(name, atDoor(crossing, value))
  }
  for (const name of ['refresh', 'link']) {
    const value = headers.get(name)
    // Longer ones would cost us a lot of CPU, and no page needs them.
    if (value !== null && value.length <= MAX_LED) headers.set(name, allAtDoor(crossing, value))
  }
  headers.set('cache-control', privately(given.get('cache-control')))
  // A second policy can only forbid more: the machine's own stays.
  const framers = [doorUrl(door, label), ...door.webPorts.map((other) => doorUrl(door, label, other)), site]
  headers.append('content-security-policy', `frame-ancestors ${framers.map((url) => new URL(url).origin).join(' ')}`)
  if (!headers.has('origin-agent-cluster')) headers.set('origin-agent-cluster', '?1')
  if (door.scheme === 'https') headers.set('strict-transport-security', 'max-age=31536000')
  return headers
}

/** Without its domain, so that it stays on this host. Null for one that could pass for ours. */
function ownCookie(cookie: string, ours: string): string | null {
  const [pair = '', ...attributes] = cookie.split(';')
  const name = pair.includes('=') ? (pair.split('=')[0] ?? '').trim() : ''
  // A browser sends a cookie without a name as its bare value, which may look like any cookie.
  if (!name || isOurs(name, ours)) return null
  return [pair, ...attributes.filter((one) => !/^\s*domain\s*(=|$)/i.test(one))].join(';')
}

/** Only the visitor's own browser may keep it. */
function privately(given: string | null): string {
  const kept = (given ?? 'no-cache')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part && !/^(public|private|s-maxage\b.*|proxy-revalidate)$/i.test(part))
  return ['private', ...kept].join(', ')
}

/** The encodings that the visitor accepts. Cloudflare sends its own, and keeps the visitor's separately. */
export function acceptsOf({ headers, cf }: Request & { cf?: { clientAcceptEncoding?: string } }): string | null {
  return (cf?.clientAcceptEncoding ?? headers.get('accept-encoding')) || null
}

/**
 * Whether a page on one of the run's hosts asks what it may request from another one. Browsers send no cookie with it,
 * so anyone can ask: it carries nothing but the question.
 */
export function isPreflight({ headers, method }: Request, door: Door, label: string): boolean {
  const isAsked = method === 'OPTIONS' && headers.has('access-control-request-method')
  return isAsked && isRunsOwn(door, label, headers.get('origin') ?? '')
}

const isRunsOwn = (door: Door, label: string, address: string): boolean =>
  URL.canParse(address) && findDoorHost(door, new URL(address).host)?.label === label

/**
 * Whether a page of another site, or of another run, makes this request with the visitor's cookie. Following a link is
 * fine, and so are requests from the run's own hosts. Those and our site may also show it in a frame. Another site's
 * frame is refused here, because the machine would get the request before the browser refuses to show it.
 */
export function isForeign({ headers, method }: Request, door: Door, label: string, siteOrigin: string): boolean {
  const isOwn = (address: string) => isRunsOwn(door, label, address)
  const origin = headers.get('origin')
  const site = headers.get('sec-fetch-site')
  // A form on a page with `no-referrer` names no origin, but the browser still says whose page it is.
  if (origin !== null && !(origin === 'null' && site === 'same-origin')) return !isOwn(origin)
  // Chromium sends `none` also when another page's speculation rules ask for it.
  const isAhead = headers.get('sec-purpose')?.startsWith('prefetch') ?? false
  if (site === null || site === 'same-origin' || (site === 'none' && !isAhead)) return false
  const referer = headers.get('referer') ?? ''
  if (isOwn(referer)) return false
  if (headers.get('sec-fetch-mode') !== 'navigate' || !/^(GET|HEAD)$/.test(method)) return true
  const isTab = (headers.get('sec-fetch-dest') ?? 'document') === 'document'
  return (!isTab || isAhead) && !(URL.canParse(referer) && new URL(referer).origin === siteOrigin)
}
