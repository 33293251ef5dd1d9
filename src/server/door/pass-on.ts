import { answered } from '../answered.ts'
import { type Context, siteOrigin } from '../context.ts'
import type { FoundDoor, Pass } from './access.ts'
import type { Crossing } from './addresses.ts'
import { endedCookies, isFlood } from './cookie.ts'
import { KEEP_HEADER } from './door-keeper.ts'
import { acceptsOf, toBrowser, toMachine } from './headers.ts'
import { hold, type Keeper } from './hold.ts'
import { refuse } from './refusals.ts'

type Visit = { door: FoundDoor; pass: Pass; to: Crossing }

/** Answers this short end by themselves before anyone could end their access. */
const SHORT_BYTES = 256 * 1024

/** Sends the request to the machine and the answer back, byte for byte, without holding either in memory. */
export async function passOn(
  ctx: Context,
  request: Request,
  { door, pass, to }: Visit,
  keeper: (userId: string) => Keeper,
): Promise<Response> {
  if (!ctx.machine) return refuse('failed')
  const { pathname, search } = new URL(request.url)
  const headers = toMachine(request.headers, to, pass.kind === 'guest' ? 'guest' : 'owner')
  const accepts = acceptsOf(request)
  if (accepts) headers.set('accept-encoding', accepts)
  else headers.delete('accept-encoding')
  if (request.method !== 'GET') headers.delete('upgrade')
  if (headers.has('upgrade')) {
    headers.set(KEEP_HEADER, JSON.stringify({ runId: door.runId, pass, to: to.address, path: pathname + search }))
    const socket = { headers, encodeResponseBody: 'manual' } as never
    const upgraded = await answered(() => keeper(door.userId).fetch('http://keeper/socket', socket), false)
    const { webSocket } = upgraded as unknown as { webSocket?: unknown }
    const init = answerOf(ctx, request, upgraded as unknown as Response, to)
    return webSocket
      ? new Response(null, { ...init, webSocket } as ResponseInit)
      : new Response(upgraded.body as never, init)
  }
  const body = await bodyOf(request)
  if (body === 'unmeasured') return refuse('unmeasured')
  const stop = new AbortController()
  const answer = await ask(ctx, to.address, pathname + search, { headers, signal: stop.signal }, body)
  if (!answer) return refuse('unreachable')
  const init = answerOf(ctx, request, answer, to)
  const length = Number(answer.headers.get('content-length') ?? Number.NaN)
  if (!answer.body || length <= SHORT_BYTES) return new Response(answer.body, init)
  const startHolding = () => hold(() => keeper(door.userId), { runId: door.runId, pass })
  return new Response(held(ctx, answer.body, length, stop, startHolding), init)
}

/** What a page may ask of another of the run's hosts, which only the machine knows. */
export async function passPreflight(ctx: Context, request: Request, to: Crossing): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const headers = toMachine(new Headers(), to, 'guest')
  for (const [name, value] of request.headers)
    if (name === 'origin' || name.startsWith('access-control-request-')) headers.set(name, value)
  const bare = new Request(request.url, { method: 'OPTIONS' })
  const answer = await ask(ctx, to.address, pathname + search, { headers }, bare)
  return answer ? new Response(null, answerOf(ctx, request, answer, to)) : refuse('unreachable')
}

/** `from`: its method and its body. The runtime takes a GET's body only from another request. */
async function ask(ctx: Context, address: string, path: string, init: RequestInit, from: Request) {
  try {
    return await ctx.machine?.fetch(address, path, { ...init, encodeResponseBody: 'manual' } as RequestInit, from)
  } catch (error) {
    ctx.log('machine_unreachable', {}, error)
    return null
  }
}

function answerOf(ctx: Context, request: Request, { status, statusText, headers: given }: Response, to: Crossing) {
  const headers = toBrowser(given, to, siteOrigin(ctx))
  if (isFlood(request.headers.get('cookie')))
    for (const cookie of endedCookies(to.door, request)) headers.append('set-cookie', cookie)
  return { status, statusText, headers, encodeBody: 'manual' } as ResponseInit
}

/** The runtime drops a GET's body of unknown length: nobody should think that it arrived. */
async function bodyOf(request: Request): Promise<Request | 'unmeasured'> {
  const { method, headers, body } = request
  if (!body || !/^(GET|HEAD)$/.test(method) || headers.has('content-length')) return request
  const reader = body.getReader()
  while (true) {
    const { done, value } = await reader.read()
    if (done) return new Request(request.url, { method })
    if (!value.length) continue
    await reader.cancel()
    return 'unmeasured'
  }
}

/** The same stream, which ends with its visitor's access. */
function held(
  ctx: Context,
  body: ReadableStream<Uint8Array>,
  length: number,
  stop: AbortController,
  startHolding: () => { ended: Promise<void>; release(): void },
): ReadableStream<Uint8Array> {
  const { readable, writable } = Number.isNaN(length) ? new IdentityTransformStream() : new FixedLengthStream(length)
  let release = () => {}
  const timer = setTimeout(() => {
    const holding = startHolding()
    release = holding.release
    void holding.ended.then(() => stop.abort(new Error('access ended')))
  }, LONG_MS)
  const done = body
    .pipeTo(writable, { signal: stop.signal })
    .catch(() => {})
    .finally(() => {
      clearTimeout(timer)
      release()
    })
  ctx.background(done)
  return readable
}

/** Most answers are over by then and need no watch. */
const LONG_MS = 500
