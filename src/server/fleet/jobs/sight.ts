import { sql } from 'drizzle-orm'
import type { RunRow } from '../../../../db/schema.ts'
import type { Context } from '../../context.ts'
import { alertOperator } from '../../mail/alerts.ts'
import type { CloudInstance } from '../../ports/cloud.ts'

/** EC2 may not find an instance that runs: only so many looks in a row, over so long, say that it is gone. */
const LOOKS = 3
const UNSEEN_MS = 90_000
/** When more than this many instances, and more than this share of all, are not found at once, it is the asking that is wrong. */
const MANY = 2
const SHARE = 0.1

/**
 * Takes in what a look for the run's instance found. A look that failed is none: then this is not called.
 * @returns the instance; 'unseen' when it was not found and nothing is certain, 'lost' when it is gone
 */
export async function takeLook(
  ctx: Context,
  run: RunRow,
  found: CloudInstance | null,
): Promise<CloudInstance | 'unseen' | 'lost'> {
  if (found) {
    if (run.unseenLooks > 0)
      await ctx.db.run(sql`UPDATE server_sessions SET unseen_since = NULL, unseen_looks = 0 WHERE id = ${run.id}`)
    return found
  }
  const now = ctx.now()
  const [row] = await ctx.db.all<{ since: number; looks: number }>(sql`UPDATE server_sessions
    SET unseen_since = coalesce(unseen_since, ${now}), unseen_looks = unseen_looks + 1 WHERE id = ${run.id}
    RETURNING unseen_since AS since, unseen_looks AS looks`)
  if (!row || row.looks < LOOKS || now - row.since < UNSEEN_MS) return 'unseen'
  return (await areManyUnseen(ctx)) ? 'unseen' : 'lost'
}

/** A wrong region or account finds none of them: that ends no server, and the operator hears of it. */
async function areManyUnseen(ctx: Context): Promise<boolean> {
  const [row] = await ctx.db.all<{
    unseen: number
    live: number
  }>(sql`SELECT count(*) AS live, count(unseen_since) AS unseen
    FROM server_sessions WHERE ended_at IS NULL AND instance_id IS NOT NULL`)
  const { unseen = 0, live = 0 } = row ?? {}
  if (unseen <= MANY || unseen <= live * SHARE) return false
  await alertOperator(ctx, {
    matter: 'instances_unseen',
    subject: `EC2 does not find ${unseen} of ${live} servers`,
    sentences: [
      `EC2 answers that ${unseen} of our ${live} live instances do not exist. So many at once is a mistake rather than a loss, so we do not end them.`,
      'Check AWS_REGION, the AWS account of the access key and the AWS Health Dashboard. Once EC2 finds the instances again, everything continues by itself.',
    ],
    fields: { unseen, live },
  })
  return true
}

const SOONEST_MS = 2_000
const LATEST_MS = 15_000

/** Waits for as long as it already took since then: a short wait ends soon, and a long one costs few calls. */
export function nextLookIn(ctx: Context, since: number | null): number {
  return Math.min(LATEST_MS, Math.max(SOONEST_MS, ctx.now() - (since ?? ctx.now())))
}
