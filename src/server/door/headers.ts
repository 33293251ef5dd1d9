import { type Door, doorUrl, findDoorHost } from '../../domain/door.ts'

/** They belong to one connection, not to the message. */
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
/** Who asks, as Cloudflare and proxies report it, and what a new connection writes itself. */
const NOT_FOR_MACHINES =
  /^(cf-.*|x-forwarded-.*|x-door-.*|forwarded|x-real-ip|true-client-ip|cdn-loop|host|content-length|sec-websocket-(key|version|extensions|accept))$/
/** They would reach beyond this answer: to shared caches, other origins, or scripts that outlive the run. */
const NOT_FOR_BROWSERS =
  /^(set-cookie2?|alt-svc|clear-site-data|service-worker-allowed|strict-transport-security|(cloudflare-)?cdn-cache-control|surrogate-control|cf-.*|sec-websocket-(accept|extensions))$/

/** A run's host at the door, and its machine's address, which take each other's place in both directions. */
export type Crossing = { door: Door; label: string; port: number | null; address: string; cookie: string }
/** A guest may see the simulator, and not the owner's files: only the machine knows which is which. */
export type Who = 'owner' | 'guest'

const isHop = (headers: Headers) => {
  const named = (headers.get('connection') ?? '').toLowerCase().split(',')
  const names = new Set([...HOP_BY_HOP, ...named.map((name) => name.trim())])
  return (name: string) => names.has(name)
}

/** What the machine gets to see: nothing that would let it in anywhere else, or names who asks. */
export function toMachine(given: Headers, { door, label, port, address, cookie }: Crossing, who: Who): Headers {
  const headers = new Headers()
  const isDropped = isHop(given)
  for (const [name, value] of given) if (!isDropped(name) && !NOT_FOR_MACHINES.test(name)) headers.append(name, value)
  if (/^\s*bearer\s+pg_/i.test(given.get('authorization') ?? '')) headers.delete('authorization')
  const cookies = (given.get('cookie') ?? '').split(';').map((one) => one.trim())
  const theirs = cookies.filter((one) => one && (one.split('=')[0] ?? '').trim() !== cookie)
  if (theirs.length) headers.set('cookie', theirs.join('; '))
  else headers.delete('cookie')
  const { host, origin } = new URL(doorUrl(door, label, port))
  for (const name of ['origin', 'referer']) {
    const value = given.get(name)
    if (value === null || !URL.canParse(value)) continue
    const url = new URL(value)
    // Its own pages: the same host as in `Host`, which servers compare. Another site's address is none of its business.
    if (url.origin === origin)
      headers.set(name, name === 'origin' ? `http://${address}` : `http://${address}${url.pathname}`)
    else if (name === 'referer') headers.delete(name)
  }
  if (given.get('upgrade')?.toLowerCase() === 'websocket') headers.set('upgrade', 'websocket')
  headers.set('x-forwarded-host', host)
  headers.set('x-forwarded-proto', door.scheme)
  headers.set('x-door-visitor', who)
  return headers
}

/** What a browser gets to see: nothing that acts beyond this run's own host. */
export function toBrowser(given: Headers, { door, label, port, address, cookie }: Crossing, site: string): Headers {
  const headers = new Headers()
  const isDropped = isHop(given)
  for (const [name, value] of given) if (!isDropped(name) && !NOT_FOR_BROWSERS.test(name)) headers.append(name, value)
  for (const one of given.getSetCookie()) {
    const kept = ownCookie(one, cookie)
    if (kept) headers.append('set-cookie', kept)
  }
  const own = doorUrl(door, label, port)
  const location = given.get('location')
  if (location && URL.canParse(location) && new URL(location).host === address) {
    const { pathname, search, hash } = new URL(location)
    headers.set('location', `${own.slice(0, -1)}${pathname}${search}${hash}`)
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
  if (!name || name.toLowerCase() === ours.toLowerCase() || /^__(host|secure)-/i.test(name)) return null
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

/**
 * Whether a page of another site, or of another run, makes this request with the visitor's cookie. Following a link
 * is fine, and so are the run's own hosts. Those and the site may show it in a frame; a frame of others would already
 * have asked the machine when the browser refuses to show it.
 */
export function isForeign({ headers, method }: Request, door: Door, label: string, siteOrigin: string): boolean {
  const isOwn = (address: string) => URL.canParse(address) && findDoorHost(door, new URL(address).host)?.label === label
  const origin = headers.get('origin')
  if (origin !== null) return !isOwn(origin)
  const site = headers.get('sec-fetch-site')
  // Chromium sends `none` also when another page's speculation rules ask for it.
  const isAhead = headers.get('sec-purpose')?.startsWith('prefetch') ?? false
  if (site === null || site === 'same-origin' || (site === 'none' && !isAhead)) return false
  const referer = headers.get('referer') ?? ''
  if (isOwn(referer)) return false
  if (headers.get('sec-fetch-mode') !== 'navigate' || !/^(GET|HEAD)$/.test(method)) return true
  const isTab = (headers.get('sec-fetch-dest') ?? 'document') === 'document'
  return (!isTab || isAhead) && !(URL.canParse(referer) && new URL(referer).origin === siteOrigin)
}
