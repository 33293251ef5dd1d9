import { type SQL, sql } from 'drizzle-orm'
import type { RunRow } from '../../../../db/schema/fleet.ts'
import { alertOperator } from '../../mail/alerts.ts'
import type { CloudInstance, InstanceState } from '../../ports/cloud.ts'
import type { Context } from '../../runtime/context.ts'

/** EC2 only stops our instances at their end: a stopped one never runs again. */
export const ENDED: ReadonlySet<InstanceState> = new Set(['shutting-down', 'terminated', 'stopping', 'stopped'])

/** EC2 may fail to find a running instance. It is gone only after this many looks in a row, over this long. */
export const LOOKS = 3
export const UNSEEN_MS = 90_000
/**
 * If more instances than this, and a larger share of all than this, vanish at once, we asked the wrong question.
 */
const MANY = 2
const SHARE = 0.1

/**
 * Records the result of a look for one run's instance. Don't call it for a look that failed.
 * @param ended EC2 has already agreed to terminate it, so that we expect not to find it one day
 * @returns the instance; 'unseen' if it wasn't found but may still exist, 'lost' if it is gone
 */
export async function takeLook(
  ctx: Context,
  run: RunRow,
  found: CloudInstance | null,
  { ended = false } = {},
): Promise<CloudInstance | 'unseen' | 'lost'> {
  if (found) {
    if (run.unseenLooks > 0)
      await ctx.db.run(sql`UPDATE server_sessions SET unseen_since = NULL, unseen_looks = 0 WHERE id = ${run.id}`)
    return found
  }
  const now = ctx.now()
  const [row] = await ctx.db.all<{ long: 0 | 1 }>(sql`UPDATE server_sessions
    SET unseen_since = coalesce(unseen_since, ${now}), unseen_looks = unseen_looks + 1 WHERE id = ${run.id}
    RETURNING (${isLongUnseen(now)}) AS long`)
  if (!row?.long) return 'unseen'
  return !ended && (await areManyUnseen(ctx)) ? 'unseen' : 'lost'
}

/** A condition on rows of `server_sessions`: their instance has not been found for so long that it is gone. */
export function isLongUnseen(now: number): SQL {
  return sql`unseen_looks >= ${LOOKS} AND unseen_since <= ${now - UNSEEN_MS}`
}

/** So many at once that a wrong setting is more likely than that many failures. */
export function areMany(strange: number, all: number): boolean {
  return strange > MANY && strange > all * SHARE
}

/** With a wrong region or account we would find none of them: end no server, and alert the operator. */
export async function areManyUnseen(ctx: Context): Promise<boolean> {
  const [row] = await ctx.db.all<{
    unseen: number
    live: number
  }>(sql`SELECT count(*) AS live, count(unseen_since) AS unseen
    FROM server_sessions WHERE ended_at IS NULL AND instance_id IS NOT NULL`)
  const { unseen = 0, live = 0 } = row ?? {}
  if (!areMany(unseen, live)) return false
  await alertOperator(ctx, {
    matter: 'instances_unseen',
    subject: `EC2 can't find ${unseen} of ${live} servers`,
    sentences: [
      `EC2 says that ${unseen} of our ${live} live instances don't exist. So many at once point to a mistake, so we don't end them.`,
      'Check AWS_REGION, the AWS account of the access key and the AWS Health Dashboard. Once EC2 finds the instances again, everything resumes automatically.',
    ],
    fields: { unseen, live },
  })
  return true
}

const SOONEST_MS = 2_000
const LATEST_MS = 15_000

/** Waits as long as it has already taken, so that short waits end soon and long ones cost few calls. */
export function nextLookIn(ctx: Context, since: number | null): number {
  return Math.min(LATEST_MS, Math.max(SOONEST_MS, ctx.now() - (since ?? ctx.now())))
}
