import { type Door, ENTER_PATH, findDoorHost, PORTS_PATH, READY_LABEL } from '../../domain/door.ts'
import { SERVER_WEB_PORT } from '../../domain/server.ts'
import { findByApiToken } from '../accounts/api-tokens.ts'
import { isUseDue, noteUse } from '../accounts/live-sign-ins.ts'
import { isWithinOuterLimit } from '../http/middleware/outer-limit.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import type { Env } from '../settings/env.ts'
import { doorQuery, type FoundDoor, findDoor, type Pass } from './access.ts'
import { briefly } from './briefly.ts'
import { cookieName, endedCookies, readShown } from './cookie.ts'
import { askMainHost, enter, type Host, openPort, redirect } from './enter.ts'
import { isForeign, isPreflight } from './headers.ts'
import { passOn, passPreflight } from './pass-on.ts'
import { answerReady } from './ready.ts'
import { type Refusal, refuse } from './refusals.ts'

type DoorEnv = Pick<Env, 'DOOR_KEEPER' | 'OUTER_LIMIT'>

/** Answers a request to a run's own host: passes its owner and guests through to the machine. */
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
    const count = () => isTooMuch(ctx, env, request)
    if (!isEntering && mayBeStranger(shown) && (await count())) return refuse('too_many')
    const { label } = host
    const find = () => findVisitor(ctx, label, shown)
    if (isEntering) {
      const isIn = async () => (await find()).isIn
      return await enter(ctx, door, host, { pass: shown.pass, isIn, isTooMuch: count }, request)
    }
    const visitor = await find()
    if (!visitor.door) return refuse('unknown')
    const port = host.port ?? SERVER_WEB_PORT
    const crossing = { door, label: host.label, port: host.port, cookie: cookieName(door) }
    const to = { ...crossing, address: `${visitor.door.address}:${port}` }
    if (visitor.door.state === 'open' && !visitor.isIn && isPreflight(request, door, host.label))
      return await passPreflight(ctx, request, to)
    const why = whyNot(door, visitor, request, siteOrigin(ctx))
    if (why === 'stranger') return turnAway(ctx, door, visitor, visitor.door, host, request)
    if (why) return refuse(why)
    const pass = visitor.pass as Pass
    if (host.port === null && url.pathname === PORTS_PATH) return openPort(ctx, door, label, pass, request)
    const opensSocket = request.method === 'GET' && request.headers.has('upgrade')
    if (opensSocket && (await isTooMuch(ctx, env, request, socketsOf(visitor.door, pass)))) return refuse('too_many')
    if (pass.kind === 'sign_in' && isUse(request) && isUseDue(ctx, visitor.lastSeenAt ?? ctx.now())) {
      // The next requests share this visitor.
      visitor.lastSeenAt = ctx.now()
      ctx.background(noteUse(ctx, pass.id))
    }
    return await passOn(ctx, request, { ...visitor, door: visitor.door, pass, to }, (userId) =>
      env.DOOR_KEEPER.getByName(userId),
    )
  } catch (error) {
    ctx.log('door_failed', { label: host.label }, error)
    return refuse('failed')
  }
}

/**
 * Each WebSocket asks the owner's keeper and the machine, so they count per network, for each run and guest link. All the
 * owner's passes count as one: they may have hundreds of sign-ins.
 */
const socketsOf = ({ runId }: FoundDoor, { kind, id }: Pass) => `${kind === 'guest' ? id : runId} `

/** Opening a page of the simulator, or a connection to it, counts as use. What a page loads and polls doesn't. */
const isUse = ({ headers }: Request) => headers.get('sec-fetch-mode') === 'navigate' || headers.has('upgrade')

type Visitor = { door: FoundDoor | null; pass: Pass | null; isIn: boolean; lastSeenAt?: number | undefined }

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
  // A service worker could outlive the run, and answer in the door's name.
  if (request.headers.has('service-worker')) return 'service_worker'
  return found?.state === 'starting' ? 'starting' : null
}

const visitors = briefly<Visitor>()

type Shown = ReturnType<typeof readShown>

/** Who the visitor is, from one read, or from one a moment ago. */
function findVisitor(ctx: Context, label: string, { bearer, pass, key }: Shown): Promise<Visitor> {
  return visitors.find(key, async () =>
    bearer === null ? { pass, ...(await findDoor(ctx, { label }, pass)) } : findProgram(ctx, label, bearer),
  )
}

/** People with a pass load hundreds of files, which cost four reads a second at most. An ended pass doesn't count. */
function mayBeStranger({ pass, key }: Shown): boolean {
  const known = visitors.known(key)
  return known ? !known.isIn : pass === null
}

/**
 * The platform counts strangers, and visitors whose ticket or link we must look up, by network and before we read anything.
 * @param what counted apart from those
 */
async function isTooMuch(ctx: Context, env: DoorEnv, request: Request, what = ''): Promise<boolean> {
  const address = request.headers.get('cf-connecting-ip')
  return !(await isWithinOuterLimit(env, address, (error) => ctx.log('door_limit_failed', {}, error), what))
}

/** A program of the owner's, with a token that may operate. */
async function findProgram(ctx: Context, label: string, token: string): Promise<Visitor> {
  const found = await findByApiToken(ctx, token, [doorQuery(ctx, { label })] as const)
  if (!found) return { pass: null, ...(await findDoor(ctx, { label }, null)) }
  const [[door]] = found.along
  const { id, scope, user } = found.signIn
  const isIn = scope === 'operate' && user.id === door?.userId
  return { door: door ?? null, pass: isIn ? { kind: 'token', id } : null, isIn }
}

/**
 * Sends a browser to where it can prove its access: from a port's host to the main one, and from there to the site. A
 * guest whose link has ended can't sign in anywhere. A program gets told how to get in.
 */
function turnAway(
  ctx: Context,
  door: Door,
  { pass }: Visitor,
  { runId }: FoundDoor,
  host: Host,
  request: Request,
): Response {
  const { headers, method } = request
  const isPage = /\btext\/html\b/.test(headers.get('accept') ?? '')
  // A browser that signed in to the machine's own pages sends those credentials along.
  const isProgram = /^bearer\b/i.test(headers.get('authorization') ?? '')
  if (!/^(GET|HEAD)$/.test(method) || isProgram) return refuse('stranger')
  const { pathname, search, searchParams } = new URL(request.url)
  // A run's page may also show an image from another of its ports.
  if (host.port !== null && (isPage || headers.get('sec-fetch-mode') === 'no-cors'))
    return askMainHost(door, host, request, pathname + search)
  if (!isPage) return refuse('stranger')
  const isOpening = pathname === PORTS_PATH && !searchParams.has('port')
  const to = new URL(`/servers/${runId}/open`, siteOrigin(ctx))
  to.searchParams.set('to', isOpening ? (searchParams.get('to') ?? '/') : pathname + search)
  // They usually have just entered. A browser without cookies would loop forever.
  if (isOpening && !pass) return refuse('no_cookies', to.href)
  return pass?.kind === 'guest' ? refuse('bad_link', to.href) : redirect(to.href, endedCookies(door, request))
}
