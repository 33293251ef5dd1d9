import type { Context as HonoContext } from 'hono'
import type { Device } from '../accounts/new-sign-in.ts'
import type { Caller } from '../limits/limits.ts'
import { isLoopback } from '../limits/network.ts'
import type { AppEnv } from './app-env.ts'

/** The caller's device. Cloudflare sets `CF-Connecting-IP` itself; clients can forge forwarded headers. */
export function deviceOf(c: HonoContext<AppEnv>): Device {
  return { userAgent: c.req.header('User-Agent')?.slice(0, 300).toWellFormed() ?? null, address: addressOf(c) }
}

/** What Stripe signs. A scanner that posts anything else says nothing about our secret. */
export const LOOKS_SIGNED = /^t=\d+,(.+,)?v1=[\da-f]{64}(,|$)/

/** The caller for the limits by address, which don't apply to loopback. */
export function callerOf(c: HonoContext<AppEnv>): Caller {
  const address = addressOf(c)
  return { address: address && isLoopback(address) ? null : address }
}

/**
 * What follows `Authorization: Bearer`; null without it. With it, the caller is a program, and no cookie counts.
 * Browsers never send this header on their own, so no other site can make them act with it.
 */
export function bearerOf(c: HonoContext<AppEnv>): string | null {
  const match = /^Bearer(?:\s+(.*))?$/i.exec(c.req.header('Authorization')?.trim() ?? '')
  return match && (match[1] ?? '')
}

function addressOf(c: HonoContext<AppEnv>): string | null {
  return c.req.header('CF-Connecting-IP')?.slice(0, 45) ?? null
}
