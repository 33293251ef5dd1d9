import { randomUUID } from 'node:crypto'
import type { CapturedMail } from '../../dev/mailbox.ts'
import type { Server } from '../../src/domain/wire/fleet.ts'

export type Reply<T = Record<string, unknown>> = { status: number; headers: Headers; body: T; text: string }

/** A headless browser: keeps cookies, and sends the page's CSRF token and its own origin. */
export class Client {
  readonly url: string
  cookies = new Map<string, string>()
  csrf = ''

  constructor(url: string) {
    this.url = url
  }

  get cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests inspect any body
  async request<T = any>(
    method: string,
    path: string,
    json?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply<T>> {
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        Origin: this.url,
        'Sec-Fetch-Site': 'same-origin',
        Cookie: this.cookieHeader,
        'X-CSRF-Token': this.csrf,
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(json === undefined ? {} : { body: typeof json === 'string' ? json : JSON.stringify(json) }),
    })
    for (const cookie of response.headers.getSetCookie()) this.keep(cookie)
    this.csrf = response.headers.get('X-CSRF-Token') ?? this.csrf
    const text = await response.text()
    const isJson = response.headers.get('Content-Type')?.includes('json')
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : (null as T), text }
  }

  get<T = Record<string, unknown>>(path: string) {
    return this.request<T>('GET', path)
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests inspect any body
  post<T = any>(path: string, json?: unknown) {
    return this.request<T>('POST', path, json)
  }

  /** Opens a page and takes the token from its meta tag. */
  async open(path: string): Promise<Reply> {
    const reply = await this.request('GET', path)
    this.csrf = /<meta name="csrf-token" content="([^"]+)"/.exec(reply.text)?.[1] ?? this.csrf
    return reply
  }

  async signIn(email: string, password: string): Promise<Reply> {
    await this.open('/sign_in')
    return this.post('/users/sign_in', { user: { email, password } })
  }

  private keep(cookie: string): void {
    const [pair = ''] = cookie.split(';')
    const [name = '', ...value] = pair.split('=')
    if (/max-age=0/i.test(cookie)) this.cookies.delete(name)
    else this.cookies.set(name, value.join('='))
  }
}

export const PASSWORD = 'a good long password'

/** A person of your own: signed up, confirmed through the captured mail, signed in. */
export async function newPerson(
  url: string,
  name = 'Ada',
  address?: string,
): Promise<Client & { email: string; id: string }> {
  const client = await newUnconfirmed(url, name, address)
  const { email } = client
  await client.get(`/users/confirmation?confirmation_token=${await confirmationToken(url, email)}`)
  // Their sign-up has given them the token that the page would.
  const signedIn = await client.post('/users/sign_in', { user: { email, password: PASSWORD } })
  if (signedIn.status !== 200) throw new Error(`The new person could not sign in: ${signedIn.text}`)
  return Object.assign(client, { id: (signedIn.body as { user: { id: string } }).user.id })
}

/** Someone who has only signed up. */
export async function newUnconfirmed(
  url: string,
  name = 'Ada',
  email = `${randomUUID()}@example.com`,
): Promise<Client & { email: string }> {
  const client = new Client(url)
  const user = { name, email, password: PASSWORD, password_confirmation: PASSWORD, terms_of_service: true }
  await client.post('/users', { user })
  return Object.assign(client, { email })
}

export const confirmationToken = (url: string, email: string): Promise<string> =>
  waitFor(async () => (await mailedTo(url, email, /confirmation_token=([\w-]+)/))[0])

/** What the mails to this address say where the pattern matches, the newest first. */
export async function mailedTo(url: string, email: string, pattern: RegExp): Promise<string[]> {
  const mails = await mailsTo(url, email)
  return mails.flatMap(({ text }) => {
    const found = pattern.exec(text)
    return found ? [found[1] ?? found[0]] : []
  })
}

/** The captured mails to this address, the newest first. */
export async function mailsTo(url: string, email: string): Promise<CapturedMail[]> {
  // Only theirs: by the end of a run, there are thousands.
  return (await (await fetch(`${url}/dev/mailbox.json?to=${encodeURIComponent(email)}`)).json()) as CapturedMail[]
}

/** Their latest runs, newest first. */
export async function serversOf(person: Pick<Client, 'get'>): Promise<Server[]> {
  return (await person.get<{ servers: Server[] }>('/api/v1/servers/get_servers')).body.servers
}

/** Stops the latest of their servers. */
export async function stopServer(person: Client): Promise<Reply<{ job_id: string; server: Server }>> {
  const [server] = await serversOf(person)
  return person.post('/api/v1/aws/stop_server', { server_id: server?.server_id, session_id: server?.id })
}

export async function isWaiting(person: Pick<Client, 'get'>): Promise<boolean> {
  return (await person.get<{ line: object | null }>('/api/v1/line')).body.line !== null
}

/**
 * Retries until there is something, less often the longer it takes: each look costs the site what it waits for. Gives up
 * only when the test does.
 */
export async function waitFor<T>(look: () => Promise<T | null | undefined | false>): Promise<T> {
  for (let waitMs = 25; ; waitMs = Math.min(MOST_WAIT_MS, waitMs * 1.3)) {
    const found = await look()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}
const MOST_WAIT_MS = 200
