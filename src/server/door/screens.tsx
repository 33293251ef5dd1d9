import type { Context as HonoContext } from 'hono'
import { type Door, doorUrl } from '../../domain/door.ts'
import type { Guest } from '../../domain/wire/door.ts'
import { ConnectServer } from '../../pages/ConnectServer.tsx'
import { ShareServer } from '../../pages/ShareServer.tsx'
import { type AppEnv, signedIn } from '../http/app-env.ts'
import { takeFlash } from '../http/flash.ts'
import { csrfToken } from '../http/middleware/csrf.ts'
import { renderPage } from '../http/render.tsx'
import { getDoorRun, listGuests } from './links.ts'

type C = HonoContext<AppEnv>

/** @param made the link that this form just made */
export async function sharePage(c: C, runId: string, made: (Guest & { url: string }) | null): Promise<Response> {
  const { ctx } = c.var
  const { id } = signedIn(c).user
  const [run, guests] = await Promise.all([getDoorRun(ctx, id, runId), listGuests(ctx, id, runId)])
  const page = { run, guests, made, now: ctx.now(), csrfToken: csrfToken(c), flash: takeFlash(c) }
  return renderPage(c, { title: 'Share your server', assets: 'door' }, <ShareServer {...page} />, made ? 201 : 200)
}

export async function connectPage(c: C, door: Door, runId: string): Promise<Response> {
  const run = await getDoorRun(c.var.ctx, signedIn(c).user.id, runId)
  const socketUrl = (port: number) => doorUrl(door, run.label, port).replace('http', 'ws')
  const page = {
    run,
    url: doorUrl(door, run.label),
    sockets: door.webPorts.map((port) => ({ port, url: socketUrl(port) })),
    tcpPorts: door.tcpPorts,
  }
  return renderPage(c, { title: 'Connect your code', assets: 'door' }, <ConnectServer {...page} />)
}
