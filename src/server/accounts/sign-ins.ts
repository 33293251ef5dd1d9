import { and, desc, eq, isNull } from 'drizzle-orm'
import { signIns } from '../../../db/schema/accounts.ts'
import { AppError } from '../../domain/error.ts'
import { toIso } from '../../domain/instant.ts'
import type { SignIn } from '../../domain/wire/accounts.ts'
import type { Context } from '../runtime/context.ts'
import { type CurrentSignIn, isLive } from './live-sign-ins.ts'

const LIST_LIMIT = 100

/** The user's live sign-ins, latest used first. */
export async function listSignIns(ctx: Context, current: CurrentSignIn): Promise<SignIn[]> {
  const rows = await ctx.db
    .select()
    .from(signIns)
    .where(and(eq(signIns.userId, current.user.id), isLive(ctx.now())))
    .orderBy(desc(signIns.lastSeenAt))
    .limit(LIST_LIMIT)
  return rows.map((row) => ({
    id: row.id,
    current: row.id === current.id,
    user_agent: row.userAgent,
    address: row.address,
    created_at: toIso(row.createdAt),
    last_seen_at: toIso(row.lastSeenAt),
  }))
}

/** @throws not_found, also for another user's */
export async function endSignIn(ctx: Context, userId: string, signInId: string): Promise<void> {
  const [ended] = await ctx.db
    .update(signIns)
    .set({ revokedAt: ctx.now() })
    .where(and(eq(signIns.id, signInId), eq(signIns.userId, userId), isNull(signIns.revokedAt)))
    .returning({ id: signIns.id })
  if (!ended) throw new AppError('not_found', 'Device not found.')
  ctx.background(ctx.channel(userId).disconnect([signInId]))
}

/** Includes the current sign-in, but not the API tokens: a lost laptop must not stop the CI. */
export async function signOutEverywhere(ctx: Context, userId: string): Promise<void> {
  const ended = await ctx.db
    .update(signIns)
    .set({ revokedAt: ctx.now() })
    .where(and(eq(signIns.userId, userId), isNull(signIns.revokedAt)))
    .returning({ id: signIns.id })
  ctx.background(ctx.channel(userId).disconnect(ended.map(({ id }) => id)))
}
