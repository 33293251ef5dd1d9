import { answered } from '../answered.ts'
import { type Context, siteOrigin } from '../context.ts'
import type { FoundDoor, Pass } from './access.ts'
import { KEEP_HEADER } from './door-keeper.ts'
import { type Crossing, toBrowser, toMachine } from './headers.ts'
import { hold, type Keeper } from './hold.ts'
import { refuse } from './refusals.ts'

type Visit = { door: FoundDoor; pass: Pass; to: Crossing }

/** Answers this short end by themselves before anyone could end their access. */
const SHORT_BYTES = 256 * 1024

/** Sends the request to the machine and the answer back, without holding either in memory. */
export async function passOn(
  ctx: Context,
  request: Request,
  { door, pass, to }: Visit,
  keeper: (userId: string) => Keeper,
): Promise<Response> {
  if (!ctx.machine) return refuse('failed')
  const { pathname, search } = new URL(request.url)
  const headers = toMachine(request.headers, to, pass.kind === 'guest' ? 'guest' : 'owner')
  if (headers.has('upgrade')) {
    headers.set(KEEP_HEADER, JSON.stringify({ runId: door.runId, pass, to: to.address, path: pathname + search }))
    const answer = await answered(() => keeper(door.userId).fetch('http://keeper/socket', { headers } as never), false)
    const upgraded = answer as unknown as Response & { webSocket?: unknown }
    const init = { status: upgraded.status, headers: toBrowser(upgraded.headers, to, siteOrigin(ctx)) }
    return upgraded.webSocket
      ? new Response(null, { ...init, webSocket: upgraded.webSocket } as ResponseInit)
      : new Response(upgraded.body, init)
  }
  const stop = new AbortController()
  let answer: Response
  try {
    const body = request.body
    answer = await ctx.machine.fetch(to.address, pathname + search, {
      method: request.method,
      headers,
      ...(body ? { body, duplex: 'half' } : {}),
      signal: stop.signal,
    } as RequestInit)
  } catch (error) {
    ctx.log('machine_unreachable', { runId: door.runId }, error)
    return refuse('unreachable')
  }
  const init = {
    status: answer.status,
    statusText: answer.statusText,
    headers: toBrowser(answer.headers, to, siteOrigin(ctx)),
  }
  const length = Number(answer.headers.get('content-length') ?? Number.POSITIVE_INFINITY)
  if (!answer.body || length <= SHORT_BYTES) return new Response(answer.body, init)
  return new Response(
    held(ctx, answer.body, stop, () => hold(() => keeper(door.userId), { runId: door.runId, pass })),
    init,
  )
}

/** The same stream, which ends with its visitor's access. */
function held(
  ctx: Context,
  body: ReadableStream<Uint8Array>,
  stop: AbortController,
  startHolding: () => { ended: Promise<void>; release(): void },
): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream()
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
