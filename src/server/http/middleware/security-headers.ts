import { createMiddleware } from 'hono/factory'
import type { AppEnv } from '../app-env.ts'

const FIXED = {
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // Same origin only: the token in a mailed link's address goes nowhere else.
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
}

/**
 * @param dev Vite puts styles into the page by script and talks to its own socket
 * @param formTarget also holds for where the answer to a form redirects
 */
export function contentSecurityPolicy(dev: boolean, formTarget = ''): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    dev ? "style-src 'self' 'unsafe-inline'" : "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "media-src 'self'",
    "manifest-src 'self'",
    dev ? "connect-src 'self' ws:" : "connect-src 'self'",
    `form-action 'self' ${formTarget}`.trim(),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
}

/** Everything counts as personal unless its route says otherwise: what may be kept by a cache sets its own Cache-Control. */
export function securityHeaders({ dev }: { dev: boolean }) {
  const headers = Object.entries({
    ...FIXED,
    'Content-Security-Policy': contentSecurityPolicy(dev),
    'Cache-Control': 'private, no-store',
  })
  return createMiddleware<AppEnv>(async (c, next) => {
    // Before the answer is there: each header that is set on a finished one copies it.
    for (const [name, value] of headers) c.header(name, value)
    await next()
    // An answer that was made elsewhere has none of them; a socket's 101 is not ours to change.
    if (c.res.status === 101) return
    if (!c.res.headers.has('Content-Security-Policy'))
      for (const [name, value] of headers) if (!c.res.headers.has(name)) c.header(name, value)
    const formTarget = c.get('formTarget')
    if (formTarget) c.header('Content-Security-Policy', contentSecurityPolicy(dev, formTarget))
  })
}
