import type { SQL } from 'drizzle-orm'
import type { BatchResponse } from 'drizzle-orm/batch'
import type { Context as HonoContext } from 'hono'
import type { Reads } from '../accounts/live-sign-ins.ts'
import { usageQueries } from '../billing/bills/usage.ts'
import type { Context } from '../context.ts'
import { dashboardQueries } from '../fleet/dashboard.ts'
import { listServersQuery } from '../fleet/servers.ts'
import type { AppEnv } from './app-env.ts'
import { matchedRoute } from './matched-route.ts'

/**
 * What the polls and the dashboard read of whoever asks, in the same round trip as the sign-in itself. A handler gets it only once the
 * sign-in was found to count and access.ts has let the request in.
 */
const READ_ALONG = {
  'GET /dashboard': dashboardQueries,
  'GET /subscriptions': usageQueries,
  'GET /api/v1/servers/get_servers': (ctx, userId) => [listServersQuery(ctx, userId)] as const,
  'GET /api/v1/billings/summary': usageQueries,
} satisfies Record<string, (ctx: Context, userId: SQL) => Reads>

type ReadAlong = typeof READ_ALONG

export function readsAlong(route: string | null, ctx: Context, userId: SQL): Reads {
  return (READ_ALONG as Record<string, (ctx: Context, userId: SQL) => Reads>)[route ?? '']?.(ctx, userId) ?? []
}

/** What the route that answers had read along with the sign-in. */
export function readAlong<R extends keyof ReadAlong>(
  c: HonoContext<AppEnv>,
  route: R,
): BatchResponse<ReturnType<ReadAlong[R]>> {
  if (matchedRoute(c) !== route) throw new Error(`Another route's reads were asked for: ${route}`)
  return c.var.readAlong as unknown as BatchResponse<ReturnType<ReadAlong[R]>>
}
