import type { Context as HonoContext } from 'hono'
import type { Device } from '../accounts/sign-in.ts'
import type { Caller } from '../limits/limits.ts'
import { isLoopback } from '../limits/network.ts'
import type { AppEnv } from './app-env.ts'

/** Who asks, as far as the network tells. Cloudflare sets `CF-Connecting-IP` itself; forwarded headers are the client's own words. */
export function deviceOf(c: HonoContext<AppEnv>): Device {
  return { userAgent: c.req.header('User-Agent')?.slice(0, 300).toWellFormed() ?? null, address: addressOf(c) }
}

/** For the limits by address, which a machine of one's own has none of. */
export function callerOf(c: HonoContext<AppEnv>): Caller {
  const address = addressOf(c)
  return { address: address && isLoopback(address) ? null : address }
}

function addressOf(c: HonoContext<AppEnv>): string | null {
  return c.req.header('CF-Connecting-IP')?.slice(0, 45) ?? null
}
