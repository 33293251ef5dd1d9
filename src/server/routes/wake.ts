import { Hono } from 'hono'
import type { AppEnv } from '../app-env.ts'
import { WAKE_SCRIPT } from '../assets.ts'

const FRAME = `<!doctype html><meta name="robots" content="noindex"><script type="module" src="${WAKE_SCRIPT}"></script>`

/**
 * The frame in which the script of a page begins (src/wake.ts). The page names it as lazy and its style sheet gives it no box at first
 * (src/styles/wake.css): so nothing but the page itself is loaded before it is seen. Its address names its script, so it may be kept for
 * good, and behind the # the page's.
 */
export const wake = new Hono<AppEnv>().get('/wake', (c) => {
  c.header('X-Frame-Options', 'SAMEORIGIN')
  c.header('Content-Security-Policy', "default-src 'none'; script-src 'self'; frame-ancestors 'self'; base-uri 'none'")
  c.header('Cache-Control', 'public, max-age=31536000, immutable')
  return c.html(FRAME)
})
