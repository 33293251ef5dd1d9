export type Answer<T> = { ok: boolean; status: number; body: T & Refusal; headers?: Headers }
/** What a refusal may contain. */
type Refusal = { error?: string; message?: string; errors?: string[]; status?: string }

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
}

/**
 * Calls our server. Gives the body's `Body` if there is one, never throws for a status, and returns status 0 when the
 * network fails. A body that is not JSON becomes a refusal that names the HTTP status. A fresh CSRF token replaces the
 * page's, so a page that was not reloaded keeps working.
 */
export async function request<T>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  json?: unknown,
  signal?: AbortSignal | undefined,
  { flash = false, headers: more }: Options = {},
): Promise<Answer<T>> {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')
  const headers: Record<string, string> = { Accept: 'application/json', ...more }
  if (method !== 'GET' && meta) headers['X-CSRF-Token'] = meta.content
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
    const token = response.headers.get('X-CSRF-Token')
    if (token && meta) meta.content = token
    const { ok, status } = response
    const body = await response.json().catch(() => refusal(`HTTP ${status} ${response.statusText}`.trim()))
    return { ok, status, body: body?.Body ?? body ?? {}, headers: response.headers }
  } catch {
    if (leaving.signal.aborted) return new Promise(() => {})
    return { ok: false, status: 0, body: refusal(NETWORK_ERROR) as T & Refusal }
  }
}

function refusal(message: string): Refusal {
  return { error: message, message }
}
