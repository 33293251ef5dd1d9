import { MINUTE_MS } from '../../../domain/instant.ts'
import { logError } from '../../http/error-response.ts'
import { renderPage } from '../../http/render.tsx'
import { route } from '../../http/route.ts'
import { readStatus } from '../../operations/status.ts'

const DESCRIPTION =
  'Whether you can start simulation servers now, since when, and every interruption in the last 90 days.'

/** The same page for everyone, for half a minute, so that a crowd in an outage costs nothing. */
export const status = [
  route('GET /status', { access: 'public', kind: 'page', search: 'open' }).answer(async (c) => {
    const { ctx } = c.var
    const { StatusPage } = await import('../../../pages/StatusPage.tsx')
    const found = await readStatus(ctx).catch((error) => {
      logError(error, c)
      return null
    })
    const same = found ? { forMs: MINUTE_MS / 2 } : false
    const head = { title: 'Status', description: DESCRIPTION, assets: 'status', same } as const
    return renderPage(c, head, <StatusPage status={found} now={ctx.now()} />)
  }),
]
