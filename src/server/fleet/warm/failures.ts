import { sql } from 'drizzle-orm'
import type { WarmSettingRow } from '../../../../db/schema/warm.ts'
import { HOUR_MS, MINUTE_MS } from '../../../domain/instant.ts'
import { alertOperator } from '../../mail/alerts.ts'
import type { Context } from '../../runtime/context.ts'

/** The next try waits this long for each machine that failed. */
const WAIT_MS = 5 * MINUTE_MS
const LONGEST_WAIT_MS = HOUR_MS

/** @param what it did wrong, in the past tense */
export async function alertWarmFailed(
  ctx: Context,
  zone: string | null,
  instanceId: string | null,
  what: string,
): Promise<void> {
  await alertOperator(ctx, {
    matter: `warm_failed:${zone}`,
    subject: `A warm machine in ${zone} failed`,
    sentences: [
      `The machine ${instanceId ?? '(unknown)'} ${what}. We end it. Starts launch machines of their own, and we try to keep one machine warm, less and less often, until one works.`,
      "Deploy the zone again if its user data is older than the site, check that its machines reach the site, and read the instance's system log.",
    ],
    fields: { instanceId },
  })
}

export type Failures = { count: number; nextAt: number }

/** How many machines of a kind have failed since one worked, and when to try again. */
export async function readFailures(ctx: Context, kind: WarmSettingRow): Promise<Failures> {
  const [row] = await ctx.db.all<{
    count: number
    last: number | null
  }>(sql`SELECT count(*) AS count, max(failed_at) AS last
    FROM warm_machines JOIN servers ON servers.id = server_id
    WHERE failed_at IS NOT NULL AND instance_type = ${kind.instanceType} AND availability_zone = ${kind.availabilityZone}`)
  const { count = 0, last = null } = row ?? {}
  return { count, nextAt: (last ?? 0) + Math.min(count * WAIT_MS, LONGEST_WAIT_MS) }
}
