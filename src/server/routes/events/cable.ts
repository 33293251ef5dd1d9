import { disconnectFrame, SUB_PROTOCOL } from '../../../domain/cable.ts'
import { bearerOf } from '../../http/caller.ts'
import { route } from '../../http/route.ts'
import { openSocket } from '../../runtime/objects.ts'

/**
 * Connects to a user's JobChannel. As in Rails, a foreign origin or protocol gets a 404, and a missing
 * sign-in is reported over the socket. A program with an API token has no origin.
 */
export const cable = [
  // Refuses in its own protocol, which stock clients understand.
  route('GET /cable', { access: 'public', scope: 'read', byItself: true }).answer(async (c) => {
    const protocols = (c.req.header('sec-websocket-protocol') ?? '').split(',').map((protocol) => protocol.trim())
    const allowed =
      c.req.method === 'GET' &&
      c.req.header('upgrade')?.toLowerCase() === 'websocket' &&
      (bearerOf(c) !== null || c.var.ctx.config.origins.includes(c.req.header('origin') ?? '')) &&
      protocols.includes(SUB_PROTOCOL)
    if (!allowed) return c.notFound()
    const { signIn } = c.var
    if (!signIn) return refuse()
    const headers = new Headers(c.req.raw.headers)
    headers.set('x-user-id', signIn.user.id)
    headers.set('x-sign-in-id', signIn.id)
    headers.set('x-expires-at', String(signIn.expiresAt))
    return openSocket(c.env, signIn.user.id, () => new Request(c.req.raw, { headers }))
  }),
]

function refuse(): Response {
  const pair = new WebSocketPair()
  pair[1].accept()
  pair[1].send(disconnectFrame('unauthorized'))
  pair[1].close(1000, 'unauthorized')
  const headers = { 'sec-websocket-protocol': SUB_PROTOCOL }
  return new Response(null, { status: 101, webSocket: pair[0], headers } as ResponseInit)
}
