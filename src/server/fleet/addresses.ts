import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import { runs } from '../../../db/schema/fleet.ts'
import { AppError } from '../../domain/error.ts'
import { SERVER_WEB_PORT } from '../../domain/server.ts'
import type { Context } from '../runtime/context.ts'
import { addressOf } from './machine.ts'

/**
 * Whether the user's own running server answers yet.
 * @throws not_found for any other address, which we never contact
 */
export async function checkServerAddress(ctx: Context, userId: string, address: string) {
  const [own] = await ctx.db
    .select({ ipAddress: runs.ipAddress, privateAddress: runs.privateAddress, doorLabel: runs.doorLabel })
    .from(runs)
    .where(
      and(
        eq(runs.userId, userId),
        eq(runs.ipAddress, address),
        isNotNull(runs.runningAt),
        isNull(runs.stopRequestedAt),
        isNull(runs.endedAt),
      ),
    )
  const at = own && addressOf(ctx, own)
  if (!at) throw new AppError('not_found', 'None of your running servers has this address.')
  const answer = await ctx.reach(at, SERVER_WEB_PORT)
  return { code: null, ...answer }
}
