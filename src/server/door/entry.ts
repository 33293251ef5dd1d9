import { isApiToken } from '../../domain/api-token.ts'
import { type Door, ENTER_PATH, findDoorHost, READY_LABEL } from '../../domain/door.ts'
import { SERVER_WEB_PORT } from '../../domain/server.ts'
import { findByApiToken } from '../accounts/api-tokens.ts'
import { noteUse } from '../accounts/live-sign-ins.ts'
import { isWithinOuterLimit } from '../http/middleware/outer-limit.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import type { Env } from '../settings/env.ts'
import { doorQuery, type FoundDoor, findDoor, type Pass } from './access.ts'
import { briefly } from './briefly.ts'
import { cookieName, endedCookies, passCookie, readPass } from './cookie.ts'
import { isForeign, isPreflight } from './headers.ts'
import { admitGuest, redeemTicket } from './links.ts'
import { passOn, passPreflight } from './pass-on.ts'
import { answerReady } from './ready.ts'
import { type Refusal, refuse } from './refusals.ts'

type DoorEnv = Pick<Env, 'DOOR_KEEPER' | 'OUTER_LIMIT'>

/** Answers a request to a run's own host: lets its owner and guests through to the machine. */
export async function answerAtDoor(ctx: Context, request: Request, env: DoorEnv): Promise<Response> {
  const { door } = ctx.config
  const url = new URL(request.url)
  const host = findDoorHost(door, url.host)
  const isReady = door !== null && url.hostname === `${READY_LABEL}.${door.domain}`
  if (isReady) return (await isTooMuch(ctx, env, request)) ? refuse('too_many') : answerReady(ctx)
  if (!door || !host?.label || (host.port !== null && !door.webPorts.includes(host.port))) return refuse('unknown')
  try {
    const shown = readShown(ctx, door, host.label, request)
    const isEntering = url.pathname === ENTER_PATH
    if ((isEntering || mayBeStranger(shown)) && (await isTooMuch(ctx, env, request))) return refuse('too_many')
    if (isEntering) return await enter(ctx, door, host.label, shown, request)
    const visitor = await findVisitor(ctx, host.label, shown)
    if (!visitor.door) return refuse('unknown')
    const port = host.port ?? SERVER_WEB_PORT
    const crossing = { door, label: host.label, port: host.port, cookie: cookieName(door) }
    const to = { ...crossing, address: `${visitor.door.address}:${port}` }
    if (visitor.door.state === 'open' && !visitor.isIn && isPreflight(request, door, host.label))
      return await passPreflight(ctx, request, to)
    const why = whyNot(door, visitor, request, siteOrigin(ctx))
    if (why === 'stranger') return turnAway(ctx, door, visitor, visitor.door, host.port, request)
    if (why) return refuse(why)
    if (visitor.pass?.kind === 'sign_in' && isUse(request)) ctx.background(noteUse(ctx, visitor.pass.id))
    return await passOn(ctx, request, { ...visitor, door: visitor.door, pass: visitor.pass as Pass, to }, (userId) =>
      env.DOOR_KEEPER.getByName(userId),
    )
  } catch (error) {
    ctx.log('door_failed', { label: host.label }, error)
    return refuse('failed')
  }
}

/** Opening a page of the simulator, or a connection to it, is use; what a page loads and polls isn't. */
const isUse = ({ headers }: Request) => headers.get('sec-fetch-mode') === 'navigate' || headers.has('upgrade')

type Visitor = { door: FoundDoor | null; pass: Pass | null; isIn: boolean }

function whyNot(
  door: Door,
  { door: found, pass, isIn }: Visitor,
  request: Request,
  site: string,
): Refusal | 'stranger' | null {
  if (found?.state === 'over') return 'over'
  if (!isIn || !pass) return 'stranger'
  if (found?.state === 'closed') return 'closed'
  if (pass.kind !== 'token' && isForeign(request, door, found?.label ?? '', site)) return 'foreign'
  // It could outlive the run, and answer for the door.
  if (request.headers.has('service-worker')) return 'service_worker'
  return found?.state === 'starting' ? 'starting' : null
}

const visitors = briefly<Visitor>()

/** What a request shows: an API token, or a pass that we signed, which need not count any more. */
function readShown(ctx: Context, door: Door, label: string, { headers }: Request) {
  const bearer = /^\s*bearer\s+(pg_\S+)\s*$/i.exec(headers.get('authorization') ?? '')?.[1] ?? null
  const pass = bearer === null ? readPass(ctx, door, label, headers.get('cookie')) : null
  return { bearer, pass, key: `${ctx.config.secretKey} ${label} ${bearer ?? `${pass?.kind} ${pass?.id}`}` }
}

