import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

type Server = {
  id: string
  name: string | null
  server_id: string
  pending: boolean
  active: boolean
  billed_from: string | null
  ip_address: string | null
  door_url: string | null
  error_message: string | null
}

const START = '/api/v1/aws/auto_cloud_start_request'
const LINE = '/api/v1/line'
const POLL_MS = 3_000
const ATTEMPTS = 5

/** Worth another try. */
export class Unanswered extends Error {}
export class Refused extends Error {
  readonly status: number
  readonly code: string | undefined

  constructor(status: number, sentence: string, code?: string) {
    super(sentence)
    this.status = status
    this.code = code
  }
}

const UNIT_S: Record<string, number> = { d: 86_400, h: 3600, m: 60, s: 1 }

const typed = (name: string) => process.env[`INPUT_${name.toUpperCase()}`] ?? ''
export const input = (name: string) => typed(name).trim()
/** GitHub reads `name=value` from a file. */
export const tell = (file: 'STATE' | 'OUTPUT', name: string, value: string) =>
  appendFileSync(process.env[`GITHUB_${file}`] ?? '', `${name}=${value}\n`)

/** What the runner shows as an error or a warning. A line break would end it, and could begin another command. */
export function show(kind: 'error' | 'warning', text: string): void {
  const codes: Record<string, string> = { '%': '%25', '\r': '%0D', '\n': '%0A' }
  console.log(`::${kind}::${text.replace(/[%\r\n]/g, (char) => codes[char] ?? '')}`)
}

export function site(): string {
  if (!URL.canParse(input('url'))) throw new Error('Set the input url to the site, such as https://your-site.example')
  const { protocol, hostname, origin } = new URL(input('url'))
  if (protocol !== 'https:' && !/^(localhost|127\.[\d.]+)$/.test(hostname))
    throw new Error(`${origin} would get your token unencrypted. Use https://.`)
  return origin
}

/** `45m` or `1h30m`, in seconds. */
export function seconds(text: string, name = 'stop-after'): number {
  const parts = [...text.matchAll(/(\d+)([dhms])/g)]
  if (!parts.length || parts.map(([part]) => part).join('') !== text)
    throw new Error(`${name} is ${text}. Write it like 45m, 2h, or 1h30m.`)
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_S[unit] ?? 0), 0)
}

export async function call<T>(path: string, key?: string, body?: object, method = body ? 'POST' : 'GET'): Promise<T> {
  const response = await fetch(site() + path, {
    method,
    headers: {
      Accept: 'application/json',
      Authorization: `Bearer ${input('token')}`,
      ...(body && { 'Content-Type': 'application/json' }),
      ...(key && { 'Idempotency-Key': key }),
    },
    ...(body && { body: JSON.stringify(body) }),
    redirect: 'manual',
    signal: AbortSignal.timeout(30_000),
  }).catch(() => null)
  const text = await response?.text().catch(() => null)
  if (!response || text === null || text === undefined) throw new Unanswered(`${site()} didn't answer.`)
  if (response.ok && text.startsWith('{')) return JSON.parse(text) as T
  const said = text.startsWith('{') ? (JSON.parse(text) as { error?: string; code?: string }) : {}
  const words = said.error ?? `${site()} answered HTTP ${response.status}.`
  const { status } = response
  // At a start, 503 says that no server is free.
  const isPassing = path === START ? status >= 500 && status !== 503 : status >= 500 || status === 429
  throw isPassing ? new Unanswered(words) : new Refused(status, words, said.code)
}

/** Tries again while there's no answer. */
export async function insist<T>(what: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await what()
    } catch (error) {
      if (!(error instanceof Unanswered) || attempt === ATTEMPTS) throw error
      await sleep(2 ** attempt * 500)
    }
  }
}

const wishes = () => ({
  environment: input('environment'),
  vehicle: input('vehicle'),
  name: input('name'),
  stop_after: seconds(input('stop-after')),
  parameters: parameters(),
  secrets: input('secrets').split(/\s+/).filter(Boolean),
})

/** `NAME=value`, a line each, with the spaces at a value's ends. The site says what is wrong with one. */
export function parameters(): Record<string, string> {
  const lines = typed('parameters')
    .split(/\r?\n/)
    .filter((line) => line.trim())
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', value = ''] = line.split(/=(.*)/s, 2)
      return [name.trim(), value]
    }),
  )
}

/** As the site writes a name. */
function normalName(name: string): string {
  const trimmed = name.normalize('NFC').trim()
  return /[^\p{Z}\p{Cf}\p{M}]/u.test(trimmed) ? trimmed : ''
}

/** The same key gets the same server, however often we send it. */
export async function startServer(key: string, body: object = wishes()): Promise<Server> {
  const started = await insist(() => call<{ server: Server }>(START, key, body))
  return started.server
}

/** Waits in line until the site starts our server, or `canceled`. */
export async function waitInLine(canceled: () => boolean): Promise<Server> {
  const body = { ...wishes(), start: true }
  let { line } = await insist(() => call<{ line: { position: number } | null }>(LINE, undefined, body))
  console.log('Every server is reserved. Waiting in line…')
  while (line && !canceled()) {
    await sleep(POLL_MS)
    line = (await insist(() => call<{ line: { position: number } | null }>(LINE))).line
  }
  const server = line ? undefined : await findStarted()
  if (!server) throw new Error(canceled() ? 'The job was canceled.' : 'The place in line ended without a server.')
  return server
}

/** @returns the server that the line started meanwhile, if any */
export async function leaveLine(): Promise<Server | undefined> {
  await insist(() => call(LINE, undefined, undefined, 'DELETE')).catch((error) => {
    if (!(error instanceof Refused)) throw error
  })
  return findStarted()
}

/** An account has one live server at a time, and had none when it lined up. Another job of it may have got this one. */
async function findStarted(): Promise<Server | undefined> {
  const { servers } = await insist(() => call<{ servers: Server[] }>('/api/v1/servers/get_servers'))
  return servers.find(({ name, pending, active }) => (pending || active) && (name ?? '') === normalName(input('name')))
}

export async function findServer(id: string): Promise<Server | undefined> {
  const { servers } = await call<{ servers: Server[] }>('/api/v1/servers/get_servers')
  return servers.find((server) => server.id === id)
}

/** Runs a step of the action. If it fails, so does the job. */
export async function step(run: () => Promise<void>): Promise<never> {
  try {
    await run()
    process.exit(0)
  } catch (error) {
    show('error', (error as Error).message)
    process.exit(1)
  }
}
