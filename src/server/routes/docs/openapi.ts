import type { Context as HonoContext } from 'hono'
import type { AppEnv } from '../../http/app-env.ts'
import { route } from '../../http/route.ts'
import type { ApiDocument } from './openapi/document.ts'

export const openapi = [
  route('GET /api/openapi.json', { access: 'public', scope: 'read' }).answer(async (c) =>
    c.json(await apiDocument(c), 200, { 'Cache-Control': 'public, max-age=300' }),
  ),
]

/** The API's description. The build writes it, so that the Worker holds nothing that only it needs. */
export async function apiDocument(c: HonoContext<AppEnv>): Promise<ApiDocument> {
  const servers = [{ url: c.var.ctx.config.origins[0] ?? '' }]
  if (!import.meta.env.DEV) return { ...(await import('virtual:api-document')).default, servers }
  return { ...(await import('./openapi/document.ts')).describeApi(c.var.routes), servers }
}
