import { sql } from 'drizzle-orm'
import { DAY_MS } from '../../domain/instant.ts'
import type { Context } from '../runtime/context.ts'
import { connectionOf, networkOf } from './network.ts'

const SEEN_WITHIN_MS = 90 * DAY_MS

/**
 * Counts the confirmed people who signed in from this address (a /64 of IPv6), or from its network, within 90
 * days. Stops counting at `most`. A /64 is matched by prefix; an address that ends in zeros may be written
 * shorter and be missed, so its limit grows less.
 */
export async function countPeople(
  ctx: Pick<Context, 'db' | 'now'>,
  address: string,
  from: 'address' | 'network',
  most: number,
): Promise<number> {
  const connection = connectionOf(address)
  const [row] = await ctx.db.all<{ people: number }>(sql`
    SELECT count(*) AS people FROM (
      SELECT DISTINCT user_id FROM sign_ins
      WHERE network = ${networkOf(address)} AND last_seen_at > ${ctx.now() - SEEN_WITHIN_MS}
      ${from === 'address' ? sql`AND (address = ${connection} OR address LIKE ${`${connection}:%`})` : sql``} LIMIT ${most})`)
  return row?.people ?? 0
}
