import type { Hono } from 'hono'
import { REFUSALS, type RefusalCode } from '../../src/domain/error.ts'
import { routes } from '../../src/server/app.ts'
import type { AppEnv } from '../../src/server/http/app-env.ts'
import { describeApi } from '../../src/server/routes/docs/openapi/document.ts'
import { checksOf, type Document } from './api-checks.ts'

type App = Pick<Hono<AppEnv>, 'request'>

/** What a route without a description may answer: a code with its own status, and these. */
const ELSE: Record<number, RefusalCode> = { 400: 'invalid', 408: 'invalid', 410: 'not_found', 500: 'unavailable' }

/** RFC 8628 gives these calls their own codes. */
const OAUTH = /^\/oauth\//

/** Calls the app as `request` does, and throws if it answers JSON that isn't as the OpenAPI document says. */
export async function requestDescribed(app: App, path: string, ...more: [RequestInit, object?, unknown?]) {
  const response = await app.request(path, ...(more as [RequestInit]))
  const fault = await faultOf(path, more[0].method ?? 'GET', response)
  if (fault) throw new Error(fault)
  return response
}

async function faultOf(address: string, method: string, response: Response): Promise<string | null> {
  const { status, headers } = response
  const { pathname } = new URL(address, 'http://localhost')
  if (!headers.get('Content-Type')?.includes('json') || OAUTH.test(pathname)) return null
  const text = await response.clone().text()
  if (text === '') return null
  const { operations, faultOf } = describedCalls()
  const route = `${method} ${routes.pathAt(pathname)}`
  if (operations.has(route)) {
    const fault = faultOf(route, status, JSON.parse(text))
    return fault && `${fault}: ${text}`
  }
  if (status < 400) return null
  const { code } = JSON.parse(text) as { code?: RefusalCode }
  const named = [ELSE[status], ...codesWith(status)]
  if (code !== undefined && named.includes(code)) return null
  return `${route} refused with ${status} and the code ${code}, but only ${named.join(', ')} have that: ${text}`
}

const codesWith = (status: number) =>
  (Object.keys(REFUSALS) as RefusalCode[]).filter((code) => REFUSALS[code] === status)

let described: ReturnType<typeof checksOf> | undefined
function describedCalls() {
  described ??= checksOf(describeApi(routes) as Document)
  return described
}
