import { eq, sql } from 'drizzle-orm'
import type { InferInput } from 'valibot'
import { writeBatch } from '../../../db/client.ts'
import { users } from '../../../db/schema/accounts.ts'
import { idleForm } from '../../domain/idle.ts'
import { limitPerson } from '../limits/limits.ts'
import type { Context } from '../runtime/context.ts'
import { requireValid } from '../runtime/form-rules.ts'
import { runEventQuery } from '../runtime/run-events.ts'

/** Sets after how many minutes without use their server ends; null: never. Looks at a running one soon if that changes. @throws invalid */
export async function setIdleMinutes(ctx: Context, userId: string, input: InferInput<typeof idleForm>) {
  const { minutes } = requireValid(idleForm, input)
  await limitPerson(ctx, 'set_idle', userId)
  const now = ctx.now()
  const channel = ctx.channel(userId)
  await channel.arm(userId)
  const live = sql`user_id = ${userId} AND ended_at IS NULL AND stop_requested_at IS NULL`
  const mine = ctx.db.select({ id: sql<string>`id` }).from(sql`server_sessions`).where(sql`${live} AND idle_ends`)
  const [counting] = minutes === null ? await mine : []
  await writeBatch(ctx.db, [
    ...(counting
      ? [
          runEventQuery(
            ctx,
            counting.id,
            { what: 'end_removed', detail: null, by: 'site' },
            sql`${live} AND idle_ends`,
          ),
          ctx.db.run(
            sql`UPDATE server_sessions SET ends_at = own_ends_at, own_ends_at = NULL, idle_ends = 0 WHERE ${live} AND idle_ends`,
          ),
        ]
      : []),
    // Each look asks the simulator.
    ctx.db.run(
      sql`UPDATE server_sessions SET idle_look_at = ${minutes === null ? null : now} WHERE ${live} AND NOT until_exit
        AND EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND idle_minutes IS NOT ${minutes})`,
    ),
    ctx.db.update(users).set({ idleMinutes: minutes }).where(eq(users.id, userId)),
  ])
  ctx.background(channel.wake(userId))
  return { message: minutes === null ? 'We never stop an idle server.' : 'Saved.', minutes }
}

export function idleMinutesQuery(ctx: Pick<Context, 'db'>, userId: string) {
  return ctx.db.select({ minutes: users.idleMinutes }).from(users).where(eq(users.id, userId))
}
