import { and, eq, gt, type SQL, sql } from 'drizzle-orm'
import type { Query } from '../../../db/client.ts'
import { idempotencyKeys, type JobRow, jobs, type RunRow, runs } from '../../../db/schema/fleet.ts'
import { AppError } from '../../domain/error.ts'
import { DAY_MS } from '../../domain/instant.ts'
import type { Context } from '../runtime/context.ts'

/** How long a key is tied to its call. */
const REPEAT_MS = DAY_MS

/** A call that its client may repeat: its Idempotency-Key, and a digest of its content. */
export type Repeatable = { userId: string; key: string; digest: string }

type Done = { run: RunRow; job: JobRow }

/**
 * Does the work, unless a call with this key already did: then returns that run and job. A refusal does nothing, so it
 * leaves the key free.
 * @throws invalid if the key belongs to another call
 */
export async function doOnce(ctx: Context, repeat: Repeatable | null, work: () => Promise<Done>): Promise<Done> {
  if (!repeat) return work()
  const before = await findDone(ctx, repeat)
  if (before) return before
  try {
    return await work()
  } catch (error) {
    // The same call may have come a moment earlier.
    const meanwhile = await findDone(ctx, repeat)
    if (meanwhile) return meanwhile
    throw error
  }
}

async function findDone(ctx: Context, { userId, key, digest }: Repeatable): Promise<Done | null> {
  const [found] = await ctx.db
    .select({ digest: idempotencyKeys.digest, run: runs, job: jobs })
    .from(idempotencyKeys)
    .innerJoin(jobs, eq(jobs.id, idempotencyKeys.jobId))
    .innerJoin(runs, eq(runs.id, jobs.runId))
    .where(
      and(
        eq(idempotencyKeys.userId, userId),
        eq(idempotencyKeys.key, key),
        gt(idempotencyKeys.createdAt, ctx.now() - REPEAT_MS),
      ),
    )
  if (found && found.digest !== digest)
    throw new AppError('invalid', 'You used this Idempotency-Key for another call. Use a new one.')
  return found ?? null
}

/** An SQL condition for the work: no call has used the key. */
export function isFirst(repeat: Repeatable | null, now: number): SQL {
  if (!repeat) return sql`1`
  return sql`NOT EXISTS (SELECT 1 FROM idempotency_keys
    WHERE user_id = ${repeat.userId} AND key = ${repeat.key} AND created_at > ${now - REPEAT_MS})`
}

/**
 * Ties the key to the job that the work created, in the work's own batch: a crash leaves both or neither.
 * @param isIts an SQL condition for that row of `jobs`
 */
export function keepKeyQueries(ctx: Context, repeat: Repeatable | null, isIts: SQL): Query[] {
  if (!repeat) return []
  const now = ctx.now()
  return [
    ctx.db.run(sql`INSERT INTO idempotency_keys (user_id, key, digest, job_id, created_at)
      SELECT ${repeat.userId}, ${repeat.key}, ${repeat.digest}, id, ${now} FROM jobs WHERE ${isIts}
      ON CONFLICT (user_id, key) DO UPDATE SET digest = excluded.digest, job_id = excluded.job_id, answer = NULL,
        created_at = excluded.created_at WHERE created_at <= ${now - REPEAT_MS}`),
  ]
}

/** The first answer wins: a repeated call gets it, even if the run has moved on since. */
export async function firstAnswer<T extends object>(ctx: Context, repeat: Repeatable | null, body: T): Promise<T> {
  if (!repeat) return body
  const [kept] = await ctx.db
    .update(idempotencyKeys)
    .set({ answer: sql`coalesce(answer, ${JSON.stringify(body)})` })
    .where(
      and(
        eq(idempotencyKeys.userId, repeat.userId),
        eq(idempotencyKeys.key, repeat.key),
        eq(idempotencyKeys.digest, repeat.digest),
      ),
    )
    .returning({ answer: idempotencyKeys.answer })
  return kept?.answer ? (JSON.parse(kept.answer) as T) : body
}

export function forgetKeys(ctx: Pick<Context, 'db' | 'now'>) {
  return ctx.db.run(sql`DELETE FROM idempotency_keys WHERE created_at <= ${ctx.now() - REPEAT_MS}`)
}
