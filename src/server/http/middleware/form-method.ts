import type { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { AppError } from '../../../domain/error.ts'
import type { AppEnv } from '../app-env.ts'

const METHODS = new Set(['put', 'patch', 'delete'])

/**
 * HTML forms can only post: `_method` in the body of one says what it means. Hono has chosen the route by then, so the request
 * goes through the app once more, under its real method. Stands after csrf and before anything that reads the database.
 */
export function formMethod(app: () => Pick<Hono<AppEnv>, 'fetch'>) {
  return createMiddleware<AppEnv>(async (c, next) => {
    const meant = c.req.method === 'POST' ? c.var.form?.get('_method') : undefined
    if (meant === undefined || meant === null) return next()
    const method = meant.toLowerCase()
    if (!METHODS.has(method)) throw new AppError('malformed', 'A form may only mean put, patch or delete.')
    const headers = new Headers(c.req.raw.headers)
    headers.delete('Content-Length')
    const body = await c.req.text()
    const request = new Request(c.req.url, { method: method.toUpperCase(), headers, body })
    return app().fetch(request, c.env, executionContext(c))
  })
}

/** Hono throws where a server has none. */
function executionContext(c: { executionCtx: unknown }) {
  try {
    return c.executionCtx as Parameters<Hono['fetch']>[2]
  } catch {
    return undefined
  }
}
