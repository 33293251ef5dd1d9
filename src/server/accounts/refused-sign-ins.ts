import { type SQL, sql } from 'drizzle-orm'
import type { Wrong } from '../../domain/activity.ts'
import { HOUR_MS } from '../../domain/instant.ts'
import type { Context } from '../runtime/context.ts'
import type { Device } from './new-sign-in.ts'

/**
 * Counts a refused sign-in for its owner to see. Costs the same whether or not there is such an account.
 * @param whose an SQL condition on `users`
 */
export function noteRefusedQuery(
  ctx: Pick<Context, 'db' | 'now'>,
  wrong: Wrong,
  whose: SQL,
  { userAgent, address }: Device,
  at = ctx.now(),
) {
  return ctx.db.run(sql`
    INSERT INTO refused_sign_ins (user_id, hour, wrong, count, last_at, user_agent, address)
    SELECT id, ${at - (at % HOUR_MS)}, ${wrong}, 1, ${at}, ${userAgent}, ${address} FROM users
    WHERE ${whose} AND closed_at IS NULL
    ON CONFLICT (user_id, hour, wrong) DO UPDATE SET count = count + 1, last_at = excluded.last_at,
      user_agent = excluded.user_agent, address = excluded.address`)
}
