import { sql } from 'drizzle-orm'
import type { Context } from '../context.ts'
import { networkOf } from './network.ts'

const SEEN_WITHIN_MS = 90 * 24 * 3_600_000

/** How many people signed in from this address, or from its network, within 90 days. Only confirmed ones can. Stops at `most`. */
export async function countPeople(
  ctx: Pick<Context, 'db' | 'now'>,
  address: string,
  from: 'address' | 'network',
  most: number,
): Promise<number> {
  const [row] = await ctx.db.all<{ people: number }>(sql`
    SELECT count(*) AS people FROM (
      SELECT DISTINCT user_id FROM sign_ins
      WHERE network = ${networkOf(address)} AND last_seen_at > ${ctx.now() - SEEN_WITHIN_MS}
      ${from === 'address' ? sql`AND address = ${address}` : sql``} LIMIT ${most})`)
  return row?.people ?? 0
}
