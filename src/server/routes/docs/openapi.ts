import { route } from '../../http/route.ts'

/** The API's description. The build writes it, so the Worker needn't hold what only it needs. */
export const openapi = [
  route('GET /api/openapi.json', { access: 'public', scope: 'read' }).answer(async (c) => {
    const document = import.meta.env.DEV
      ? (await import('./openapi/document.ts')).describeApi(c.var.routes)
      : (await import('virtual:api-document')).default
    const servers = [{ url: c.var.ctx.config.origins[0] ?? '' }]
    return c.json({ ...document, servers }, 200, { 'Cache-Control': 'public, max-age=300' })
  }),
]
