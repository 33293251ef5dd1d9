import { Hono } from 'hono'
import type { AppEnv } from '../../http/app-env.ts'

/** The API's description. Its builder loads on the first request, so that it doesn't slow the Worker's start. */
export const openapi = (app: () => Pick<Hono<AppEnv>, 'routes'>) =>
  new Hono<AppEnv>().get('/api/openapi.json', async (c) => {
    const { describeApi } = await import('./openapi/document.ts')
    const document = describeApi(app().routes, c.var.ctx.config.origins[0] ?? '')
    return c.json(document, 200, { 'Cache-Control': 'public, max-age=300' })
  })
