import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isNoCapacity } from '../../src/domain/server-list.ts'
import type { Server, User } from '../../src/domain/wire.ts'
import { EXIT, Failure } from './failure.ts'
import { LOGIN, type Site } from './site.ts'

const TIMEOUT_MS = 30_000
/** How often we send a change whose answer the network lost. The API runs it once. */
const ATTEMPTS = 3

export async function get<T>(site: Site, path: string): Promise<T> {
  return parsed<T>(site, await getText(site, path))
}

export function getText(site: Site, path: string): Promise<string> {
  return send(site, 'GET', path)
}

export async function post<T>(site: Site, path: string, body: unknown): Promise<T> {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() }
  for (let attempt = 1; ; attempt++) {
    try {
      return parsed<T>(site, await send(site, 'POST', path, { headers, body: JSON.stringify(body) }))
    } catch (error) {
      if (!(error instanceof Unreachable) || attempt === ATTEMPTS) throw error
      await sleep(attempt * 500)
    }
  }
}

export async function del<T>(site: Site, path: string): Promise<T> {
  return parsed<T>(site, await send(site, 'DELETE', path))
}

/** OAuth takes forms, and its refusals are answers. Needs no token. */
export async function postForm<T>(
  { url }: Pick<Site, 'url'>,
  path: string,
  fields: Record<string, string>,
): Promise<T> {
  const site = { url, token: '' }
  const response = await reach(site, path, { method: 'POST', body: new URLSearchParams(fields) })
  if (response.ok || response.status === 400) return parsed<T>(site, response.text)
  throw refusalOf(site, response)
}

export const getUser = async (site: Site): Promise<User> =>
  (await get<{ Body: User }>(site, '/api/v1/users/get_session')).Body

export const listServers = async (site: Site): Promise<Server[]> =>
  (await get<{ servers: Server[] }>(site, '/api/v1/servers/get_servers')).servers

export const stopServer = (site: Site, { id, server_id }: Server) =>
  post<{ job_id: string; server: Server }>(site, '/api/v1/aws/stop_server', { server_id, session_id: id })

/** The call may or may not have arrived. */
class Unreachable extends Failure {}

function parsed<T>({ url }: Site, text: string): T {
  try {
    return JSON.parse(text) as T
  } catch {
    throw new Failure(EXIT.refused, `${url} didn't answer like Proving Ground. Check the address.`)
  }
}

async function send(site: Site, method: string, path: string, init: RequestInit = {}): Promise<string> {
  const headers = { Authorization: `Bearer ${site.token}`, ...init.headers }
  const response = await reach(site, path, { ...init, method, headers })
  if (response.ok) return response.text
  throw refusalOf(site, response)
}

type Answer = { ok: boolean; status: number; headers: Headers; text: string }

async function reach(site: Site, path: string, init: RequestInit): Promise<Answer> {
  try {
    const response = await fetch(site.url + path, {
      ...init,
      headers: { Accept: 'application/json', ...init.headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const { ok, status, headers } = response
    return { ok, status, headers, text: await response.text() }
  } catch (error) {
    if ((error as Error).name === 'TimeoutError')
      throw new Unreachable(EXIT.timeout, `${site.url} didn't answer within ${TIMEOUT_MS / 1000} seconds. Try again.`)
    const { code } = ((error as Error).cause ?? {}) as { code?: string }
    throw new Unreachable(
      EXIT.refused,
      `Can't reach ${site.url}${code ? ` (${code})` : ''}. Check the address and your connection.`,
    )
  }
}

function refusalOf(site: Site, { status, headers, text }: Answer): Failure {
  const { url } = site
  if (status >= 300 && status < 400)
    return new Failure(EXIT.refused, `${url} redirects to ${headers.get('Location')}. Use that --base-url.`)
  const body = text.startsWith('{') ? parsed<{ error?: string; page?: string }>(site, text) : {}
  const sentence = body.error ?? `${url} answered HTTP ${status}.`
  if (status === 401) return new Failure(EXIT.notSignedIn, `${sentence} Sign in with: ${LOGIN}`)
  if (isNoCapacity({ text: sentence })) return new Failure(EXIT.noCapacity, sentence)
  return new Failure(EXIT.refused, body.page ? `${sentence} Go to ${url}${body.page}` : sentence)
}
