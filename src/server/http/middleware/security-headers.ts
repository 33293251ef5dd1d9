import { createMiddleware } from 'hono/factory'
import type { AppEnv } from '../app-env.ts'

const FIXED = {
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // Same origin only, so that the token in a mailed link's URL never leaks.
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
}

type Foreign = {
  /** Browsers also check where a form's answer redirects. */
  formTarget?: string | undefined
  /** The bucket: pages send files there, and show files from there. */
  filesOrigin?: string | undefined
}

/** @param dev Vite injects styles by script and talks to its own socket */
export function contentSecurityPolicy(dev: boolean, { formTarget = '', filesOrigin = '' }: Foreign = {}): string {
  const withFiles = (sources: string) => `${sources} ${filesOrigin}`.trim()
  return [
    "default-src 'none'",
    "script-src 'self'",
    dev ? "style-src 'self' 'unsafe-inline'" : "style-src 'self'",
    withFiles("img-src 'self' data:"),
    "font-src 'self'",
    // The film is fetched whole, then played.
    withFiles("media-src 'self' blob:"),
    "manifest-src 'self'",
    withFiles(dev ? "connect-src 'self' ws:" : "connect-src 'self'"),
    `form-action 'self' ${formTarget}`.trim(),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
}

/** Every answer is private unless its route sets its own Cache-Control. */
export function securityHeaders({ dev }: { dev: boolean }) {
  const headers = Object.entries({
    ...FIXED,
    'Content-Security-Policy': contentSecurityPolicy(dev),
    'Cache-Control': 'private, no-store',
  })
  return createMiddleware<AppEnv>(async (c, next) => {
    // Set them before the answer exists: setting a header on a finished answer copies it.
    for (const [name, value] of headers) c.header(name, value)
    await next()
    // Answers made elsewhere lack them. A socket's 101 can't be changed.
    if (c.res.status === 101) return
    if (!c.res.headers.has('Content-Security-Policy'))
      for (const [name, value] of headers) if (!c.res.headers.has(name)) c.header(name, value)
    const foreign = { formTarget: c.get('formTarget'), filesOrigin: c.get('filesOrigin') }
    if (foreign.formTarget || foreign.filesOrigin)
      c.header('Content-Security-Policy', contentSecurityPolicy(dev, foreign))
  })
}
