import { Hono } from 'hono'
import type { AppEnv } from '../http/app-env.ts'
import { PREFETCH_RULES } from '../http/render.tsx'
import { SEARCHED } from './robots.ts'

/** Much the same from one hour to the next: asked for when the pointer rests on a link. */
const STEADY = [...SEARCHED, '/forgot_password', '/confirm_email']

/** Somebody's own: asked for when the link is pressed, so that what was asked for is hardly ever older than the click. */
const PERSONAL = [
  '/subscriptions',
  '/account_overview',
  '/billing_history',
  '/billing_history/*',
  '/devices',
  '/close_account',
]

/**
 * Which pages a browser may ask for before a link is followed. Not the dashboard and the console: a browser may show such a page minutes
 * later, and theirs count seconds from when they were answered.
 */
const RULES = {
  prefetch: [
    { where: { href_matches: STEADY }, eagerness: 'moderate' },
    { where: { href_matches: PERSONAL }, eagerness: 'conservative' },
  ],
}

export const prefetch = new Hono<AppEnv>().get(PREFETCH_RULES, (c) =>
  c.body(JSON.stringify(RULES), 200, {
    'Content-Type': 'application/speculationrules+json',
    'Cache-Control': 'public, max-age=86400',
  }),
)
