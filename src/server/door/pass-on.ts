import { type Context, siteOrigin } from '../runtime/context.ts'
import type { FoundDoor, Pass } from './access.ts'
import { type Crossing, pathOf } from './addresses.ts'
import { endedCookies, isFlood } from './cookie.ts'
import { acceptsOf, toBrowser, toMachine } from './headers.ts'
import { FULL, KEEP_HEADER, type Keeper, whileAllowed } from './hold.ts'
import { type Refusal, refuse } from './refusals.ts'

/** No keeper is known to hold it. */
const PREFLIGHT_MS = 10_000
/** Anyone can ask, so the machine tells no more than a browser reads. */
const OF_PREFLIGHT = /^(access-control-.*|vary|allow)$/

type Answered = Pick<Response, 'status' | 'statusText' | 'headers'>
type Visit = { door: FoundDoor; pass: Pass; to: Crossing }

/** Sends the request to the machine and the answer back, byte for byte, without holding either in memory. */
export async function passOn(
  ctx: Context,
  request: Request,
  { door, pass, to }: Visit,
  keeper: (userId: string) => Keeper,
): Promise<Response> {
  const headers = toMachine(request.headers, to, pass.kind === 'guest' ? 'guest' : 'owner')
  const accepts = acceptsOf(request)
  if (accepts) headers.set('accept-encoding', accepts)
  else headers.delete('accept-encoding')
  if (request.method !== 'GET') headers.delete('upgrade')
  if (headers.has('upgrade')) {
    const path = pathOf(new URL(request.url))
    headers.set(KEEP_HEADER, JSON.stringify({ runId: door.runId, pass, to: to.address, path }))
    // A machine's redirect must not lead to the keeper's own paths.
    const socket = { headers, signal: request.signal, redirect: 'manual', encodeResponseBody: 'manual' } as never
    // It waits as long as the machine does.
    const upgraded = await keeper(door.userId).fetch('http://keeper/socket', socket)
    const { webSocket } = upgraded as unknown as { webSocket?: unknown }
    const init = answerOf(ctx, request, upgraded as unknown as Response, to)
    return webSocket
      ? new Response(null, { ...init, webSocket } as ResponseInit)
      : new Response(upgraded.body as never, init)
  }
  const allowed = whileAllowed(() => keeper(door.userId), { runId: door.runId, pass }, request.signal)
  try {
    const answering = answer(ctx, request, { pass, to }, { headers, signal: allowed.signal })
    const ended = new Promise<Refusal>((resolve) =>
      allowed.signal.addEventListener('abort', () => resolve(allowed.signal.reason === FULL ? 'full' : 'ended')),
    )
    const given = await Promise.race([answering, ended])
    if (given instanceof Response && given.body) {
      const init = answerOf(ctx, request, given, to)
      const { readable, writable } = streamFor(given)
      const passing = given.body.pipeTo(writable, { signal: allowed.signal })
      ctx.background(passing.catch(() => {}).finally(allowed.release))
      return new Response(readable, init)
    }
    allowed.release()
    return given instanceof Response ? new Response(null, answerOf(ctx, request, given, to)) : refuse(given)
  } catch (error) {
    allowed.release()
    throw error
  }
}

async function answer(
  ctx: Context,
  request: Request,
  { pass, to }: Pick<Visit, 'pass' | 'to'>,
  init: RequestInit,
): Promise<Response | Refusal> {
  const body = await bodyOf(request, pass)
  if (typeof body === 'string') return body
  return (await ask(ctx, to.address, init, body)) ?? 'unreachable'
}

/** The runtime can't create answers with other statuses. */
const isPassable = (status: number) => status >= 200 && status <= 599

/** Through this stream, an answer keeps its length, and we know when it ends. The runtime takes no length above 2^53. */
function streamFor({ headers }: Response): TransformStream<Uint8Array, Uint8Array> {
  const given = headers.has('transfer-encoding') ? '' : (headers.get('content-length') ?? '')
  const length = /^\d+$/.test(given) ? Number(given) : Number.NaN
  return Number.isSafeInteger(length) ? new FixedLengthStream(length) : new IdentityTransformStream()
}

/** What a page may request from another of the run's hosts. Only the machine knows. */
export async function passPreflight(ctx: Context, request: Request, to: Crossing): Promise<Response> {
  const headers = toMachine(new Headers(), to, 'guest')
  for (const [name, value] of request.headers)
    if (name === 'origin' || name.startsWith('access-control-request-')) headers.set(name, value)
  const bare = new Request(request.url, { method: 'OPTIONS' })
  const signal = AbortSignal.timeout(PREFLIGHT_MS)
  const answer = await ask(ctx, to.address, { headers, signal }, bare)
  if (!answer) return refuse('unreachable')
  const { status, statusText } = answer
  const told = new Headers([...answer.headers].filter(([name]) => OF_PREFLIGHT.test(name)))
  return new Response(null, answerOf(ctx, request, { status, statusText, headers: told }, to))
}

/** `from`: its address, method, and body. The runtime takes a GET's body only from another request. */
async function ask(ctx: Context, address: string, init: RequestInit, from: Request): Promise<Response | null> {
  try {
    const path = pathOf(new URL(from.url))
    const given = { ...init, encodeResponseBody: 'manual' } as RequestInit
    const answer = (await ctx.machine?.fetch(address, path, given, from)) ?? null
    if (!answer || isPassable(answer.status)) return answer
    await answer.body?.cancel().catch(() => {})
    return null
  } catch (error) {
    // A visitor who left, or whom we cut off, says nothing about the machine.
    if (!from.signal.aborted && !init.signal?.aborted) ctx.log('machine_unreachable', {}, error)
    return null
  }
}

function answerOf(ctx: Context, request: Request, { status, statusText, headers: given }: Answered, to: Crossing) {
  const headers = toBrowser(given, to, siteOrigin(ctx))
  if (isFlood(request.headers.get('cookie')))
    for (const cookie of endedCookies(to.door, request)) headers.append('set-cookie', cookie)
  return { status, statusText, headers, encodeBody: 'manual' } as ResponseInit
}

/** The runtime drops their body if its length is unknown, and nobody should think that it arrived. */
const NEEDS_LENGTH = /^(GET|HEAD)$/
/**
 * Servers expect a body with these. Of any other method, many leave it unread: then it would count as the next request,
 * on a connection that the owner shares.
 */
const GUESTS_BODY = /^(POST|PUT|PATCH|PROPFIND|PROPPATCH|MKCOL|LOCK|REPORT|SEARCH|QUERY)$/

async function bodyOf(request: Request, { kind }: Pass): Promise<Request | Refusal> {
  const { method, headers, body } = request
  const isGuest = kind === 'guest'
  if (!body || (isGuest ? GUESTS_BODY.test(method) : !NEEDS_LENGTH.test(method))) return request
  const length = headers.get('content-length')
  if (length !== null) return isGuest && Number(length) ? 'guest_body' : request
  const reader = body.getReader()
  while (true) {
    const { done, value } = await reader.read()
    if (done) return new Request(request.url, { method })
    if (!value.length) continue
    await reader.cancel()
    return isGuest ? 'guest_body' : 'unmeasured'
  }
}
