export type Answer<T> = { ok: boolean; status: number; body: T & Refusal }
/** What every refusal carries. */
type Refusal = { error?: string; message?: string; errors?: string[]; status?: string }

const NETWORK_ERROR = 'Network error'
/** A server that says nothing for so long is not reached. */
const TIMEOUT_MS = 20_000

let leaving = new AbortController()

/** Ends every call, and has later ones say nothing, until `stay`: whoever signs out does not want to hear that he is a stranger now. */
export function leave(): void {
  leaving.abort()
}

/** The page is back, e.g. from the browser's memory. */
export function stay(): void {
  leaving = new AbortController()
}

type Options = {
  /** The answer's message is to be shown by the page that is opened next. */
  flash?: boolean
}

/**
 * Asks our own server. Gives the body's `Body` where there is one, never throws for a status, and answers status 0 when the network fails.
 * What is not JSON becomes a refusal that names the HTTP status. A fresh CSRF token in the answer replaces the page's, so that a page
 * that was not reloaded can go on.
 */
export async function request<T>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  json?: unknown,
  signal?: AbortSignal | undefined,
  { flash = false }: Options = {},
): Promise<Answer<T>> {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (method !== 'GET' && meta) headers['X-CSRF-Token'] = meta.content
  if (json !== undefined) headers['Content-Type'] = 'application/json'
  if (flash) headers['X-Flash'] = '1'
  try {
    const response = await fetch(path, {
      method,
      headers,
      credentials: 'same-origin',
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), leaving.signal, ...(signal ? [signal] : [])]),
    })
    const token = response.headers.get('X-CSRF-Token')
    if (token && meta) meta.content = token
    const { ok, status } = response
    const body = await response.json().catch(() => refusal(`HTTP ${status} ${response.statusText}`.trim()))
    return { ok, status, body: body?.Body ?? body ?? {} }
  } catch {
    if (leaving.signal.aborted) return new Promise(() => {})
    return { ok: false, status: 0, body: refusal(NETWORK_ERROR) as T & Refusal }
  }
}

function refusal(message: string): Refusal {
  return { error: message, message }
}
