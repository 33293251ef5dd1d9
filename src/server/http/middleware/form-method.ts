import type { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { AppError } from '../../../domain/error.ts'
import type { AppEnv } from '../app-env.ts'

const METHODS = new Set(['put', 'patch', 'delete'])

/**
 * HTML forms can only post; `_method` in the body says what they mean. Hono has already picked a route, so
 * the request goes through the app again under its real method. Must run after csrf and before anything that
 * reads the database.
 */
export function formMethod(app: () => Pick<Hono<AppEnv>, 'fetch'>) {
  return createMiddleware<AppEnv>(async (c, next) => {
    const meant = c.req.method === 'POST' ? c.var.form?.get('_method') : undefined
    if (meant === undefined || meant === null) return next()
    const method = meant.toLowerCase()
    if (!METHODS.has(method)) throw new AppError('malformed', "A form's _method must be put, patch, or delete.")
    const headers = new Headers(c.req.raw.headers)
    headers.delete('Content-Length')
    const body = await c.req.text()
    const request = new Request(c.req.url, { method: method.toUpperCase(), headers, body })
    return app().fetch(request, c.env, executionContext(c))
  })
}

/** Hono throws if the server has none. */
function executionContext(c: { executionCtx: unknown }) {
  try {
    return c.executionCtx as Parameters<Hono['fetch']>[2]
  } catch {
    return undefined
  }
}
