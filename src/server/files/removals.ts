import { and, asc, eq, inArray, isNull, lte, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { type FileRemovalRow, fileRemovals } from '../../../db/schema/files.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/instant.ts'
import { TRACE_DAYS } from '../../domain/retention.ts'
import { newId } from '../crypto/id.ts'
import { alertOperator } from '../mail/alerts.ts'
import type { Context } from '../runtime/context.ts'
import { meterCalls } from './call-budget.ts'
import { continueRemoval, PAGES_AHEAD } from './continue-removal.ts'

/** How many pages of newer files may come before one that must go. */
const MOST_PAGES = 1_000
/** Longer than one round can take. */
export const LEASE_MS = 5 * MINUTE_MS
const ROUNDS_PER_TRIGGER = 30
const TRIGGER_MS = MINUTE_MS
/** How many failures, after longer and longer pauses, before we tell the operator. */
const QUIET_FAILURES = 3

/** What is being deleted from someone's files right now. */
export function openRemovals(ctx: Pick<Context, 'db'>, userId: string): Promise<FileRemovalRow[]> {
  return ctx.db
    .select()
    .from(fileRemovals)
    .where(and(eq(fileRemovals.userId, userId), isNull(fileRemovals.doneAt)))
    .orderBy(asc(fileRemovals.acceptedAt))
}

/** Whether this is being deleted, so that nobody sees it anymore. A folder's path ends in a slash. */
export function isGoing(removals: FileRemovalRow[], path: string, modifiedAt = 0): boolean {
  return removals.some(({ place, acceptedAt }) => `files/${path}`.startsWith(place) && modifiedAt <= acceptedAt)
}

/**
 * Writes down that everything at this place must go. If that is already under way, what was written in the meantime
 * goes as well. The time always grows, so that a round under way notices, even within one second of the bucket's clock.
 */
export function removalQuery(
  ctx: Pick<Context, 'db'>,
  row: Pick<FileRemovalRow, 'userId' | 'place' | 'acceptedAt' | 'nextAt' | 'filesLeft'>,
  when = sql`1`,
) {
  const { userId, place, acceptedAt, nextAt, filesLeft } = row
  return ctx.db.run(sql`INSERT INTO file_removals (id, user_id, place, accepted_at, next_at, files_left)
    SELECT ${newId('rem')}, ${userId}, ${place}, ${acceptedAt}, ${nextAt}, ${filesLeft} WHERE ${when}
    ON CONFLICT (user_id, place) WHERE done_at IS NULL DO UPDATE SET
      accepted_at = max(accepted_at + 1, excluded.accepted_at), files_left = max(files_left, excluded.files_left),
      removed_key = NULL`)
}

/** Deletes all of someone's files for good. A trigger removes them. */
export function removeAllQuery(ctx: Pick<Context, 'db' | 'now'>, userId: string, when = sql`1`) {
  const row = { userId, place: '', acceptedAt: ctx.now(), nextAt: ctx.now(), filesLeft: 0 }
  return removalQuery(ctx, row, sql`EXISTS (SELECT 1 FROM file_folders WHERE user_id = ${userId}) AND ${when}`)
}

/**
 * Run by cron: continues what requests left. Each account gets a turn, however much others delete. A failing removal
 * waits longer each time, and delays no one else.
 */
export async function continueRemovals(ctx: Context): Promise<void> {
  if (!ctx.bucket) return
  const until = ctx.now() + TRIGGER_MS
  const metered = meterCalls(ctx)
  for (let rounds = 0; rounds < ROUNDS_PER_TRIGGER; ) {
    const turns = await listTurns(ctx, ROUNDS_PER_TRIGGER - rounds)
    if (turns.length === 0) return
    for (const row of turns) {
      if (ctx.now() > until || metered.isSpent()) return
      rounds++
      if (await take(ctx, row))
        await continueRemoval(metered.ctx, row, { calls: PAGES_AHEAD, most: MOST_PAGES }).catch((error) =>
          postpone(ctx, row, error),
        )
    }
  }
}

/** One per account, starting with the account that has waited longest. */
function listTurns(ctx: Context, most: number): Promise<FileRemovalRow[]> {
  const turns = ctx.db
    .select({ id: sql`max(id)` })
    .from(fileRemovals)
    .where(and(isNull(fileRemovals.doneAt), lte(fileRemovals.nextAt, ctx.now())))
    .groupBy(fileRemovals.userId)
    .orderBy(sql`min(next_at)`)
    .limit(most)
  return ctx.db.select().from(fileRemovals).where(inArray(fileRemovals.id, turns)).orderBy(asc(fileRemovals.nextAt))
}

/** Its account's other removals wait for the next turn as well. @returns false if another program has it */
async function take(ctx: Context, { id, userId }: FileRemovalRow): Promise<boolean> {
  const now = ctx.now()
  const [taken] = await writeBatch(ctx.db, [
    ctx.db
      .update(fileRemovals)
      .set({ nextAt: now + LEASE_MS })
      .where(and(eq(fileRemovals.id, id), isNull(fileRemovals.doneAt), lte(fileRemovals.nextAt, now))),
    ctx.db
      .update(fileRemovals)
      .set({ nextAt: now })
      .where(and(eq(fileRemovals.userId, userId), isNull(fileRemovals.doneAt), lte(fileRemovals.nextAt, now))),
  ])
  return taken?.rowsAffected === 1
}

async function postpone(ctx: Context, row: FileRemovalRow, error: unknown): Promise<void> {
  const failures = row.failures + 1
  const pause = Math.min(2 ** failures * MINUTE_MS, HOUR_MS)
  ctx.log('removal_failed', { removalId: row.id, userId: row.userId, failures }, error)
  await ctx.db
    .update(fileRemovals)
    .set({ failures, nextAt: ctx.now() + pause })
    .where(eq(fileRemovals.id, row.id))
  if (failures < QUIET_FAILURES) return
  await alertOperator(ctx, {
    matter: `files_not_deleted:${row.userId}`,
    subject: "Files that someone deleted can't be removed from the bucket",
    sentences: [
      `We have tried ${failures} times to remove files of ${row.userId}, and try again at least once an hour. Other accounts don't wait for this.`,
      'The log names the cause: search it for removal_failed.',
    ],
    fields: { userId: row.userId, removalId: row.id },
  })
}

/** Run by cron: deletes old finished rows, as fast as new ones arrive. */
export async function forgetRemovals(ctx: Context): Promise<void> {
  await ctx.db.delete(fileRemovals).where(lte(fileRemovals.doneAt, ctx.now() - TRACE_DAYS * DAY_MS))
}
