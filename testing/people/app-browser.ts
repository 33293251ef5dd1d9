import type { FlashMessage } from '../../src/ui/FlashAlert.tsx'
import { ORIGIN } from './account-app.ts'

type App = { request(path: string, init?: RequestInit): Response | Promise<Response> }

/** Keeps cookies and the page's CSRF token, as a browser does on our own pages. */
export function openAppBrowser(app: App) {
  const cookies = new Map<string, string>()
  let token = ''

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    if (cookies.size) headers.set('Cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    const response = await app.request(path, { ...init, headers })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/Max-Age=0/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    token = response.headers.get('X-CSRF-Token') ?? token
    return response
  }

  /** What the next page has to show. */
  function waitingFlash(): FlashMessage | null {
    const cookie = ['flash', 'flash_1', 'flash_2'].map((name) => cookies.get(name) ?? '').join('')
    if (!cookie) return null
    const { expires: _, ...flash } = JSON.parse(Buffer.from(cookie.split('.')[0] ?? '', 'base64url').toString())
    return flash
  }

  const own = () => ({ 'Sec-Fetch-Site': 'same-origin', Origin: ORIGIN })

  return {
    cookies,
    request,
    token: () => token,
    async open(path: string): Promise<{ status: number; location: string | null; flash: FlashMessage | null }> {
      const waiting = waitingFlash()
      const response = await request(path)
      const html = await response.text()
      token = /<meta name="csrf-token" content="([^"]+)"/.exec(html)?.[1] ?? token
      const flash = waiting && !cookies.has('flash') ? waiting : null
      if (flash && !html.includes(flash.message))
        throw new Error(`${path} took "${flash.message}" and does not show it`)
      return { status: response.status, location: response.headers.get('Location'), flash }
    },
    json: (method: string, path: string, body?: unknown) =>
      request(path, {
        method,
        headers: {
          ...own(),
          'X-CSRF-Token': token,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    form: (path: string, fields: Record<string, string>) =>
      request(path, {
        method: 'POST',
        headers: { ...own(), Accept: 'text/html', 'Content-Type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ authenticity_token: token, ...fields }).toString(),
      }),
  }
}