type Shown = ReturnType<typeof readShown>

/** Who this is, from one read, or from one a moment ago. */
function findVisitor(ctx: Context, label: string, { bearer, pass, key }: Shown): Promise<Visitor> {
  return visitors.find(key, async () =>
    bearer === null ? { pass, ...(await findDoor(ctx, { label }, pass)) } : findProgram(ctx, label, bearer),
  )
}

/** People with a pass load hundreds of files, and cost two reads a second at most. One that ended counts no longer. */
function mayBeStranger({ pass, key }: Shown): boolean {
  const known = visitors.known(key)
  return known ? !known.isIn : pass === null
}

/** The platform counts strangers, and everyone who enters, by their network, before we read anything. */
async function isTooMuch(ctx: Context, env: DoorEnv, request: Request): Promise<boolean> {
  const address = request.headers.get('cf-connecting-ip')
  return !(await isWithinOuterLimit(env, address, (error) => ctx.log('door_limit_failed', {}, error)))
}

/** The owner's own program, with a token that may operate. */
async function findProgram(ctx: Context, label: string, token: string): Promise<Visitor> {
  const found = isApiToken(token) ? await findByApiToken(ctx, token, [doorQuery(ctx, { label })] as const) : null
  if (!found) return { pass: null, ...(await findDoor(ctx, { label }, null)) }
  const [[door]] = found.along
  const { id, scope, user } = found.signIn
  const isIn = scope === 'operate' && user.id === door?.userId
  return { door: door ?? null, pass: isIn ? { kind: 'token', id } : null, isIn }
}

/**
 * A browser goes to the site, which knows whose it is. A guest whose link ended has nothing to sign in to. A program
 * learns how to come in.
 */
function turnAway(
  ctx: Context,
  door: Door,
  { pass }: Visitor,
  { runId }: FoundDoor,
  port: number | null,
  request: Request,
): Response {
  const { headers, method } = request
  const isPage = /\btext\/html\b/.test(headers.get('accept') ?? '')
  // A browser that signed in to the machine's own pages sends what it knows for them.
  const isProgram = /^bearer\b/i.test(headers.get('authorization') ?? '')
  if (!isPage || !/^(GET|HEAD)$/.test(method) || isProgram) return refuse('stranger')
  if (pass?.kind === 'guest') return refuse('bad_link')
  const { pathname, search } = new URL(request.url)
  const to = new URL(`/servers/${runId}/open`, siteOrigin(ctx))
  to.searchParams.set('to', pathname + search)
  if (port !== null) to.searchParams.set('port', String(port))
  return redirect(to.href, endedCookies(door, request))
}

function redirect(location: string, cookies: string[]): Response {
  const headers = new Headers({ location, ...NOT_KEPT })
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return new Response(null, { status: 302, headers })
}

const NOT_KEPT = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }

/** Trades a ticket or a guest's link for this host's cookie, and continues at an address without either. */
async function enter(ctx: Context, door: Door, label: string, shown: Shown, request: Request): Promise<Response> {
  const { searchParams, origin } = new URL(request.url)
  // A look ahead must not use up the ticket.
  const { headers, method } = request
  const isSeen = /^(document|iframe)$/.test(headers.get('sec-fetch-dest') ?? 'document')
  if (method !== 'GET' || !isSeen || headers.get('sec-purpose')?.startsWith('prefetch')) return refuse('not_now')
  const ticket = searchParams.get('ticket')
  const guest = searchParams.get('guest')
  const to = pathOf(searchParams.get('to') ?? '/', origin)
  // An owner who tries their own link stays the owner.
  if (guest && !ticket && shown.pass?.kind === 'sign_in' && (await findVisitor(ctx, label, shown)).isIn)
    return redirect(to, [])
  const pass = ticket ? await redeemTicket(ctx, label, ticket) : guest ? await admitGuest(ctx, label, guest) : null
  if (!pass) {
    const { door: found } = await findDoor(ctx, { label }, null)
    return refuse(found?.state === 'over' ? 'over' : 'bad_link')
  }
  const cookies = [passCookie(ctx, door, label, pass), ...endedCookies(door, request)]
  return redirect(to, cookies)
}

/** Only a path of this host: a browser reads `//…` as another one, also where it began as `/.//…`. */
function pathOf(to: string, origin: string): string {
  const url = URL.canParse(to, origin) ? new URL(to, origin) : null
  if (url?.origin !== origin || url.pathname.startsWith('//') || url.pathname.startsWith(ENTER_PATH)) return '/'
  return url.pathname + url.search
}
