import type { Hono } from 'hono'
import { REFUSALS, type RefusalCode } from '../../src/domain/error.ts'
import { routes } from '../../src/server/app.ts'
import type { AppEnv } from '../../src/server/http/app-env.ts'
import { describeApi } from '../../src/server/routes/docs/openapi/document.ts'

type App = Pick<Hono<AppEnv>, 'request'>
type Responses = Record<string, { 'x-codes'?: RefusalCode[] }>
type Call = { name: string; method: string; path: RegExp; responses: Responses }

/** What a route without a description may answer: a code with its own status, and these. */
const ELSE: Record<number, RefusalCode> = { 400: 'invalid', 410: 'not_found', 500: 'unavailable' }

/** RFC 8628 gives these calls their own codes. */
const OAUTH = /^\/oauth\//

/** Calls the app as `request` does, and throws if a refusal has a code that the OpenAPI document doesn't name there. */
export async function requestChecked(app: App, path: string, ...more: [RequestInit, object?, unknown?]) {
  const response = await app.request(path, ...(more as [RequestInit]))
  const fault = response.status < 400 ? null : await faultOf(callsOf(), path, more[0].method ?? 'GET', response)
  if (fault) throw new Error(fault)
  return response
}

async function faultOf(calls: Call[], address: string, method: string, response: Response): Promise<string | null> {
  const { status, headers } = response
  const { pathname } = new URL(address, 'http://localhost')
  if (!headers.get('Content-Type')?.includes('json') || OAUTH.test(pathname)) return null
  const text = await response.clone().text()
  if (text === '') return null
  const { code } = JSON.parse(text) as { code?: RefusalCode }
  const isKnown = routes.methodsAt(pathname).includes(method)
  const call = isKnown ? calls.find((one) => one.method === method && one.path.test(pathname)) : undefined
  const named = call ? codesAt(call.responses, status) : [ELSE[status], ...codesWith(status)]
  if (code !== undefined && named.includes(code)) return null
  return `${call?.name ?? `${method} ${pathname}`} refused with ${status} and the code ${code}, but its document names ${named.join(', ') || 'none'} there: ${text}`
}

function codesAt(responses: Responses, status: number): RefusalCode[] {
  return (responses[status] ?? (status >= 500 ? responses.default : undefined))?.['x-codes'] ?? []
}

const codesWith = (status: number) =>
  (Object.keys(REFUSALS) as RefusalCode[]).filter((code) => REFUSALS[code] === status)

let described: Call[] | null = null
function callsOf(): Call[] {
  described ??= Object.entries(describeApi(routes).paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, { responses: Responses }>).map(([method, { responses }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
      responses,
    })),
  )
  // A path that is written out comes before one with an ID in its place.
  return described.sort((a, b) => a.name.split('{').length - b.name.split('{').length)
}
