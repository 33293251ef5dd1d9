import type { Flash } from '../../src/server/flash.ts'
import { ORIGIN } from './account-app.ts'

type App = { request(path: string, init?: RequestInit): Response | Promise<Response> }

/** Keeps cookies and the page's CSRF token, as a browser on our own pages does. */
export function openBrowser(app: App) {
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

  const own = () => ({ 'Sec-Fetch-Site': 'same-origin', Origin: ORIGIN })

  return {
    cookies,
    request,
    token: () => token,
    async open(path: string): Promise<{ status: number; location: string | null; flash: Flash | null }> {
      const response = await request(path)
      const page = response.status === 200 ? ((await response.json()) as { token: string; flash: Flash | null }) : null
      token = page?.token ?? token
      return { status: response.status, location: response.headers.get('Location'), flash: page?.flash ?? null }
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
        headers: { ...own(), 'Content-Type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ authenticity_token: token, ...fields }).toString(),
      }),
  }
}
