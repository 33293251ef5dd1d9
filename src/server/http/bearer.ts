import type { Context as HonoContext } from 'hono'
import { isApiToken } from '../../domain/api-token.ts'
import { AppError } from '../../domain/error.ts'
import { findByApiToken, noteTokenUse, userOfApiToken } from '../accounts/api-tokens.ts'
import { refuseCall, spendCall, TOKEN_RATE } from '../limits/limits.ts'
import type { AppEnv } from './app-env.ts'
import { deviceOf } from './caller.ts'
import { factsOf } from './matched-route.ts'
import type { RouteFacts } from './route-table.ts'

/** Finds the API token's user, in one round trip with the route's own reads, and counts the call. */
export async function signInByToken(c: HonoContext<AppEnv>, token: string): Promise<void> {
  const { ctx } = c.var
  if (!isApiToken(token)) return
  const found = await findByApiToken(ctx, token, factsOf(c)?.reads?.(ctx, userOfApiToken(token)) ?? [])
  if (!found) return
  const { signIn, along, use } = found
  if (!factsOf(c)?.connections) await countCall(c, signIn.id)
  c.set('signIn', signIn)
  c.set('readAlong', along)
  if (c.req.method !== 'HEAD') ctx.background(noteTokenUse(ctx, signIn.id, use, deviceOf(c).address))
}

async function countCall(c: HonoContext<AppEnv>, tokenId: string): Promise<void> {
  const { waitMs, left, fullInMs } = await spendCall(c.var.ctx, tokenId)
  const seconds = (ms: number) => Math.max(0, Math.ceil(ms / 1000))
  c.header('RateLimit-Policy', `"token";q=${TOKEN_RATE.count};w=${seconds(TOKEN_RATE.perMs)}`)
  c.header('RateLimit', `"token";r=${left};t=${seconds(fullInMs)}`)
  refuseCall(waitMs)
}

/**
 * A token opens only the routes that name a scope, even among public ones.
 * @throws unauthenticated, forbidden, insufficient_scope
 */
export function checkToken(c: HonoContext<AppEnv>, { scope, access }: RouteFacts): void {
  const held = c.var.signIn?.scope
  if (!held) {
    // These answer everyone, or refuse in their own protocol.
    if (scope && access === 'public') return
    c.header('WWW-Authenticate', 'Bearer error="invalid_token"')
    throw new AppError(
      'unauthenticated',
      'This API token is not valid: it was revoked, it expired, or it never existed.',
    )
  }
  if (!scope) throw new AppError('forbidden', "API tokens can't do this. Sign in with your browser.")
  if (scope === 'operate') mayOperate(c)
}

/** A browser may. @throws insufficient_scope */
export function mayOperate(c: HonoContext<AppEnv>): void {
  if (c.var.signIn?.scope !== 'read') return
  c.header('WWW-Authenticate', 'Bearer error="insufficient_scope", scope="operate"')
  throw new AppError('insufficient_scope', 'This API token may only read. Create one that may operate.')
}
