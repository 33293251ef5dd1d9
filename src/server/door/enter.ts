import { randomBytes } from 'node:crypto'
import { type Door, doorUrl, ENTER_PATH, PORTS_PATH } from '../../domain/door.ts'
import { readSigned, sign } from '../crypto/signed-cookie.ts'
import type { Context } from '../runtime/context.ts'
import { findDoor, type Pass } from './access.ts'
import { endedCookies, passCookie, readWay, wayCookie } from './cookie.ts'
import { admitGuest, redeemTicket } from './links.ts'
import { openPorts } from './open-ports.ts'
import { refuse } from './refusals.ts'

/** A host of a run's: the main one, or a port's. */
export type Host = { label: string; port: number | null }

/** What the main host gives a browser for a port's host, which recognizes it by its cookie. */
type HandOver = Pass & Host & { way: string }

/** The browser's pass for this host, whether it counts, and whether its network asked too often. */
type Shown = { pass: Pass | null; isIn: () => Promise<boolean>; isTooMuch: () => Promise<boolean> }

/** A browser gets from the main host to the port's in one redirect. */
const HAND_OVER_MS = 30_000

/**
 * Lets a browser into this host, and redirects it to an address without the secret. Tickets and guests' links count at
 * the main host, and the ports' hosts send browsers there, so one way in opens all of them.
 */
export async function enter(ctx: Context, door: Door, host: Host, shown: Shown, request: Request): Promise<Response> {
  const { searchParams, origin } = new URL(request.url)
  const { headers, method } = request
  const [ticket, guest, handOver] = ['ticket', 'guest', 'pass'].map((name) => searchParams.get(name) || null)
  // A prefetch must not use up a ticket, and no frame must make its visitor a guest.
  const shownIn = headers.get('sec-fetch-dest') ?? 'document'
  const isAhead = headers.get('sec-purpose')?.startsWith('prefetch')
  if (method !== 'GET' || isAhead || ((ticket || guest) && shownIn !== 'document')) return refuse('not_now')
  const to = pathOf(searchParams.get('to') ?? '/', origin)
  if (host.port !== null) {
    // Only a script on a page asks for the way in alone.
    const next = searchParams.has('to') || /^i?frame$|^document$/.test(shownIn) ? to : null
    if (handOver) return takeOver(ctx, door, host, shown, { handOver, to: next }, request)
    return askMainHost(door, host, request, next, ticket ? { ticket } : guest ? { guest } : null)
  }
  if (await shown.isTooMuch()) return refuse('too_many')
  // An owner who tries their own link stays the owner.
  if (guest && !ticket && shown.pass?.kind === 'sign_in' && (await shown.isIn())) return redirect(to, [])
  const { label } = host
  const pass = ticket ? await redeemTicket(ctx, label, ticket) : guest ? await admitGuest(ctx, label, guest) : null
  // A program, or a browser that doesn't say what it is showing, has no use for our page.
  const next = headers.has('sec-fetch-dest') ? `${PORTS_PATH}?${new URLSearchParams({ to })}` : to
  if (pass) return redirect(next, [passCookie(ctx, door, label, pass), ...endedCookies(door, request)])
  const { door: found } = await findDoor(ctx, { label }, null)
  return refuse(found?.state === 'over' ? 'over' : 'bad_link')
}

/** Sends a browser from a port's host to the main one, which knows whether it may enter. @param key the secret it brings */
export function askMainHost(
  door: Door,
  { label, port }: Host,
  request: Request,
  to: string | null,
  key: Record<string, string> | null = null,
): Response {
  // Several tabs share this cookie.
  const way = readWay(door, request.headers.get('cookie')) ?? randomBytes(16).toString('base64url')
  const asked = new URLSearchParams({ port: String(port), way, ...(to !== null && { to }) })
  const path = `${PORTS_PATH}?${asked}`
  const main = new URL(key ? `${ENTER_PATH}?${new URLSearchParams({ ...key, to: path })}` : path, doorUrl(door, label))
  return redirect(main.href, [wayCookie(door, way), ...endedCookies(door, request)], 'strict-origin')
}

/**
 * The main host's answer to a browser with this pass: sends it back to the port's host with a hand-over. Without a
 * port, to all of them.
 */
export function openPort(ctx: Context, door: Door, label: string, pass: Pass, request: Request): Response {
  const { searchParams, origin } = new URL(request.url)
  const to = searchParams.get('to')
  if (!searchParams.has('port')) return openPorts(door, label, pathOf(to ?? '/', origin))
  const port = Number(searchParams.get('port'))
  // A program has its token for every host, and must get no cookie that outlives it.
  if (!door.webPorts.includes(port) || pass.kind === 'token') return refuse('unknown')
  const given: HandOver = { ...pass, label, port, way: searchParams.get('way') ?? '' }
  const url = new URL(ENTER_PATH, doorUrl(door, label, port))
  url.searchParams.set('pass', sign(ctx, 'door-port', { ...given, expires: ctx.now() + HAND_OVER_MS }))
  if (to !== null) url.searchParams.set('to', to)
  return redirect(url.href, [], 'strict-origin')
}

/** Works only in the browser that this host sent away: nobody can pass theirs on. */
async function takeOver(
  ctx: Context,
  door: Door,
  host: Host,
  { isIn, isTooMuch }: Shown,
  given: { handOver: string; to: string | null },
  request: Request,
): Promise<Response> {
  const way = readWay(door, request.headers.get('cookie'))
  const found = readSigned<HandOver>(ctx, 'door-port', given.handOver)
  const isHere = found?.label === host.label && found.port === host.port
  const go = (cookies: string[]) =>
    given.to === null
      ? answerWith(204, new Headers(), cookies, 'no-referrer')
      : redirect(given.to, cookies, 'strict-origin')
  if (found && isHere && way !== null && found.way === way) {
    const pass = { kind: found.kind, id: found.id }
    return go([passCookie(ctx, door, host.label, pass), ...endedCookies(door, request)])
  }
  if (await isTooMuch()) return refuse('too_many')
  // Another tab was faster, or it took too long. A browser without cookies would loop forever.
  if (await isIn()) return go([])
  return way === null ? refuse('no_cookies') : askMainHost(door, host, request, given.to)
}

/** @param referrer a frame of the run's own page must still say which page it belongs to */
export function redirect(
  location: string,
  cookies: string[],
  referrer: 'no-referrer' | 'strict-origin' = 'no-referrer',
): Response {
  return answerWith(302, new Headers({ location }), cookies, referrer)
}

function answerWith(status: number, headers: Headers, cookies: string[], referrer: string): Response {
  headers.set('cache-control', 'no-store')
  headers.set('referrer-policy', referrer)
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return new Response(null, { status, headers })
}

/** Only a path of this host: a browser reads `//…` as another host, even if it began as `/.//…`. */
function pathOf(to: string, origin: string): string {
  const url = URL.canParse(to, origin) ? new URL(to, origin) : null
  if (url?.origin !== origin || url.pathname.startsWith('//') || url.pathname.startsWith(ENTER_PATH)) return '/'
  return url.pathname + url.search
}
