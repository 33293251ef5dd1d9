import { eq } from 'drizzle-orm'
import { type LaunchRow, launches, type RunRow } from '../../../../db/schema/fleet.ts'
import type { CloudInstance } from '../../ports/cloud.ts'
import type { Context } from '../../runtime/context.ts'

/** After a restore, this database may not know whose it is. We leave it alone. */
export const isForeign = ({ tags }: CloudInstance, run: RunRow) => tags.session !== undefined && tags.session !== run.id

/** For a run that ends before its warm machine has heard of it. @returns whether the machine is someone else's */
export async function dropForeign(ctx: Context, run: RunRow, { token, instanceId }: LaunchRow): Promise<boolean> {
  // A backup from before its launch was answered only knows the token.
  const instance = await (instanceId === null ? ctx.cloud.findByToken(token) : ctx.cloud.findInstance(instanceId))
  if (!instance || !isForeign(instance, run)) return false
  await ctx.db.delete(launches).where(eq(launches.token, token))
  return true
}
