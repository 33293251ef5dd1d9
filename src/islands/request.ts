import { personOfToken } from '../domain/page-token.ts'

export type Answer<T> = { ok: boolean; status: number; body: T & Refusal; headers?: Headers }
/** What a refusal may contain. */
type Refusal = { code?: string; error?: string; message?: string; errors?: string[]; status?: string }

const NETWORK_ERROR = 'Network error'
/** We give up on a server that stays silent this long. */
const TIMEOUT_MS = 20_000

let leaving = new AbortController()

/** Ends every call and silences later ones until `stay`. After sign-out, in-flight calls must not report 401. */
export function leave(): void {
  leaving.abort()
}

/** The page is back, e.g. from the back/forward cache. */
export function stay(): void {
  leaving = new AbortController()
}

/** Ends a call when the page is left, or after 20 s. */
export function untilLeft(): AbortSignal {
  return AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), leaving.signal])
}

type Options = {
  /** Have the next page show the response's message. */
  flash?: boolean
  headers?: Record<string, string>
  /** This call was refused once, and has a fresh token now. */
  again?: boolean
}

const tokenMeta = () => document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')

/** The ID of the person whom the page shows; empty: nobody. */
export const personShown = () => personOfToken(tokenMeta()?.content ?? '')

/** Whether this answers someone other than the person on the page: they signed in from another tab. */
export function isForOther({ headers }: Response): boolean {
  const [shown, answered] = [personShown(), headers.get('X-Person')]
  return Boolean(shown && answered && shown !== answered)
}

/** Their last click, until its change is answered. Pressing Enter in a field also counts. */
export const last: { click?: MouseEvent } = {}

/** What to do when our server doesn't accept this page anymore. Rarely needed, so it loads on demand. */
const stale = () => import('./stale-page.ts')

/** Says that someone else is signed in now, and reloads the page for them. */
export async function leaveToOther(): Promise<never> {
  const page = await stale().catch(() => null)
  leave()
  if (page) return page.leaveToOther()
  location.reload()
  return new Promise(() => {})
}

/**
 * Calls our server for the person whom the page shows. Gives the body's `Body` if there is one, never throws for a
 * status, and returns status 0 when the network fails. A body that is not JSON becomes a refusal that names the HTTP
 * status. A fresh CSRF token replaces the page's, so a page that was not reloaded keeps working.
 */
export async function request<T>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  json?: unknown,
  signal?: AbortSignal | undefined,
  { flash = false, headers: more, again = false }: Options = {},
): Promise<Answer<T>> {
  const meta = tokenMeta()
  const { click } = last
  const headers: Record<string, string> = { Accept: 'application/json', ...more }
  if (meta) headers['X-CSRF-Token'] = meta.content
  if (json !== undefined) headers['Content-Type'] = 'application/json'
  if (flash) headers['X-Flash'] = '1'
  try {
    const response = await fetch(path, {
      method,
      headers,
      credentials: 'same-origin',
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      signal: signal ? AbortSignal.any([untilLeft(), signal]) : untilLeft(),
    })
    if (isForOther(response)) return await leaveToOther()
    const token = response.headers.get('X-CSRF-Token')
    if (token && meta && personOfToken(token) === personOfToken(meta.content)) meta.content = token
    const { ok, status } = response
    const body = await response.json().catch(() => refusal(`HTTP ${status} ${response.statusText}`.trim()))
    const answer = { ok, status, body: body?.Body ?? body ?? {}, headers: response.headers }
    if (body?.code === 'unauthenticated' && personOfToken(meta?.content ?? '')) {
      const leaves = await stale().then(
        (page) => page.signInAgain(last.click),
        () => false,
      )
      if (leaves) return new Promise(() => {})
    }
    // A poll that is refused later doesn't answer the click, but the lookup before the change does.
    if (method !== 'GET' && last.click === click) delete last.click
    if (body?.code !== 'csrf' && body?.code !== 'other_person') return answer
    const retry = () => request<T>(method, path, json, signal, { flash, ...(more && { headers: more }), again: true })
    return await stale().then(
      ({ recover }) => recover(answer, meta, again ? null : retry),
      () => answer,
    )
  } catch {
    if (leaving.signal.aborted) return new Promise(() => {})
    return { ok: false, status: 0, body: refusal(NETWORK_ERROR) as T & Refusal }
  }
}

function refusal(message: string): Refusal {
  return { error: message, message }
}
