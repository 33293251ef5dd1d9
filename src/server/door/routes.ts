import * as z from 'zod/mini'
import type { Door } from '../../domain/door.ts'
import { AppError } from '../../domain/error.ts'
import { message } from '../../domain/wire/answers.ts'
import * as shape from '../../domain/wire/door.ts'
import { signedIn } from '../http/app-env.ts'
import { numberOr } from '../http/fields.ts'
import { isPrefetch, isSeen } from '../http/flash.ts'
import { answer } from '../http/reply.ts'
import { route } from '../http/route.ts'
import type { Context } from '../runtime/context.ts'

const ON_DOOR = { at: '/servers/:id/share', done: '/servers/:id/share' }

/** The site's half of the door. Each route loads its code when first asked. */
export const doorRoutes = [
  route('GET /servers/:id/open', { access: 'user', kind: 'page' }).answer(async (c) => {
    const { door } = c.var.ctx.config
    if (!door) return c.notFound()
    if (isPrefetch(c)) return c.body(null, 503)
    const { openDoor } = await import('./links.ts')
    const { user, id: signInId } = signedIn(c)
    const port = Number(c.req.query('port'))
    const wanted = {
      runId: c.req.param('id'),
      port: door.webPorts.includes(port) ? port : null,
      to: c.req.query('to') ?? '/',
      isSeen: isSeen(c),
    }
    const address = await openDoor(c.var.ctx, door, { userId: user.id, signInId }, wanted)
    if (!address) return c.notFound()
    c.header('Referrer-Policy', 'no-referrer')
    return c.redirect(address)
  }),
  route('GET /servers/:id/share', { access: 'user', kind: 'page' }).answer(async (c) => {
    requireDoor(c.var.ctx)
    const { sharePage } = await import('./screens.tsx')
    return sharePage(c, c.req.param('id'), null)
  }),
  route('GET /servers/:id/connect', { access: 'user', kind: 'page' }).answer(async (c) => {
    const door = requireDoor(c.var.ctx)
    const { connectPage } = await import('./screens.tsx')
    return connectPage(c, door, c.req.param('id'))
  }),
  route('GET /api/v1/servers/:id/tcp/:port', {
    access: 'user',
    scope: 'operate',
    connections: true,
    description:
      'With `Upgrade: websocket` and an API token: 101, and the bytes of a TCP connection to that port in binary frames.',
    when: { 404: "also for a port that isn't open", 409: 'not running' },
  }).answer(async (c) => {
    const door = requireDoor(c.var.ctx)
    const { findTcpAddress, openTcp } = await import('./tcp.ts')
    const { user, id, scope } = signedIn(c)
    // A page's WebSocket can't send a token, so no site can open one with its visitor's cookie.
    if (scope === null) throw new AppError('forbidden', 'Send an API token that may operate.')
    const wanted = { runId: c.req.param('id'), port: Number(c.req.param('port')) }
    const address = await findTcpAddress(c.var.ctx, door, user.id, wanted)
    // Lets a program check first whether it would get through.
    if (c.req.method !== 'GET' || c.req.header('upgrade')?.toLowerCase() !== 'websocket')
      throw new AppError('malformed', 'Open a WebSocket here: it carries the bytes of a TCP connection.')
    const protocols = (c.req.header('sec-websocket-protocol') ?? '').split(',').map((one) => one.trim())
    return openTcp(c.var.ctx, address, { runId: wanted.runId, pass: { kind: 'token', id }, protocols }, () =>
      c.env.DOOR_KEEPER.getByName(user.id),
    )
  }),
  route('GET /api/v1/servers/:id/guests', {
    access: 'user',
    summary: "List the guests of your server's own address",
    description: 'The links that let guests in, oldest first.',
    answers: [200, z.object({ guests: z.array(shape.guest) })],
    refuses: ['not_found'],
  }).answer(async (c) => {
    requireDoor(c.var.ctx)
    const { listGuests } = await import('./links.ts')
    return c.json({ guests: await listGuests(c.var.ctx, signedIn(c).user.id, c.req.param('id')) })
  }),
  route('POST /api/v1/servers/:id/guests', {
    access: 'user',
    form: ON_DOOR,
    takes: z.object({ hours: numberOr(Number.NaN) }),
    summary: 'Make a link that lets guests into your server',
    description: ['This is the only time you see `url`.', 'From 1 to 72 hours, or until the run ends.'],
    answers: [201, z.object({ guest: z.extend(shape.guest, { url: z.string() }) })],
    refuses: ['not_found', 'not_running', 'conflict', 'invalid'],
    when: { 409: '20 links are open, or the server stopped', 429: '60 an hour' },
  }).answer(async (c) => {
    const door = requireDoor(c.var.ctx)
    const { inviteGuest } = await import('./links.ts')
    const { hours } = c.req.valid('json')
    const guest = await inviteGuest(c.var.ctx, door, signedIn(c).user.id, c.req.param('id'), hours)
    if (!c.get('form')) return c.json({ guest }, 201)
    const { sharePage } = await import('./screens.tsx')
    // Not a redirect: only this answer shows the link.
    return sharePage(c, c.req.param('id'), guest)
  }),
  route('DELETE /api/v1/servers/:id/guests/:guest', {
    access: 'user',
    form: ON_DOOR,
    summary: "End a guest's link and close their connections",
    answers: [200, message],
    refuses: ['not_found'],
  }).answer(async (c) => {
    requireDoor(c.var.ctx)
    const { endGuest } = await import('./links.ts')
    await endGuest(c.var.ctx, signedIn(c).user.id, c.req.param('id'), c.req.param('guest'))
    return answer(c, { message: 'Link removed. Its guests no longer have access.' })
  }),
]

/** @throws not_found while doors are switched off */
function requireDoor({ config }: Pick<Context, 'config'>): Door {
  if (!config.door) throw new AppError('not_found', 'Unknown endpoint.')
  return config.door
}
