import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RefusalCode } from '../../src/domain/error.ts'
import type { Estimate } from '../../src/domain/estimate.ts'
import { formatUptime } from '../../src/domain/server.ts'
import type { User } from '../../src/domain/wire/accounts.ts'
import type { Summary } from '../../src/domain/wire/billing.ts'
import type { Server } from '../../src/domain/wire/fleet.ts'
import { createProvingGround, type ProvingGround } from './client.ts'
import { EXIT, Failure } from './failure.ts'
import { LOGIN, type Site } from './site.ts'
import { note } from './terminal.ts'

const TIMEOUT_MS = 30_000
/** A limit that lasts a whole day isn't worth waiting for. One of an hour is, with some time for its answers. */
const MOST_PATIENCE_MS = 3_660_000

/** How long we retry while the site limits us: until then, or until this aborts. */
export type Patience = { until?: number; signal?: AbortSignal }

type Answer<T> = { data?: T; error?: unknown; response: Response }

/** Calls the API. @throws Failure on a refusal, or without an answer */
export async function call<T>(
  site: Site,
  send: (client: ProvingGround) => Promise<Answer<T>>,
  patience: Patience = {},
): Promise<T> {
  const client = createProvingGround({ ...site, timeoutMs: TIMEOUT_MS })
  const ask = () =>
    send(client).catch((error: Error) => {
      throw withoutAnswer(site, error)
    })
  const { data, error, response } = await patiently(ask, (answer) => answer.response, patience)
  if (!response.ok) throw refusalOf(site, response, error)
  if (data === undefined) throw notOurs(site)
  return data
}

/** Retries once the site will listen: a call that it refuses for now has changed nothing. */
async function patiently<T>(
  ask: () => Promise<T>,
  responseOf: (answer: T) => Pick<Response, 'status' | 'headers'>,
  { until = Date.now() + MOST_PATIENCE_MS, ...interrupts }: Patience = {},
): Promise<T> {
  while (true) {
    const answer = await ask()
    const { status, headers } = responseOf(answer)
    const seconds = Math.max(1, Number(headers.get('Retry-After') ?? Number.NaN))
    if (status !== 429 || !(Date.now() + seconds * 1000 <= until)) return answer
    note(`Too many calls. Trying again in ${formatUptime(seconds)}…`)
    await sleep(seconds * 1000, null, interrupts)
  }
}

/** Pass it as `params` to make a change safe to repeat: if the network loses the answer, the client sends it again. */
export const repeatable = () => ({ header: { 'Idempotency-Key': randomUUID() } })

export const getUser = async (site: Site): Promise<User> =>
  (await call(site, (client) => client.GET('/api/v1/users/get_session'))).Body

export const getSummary = (site: Site): Promise<Summary> =>
  call(site, (client) => client.GET('/api/v1/billings/summary'))

export const listServers = async (site: Site): Promise<Server[]> =>
  (await call(site, (client) => client.GET('/api/v1/servers/get_servers'))).servers

export const stopServer = (site: Site, { id, server_id }: Server) =>
  call(site, (client) =>
    client.POST('/api/v1/aws/stop_server', { params: repeatable(), body: { server_id, session_id: id } }),
  )

/**
 * How long such a start usually takes; null: nobody knows yet, or the site takes too long to say. Ask before the start,
 * which uses up the warm machine. If something is wrong, the start itself says so.
 */
export const findStartTime = (site: Site, wishes: StartKind): Promise<Estimate | null> => {
  const soon = { params: { query: wishes }, signal: AbortSignal.timeout(HINT_MS) }
  return call(site, (client) => client.GET('/api/v1/aws/server_available', soon), { until: Date.now() }).then(
    ({ ready_in_seconds }) => ready_in_seconds ?? null,
    () => null,
  )
}
const HINT_MS = 3_000
type StartKind = { environment?: string; max_gpus?: number; until?: 'exit' }

export const revokeToken = (site: Site) => call(site, (client) => client.DELETE('/api/v1/api_token'))

/** Gets text that isn't JSON, which the API's document doesn't cover. */
export async function getText(site: Site, path: string): Promise<string> {
  const response = await reach(site, path, { headers: { Authorization: `Bearer ${site.token}` } })
  if (!response.ok) throw refusalOf(site, response, jsonOf(response.text))
  return response.text
}

/** Whether a connection to this port of the server would get through. @throws Failure with the reason if not */
export async function checkTcp(site: Site, serverId: string, port: number): Promise<void> {
  const path = `/api/v1/servers/${serverId}/tcp/${port}`
  const response = await reach(site, path, { headers: { Authorization: `Bearer ${site.token}` } })
  // A full upgrade request, except that it isn't a WebSocket.
  if (response.status === 400) return
  const refusal = refusalOf(site, response, jsonOf(response.text))
  throw response.status === 404 ? new Failure(EXIT.portClosed, refusal.message) : refusal
}

/** OAuth takes forms, and its refusals count as answers. Needs no token. */
export async function postForm<T>(
  { url }: Pick<Site, 'url'>,
  path: string,
  fields: Record<string, string>,
): Promise<T> {
  const response = await reach({ url }, path, { method: 'POST', body: new URLSearchParams(fields) })
  const answer = jsonOf(response.text)
  if (!response.ok && response.status !== 400) throw refusalOf({ url }, response, answer)
  if (answer === undefined) throw notOurs({ url })
  return answer as T
}

/** One request without a client, with its answer read. @throws Failure without an answer */
function reach(site: Pick<Site, 'url'>, path: string, init: RequestInit) {
  return patiently(
    () => reachOnce(site, path, init),
    (answer) => answer,
  )
}

async function reachOnce({ url }: Pick<Site, 'url'>, path: string, init: RequestInit) {
  try {
    const response = await fetch(url + path, {
      ...init,
      headers: { Accept: 'application/json', ...init.headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const { ok, status, headers } = response
    return { ok, status, headers, text: await response.text() }
  } catch (error) {
    throw withoutAnswer({ url }, error as Error)
  }
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function withoutAnswer({ url }: Pick<Site, 'url'>, error: Error): Failure {
  if (error instanceof SyntaxError) return notOurs({ url })
  if (error.name === 'TimeoutError')
    return new Failure(EXIT.timeout, `${url} didn't answer within ${TIMEOUT_MS / 1000} seconds. Try again.`)
  const { code } = (error.cause ?? error) as { code?: string }
  return new Failure(
    EXIT.refused,
    `Can't reach ${url}${code ? ` (${code})` : ''}. Check the address and your connection.`,
  )
}

const notOurs = ({ url }: Pick<Site, 'url'>) =>
  new Failure(EXIT.refused, `${url} didn't answer like Proving Ground. Check the address.`)

/** @param answer the refusal's body, if it is JSON */
export function refusalOf(
  { url }: Pick<Site, 'url'>,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  answer: unknown,
): Failure {
  if (status >= 300 && status < 400)
    return new Failure(EXIT.refused, `${url} redirects to ${headers.get('Location')}. Use that --base-url.`)
  const { code = null, error, page } = (answer ?? {}) as { code?: RefusalCode; error?: string; page?: string }
  const sentence = error ?? `${url} answered HTTP ${status}.`
  if (status === 401) return new Failure(EXIT.notSignedIn, `${sentence} Sign in with: ${LOGIN}`, code)
  if (code === 'no_capacity') return new Failure(EXIT.noCapacity, sentence, code)
  return new Failure(EXIT.refused, page ? `${sentence} Go to ${url}${page}` : sentence, code)
}
