import { and, asc, eq, inArray, isNull, lte, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { type FileRemovalRow, fileRemovals } from '../../../db/schema.ts'
import { removalOf } from '../../domain/file-keys.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/instant.ts'
import { TRACE_DAYS } from '../../domain/retention.ts'
import type { Context } from '../context.ts'
import { newId } from '../id.ts'
import { alertOperator } from '../mail/alerts.ts'
import type { Bucket } from '../ports/bucket.ts'
import { findFolder, requireBucket } from './folder.ts'
import { endUploads } from './unfinished.ts'
import { openQuery } from './usage.ts'

/** Pages of 1,000 that we list to say how much there is. */
const PAGES_AHEAD = 8
/** Of files that came later, before one that must go. */
const MOST_PAGES = 200
/** Longer than one round can take. */
export const LEASE_MS = 5 * MINUTE_MS
const ROUNDS_PER_TRIGGER = 30
const TRIGGER_MS = MINUTE_MS
/** How often it may fail, after longer and longer pauses, before the operator hears of it. */
const QUIET_FAILURES = 3

/** What goes from someone's files right now. */
export function openRemovals(ctx: Pick<Context, 'db'>, userId: string): Promise<FileRemovalRow[]> {
  return ctx.db
    .select()
    .from(fileRemovals)
    .where(and(eq(fileRemovals.userId, userId), isNull(fileRemovals.doneAt)))
    .orderBy(asc(fileRemovals.acceptedAt))
}

/** Whether this is deleted, so that nobody sees it anymore. A folder's path ends in a slash. */
export function isGoing(removals: FileRemovalRow[], path: string, modifiedAt = 0): boolean {
  return removals.some(({ place, acceptedAt }) => `files/${path}`.startsWith(place) && modifiedAt <= acceptedAt)
}

/** Writes down that all of this place goes. Again while it is under way: what was written meanwhile goes as well. */
export function removalQuery(
  ctx: Pick<Context, 'db'>,
  row: Pick<FileRemovalRow, 'userId' | 'place' | 'acceptedAt' | 'nextAt' | 'filesLeft'>,
  when = sql`1`,
) {
  const { userId, place, acceptedAt, nextAt, filesLeft } = row
  return ctx.db.run(sql`INSERT INTO file_removals (id, user_id, place, accepted_at, next_at, files_left)
    SELECT ${newId('rem')}, ${userId}, ${place}, ${acceptedAt}, ${nextAt}, ${filesLeft} WHERE ${when}
    ON CONFLICT (user_id, place) WHERE done_at IS NULL DO UPDATE SET
      accepted_at = max(accepted_at, excluded.accepted_at), files_left = max(files_left, excluded.files_left)`)
}

/** Everything of theirs, for good. A trigger removes it. */
export function removeAllQuery(ctx: Pick<Context, 'db' | 'now'>, userId: string, when = sql`1`) {
  const row = { userId, place: '', acceptedAt: ctx.now(), nextAt: ctx.now(), filesLeft: 0 }
  return removalQuery(ctx, row, sql`EXISTS (SELECT 1 FROM file_folders WHERE user_id = ${userId}) AND ${when}`)
}

/** Files below a place. All of them were written by `at`, by the bucket's clock, which may be ahead of ours. */
export type Found = { keys: string[]; bytes: number; at: number; isAll: boolean }

/** What was there at that time, as far as one look reaches. */
export async function lookBelow(bucket: Bucket, prefix: string, acceptedAt = Infinity): Promise<Found> {
  const due: Found = { keys: [], bytes: 0, at: 0, isAll: false }
  let after: string | null = null
  for (let pages = 0; pages < PAGES_AHEAD || (due.keys.length === 0 && pages < MOST_PAGES); pages++) {
    const page = await bucket.list({ prefix, after })
    due.at ||= Math.max(page.at, ...page.files.map((file) => file.modifiedAt))
    for (const { key, size, modifiedAt } of page.files)
      if (modifiedAt <= acceptedAt) {
        due.keys.push(key)
        due.bytes += size
      }
    after = page.next
    if (after === null) return { ...due, isAll: true }
  }
  return due
}

/**
 * One look, and the removal of what so many calls can remove. What is left in the bucket is what is left to do, so it
 * may die at any point and begin again. It is done only once a look finds nothing, and gives up if it finds what the
 * round before removed.
 */
export async function continueRemoval(
  ctx: Context,
  row: FileRemovalRow,
  { calls, found }: { calls: number; found?: Found },
): Promise<FileRemovalRow> {
  const bucket = requireBucket(ctx)
  const folder = await findFolder(ctx, row.userId)
  if (!folder) return finish(ctx, row, null)
  const prefix = `${folder.prefix}/${row.place}`
  // Nobody continues the uploads of an account that is closed, or has no plan.
  if (row.place === '' && !(await endUploads(ctx, `${folder.prefix}/`, row.acceptedAt))) return again(ctx, row)
  const { keys } = found ?? (await lookBelow(bucket, prefix, row.acceptedAt))
  if (row.removedKey !== null && keys.includes(row.removedKey)) return finish(ctx, row, row.removedKey)
  const removed = removable(keys, calls)
  if (removed.length === 0) return finish(ctx, row, keys[0] ?? null)
  for (let from = 0; from < removed.length; from += 1000) await bucket.remove(removed.slice(from, from + 1000))
  const progress = { removedKey: removed[0] ?? null, filesLeft: keys.length - removed.length }
  await ctx.db
    .update(fileRemovals)
    .set({ ...progress, failures: 0, nextAt: ctx.now() })
    .where(eq(fileRemovals.id, row.id))
  return { ...row, ...progress }
}

async function again(ctx: Context, row: FileRemovalRow): Promise<FileRemovalRow> {
  await ctx.db.update(fileRemovals).set({ nextAt: ctx.now() }).where(eq(fileRemovals.id, row.id))
  return row
}

/** A thousand in one call, and one call for each that XML can't hold; without those that no call can name. */
function removable(keys: string[], calls: number): string[] {
  const alone = keys.filter((key) => removalOf(key) === 'alone')
  const together = keys
    .filter((key) => removalOf(key) === 'together')
    .slice(0, 1000 * (alone.length > 0 ? calls - 1 : calls))
  return [...together, ...alone.slice(0, calls - Math.ceil(together.length / 1000))]
}

/** @param stuckKey what is still there, so that we give up */
async function finish(ctx: Context, row: FileRemovalRow, stuckKey: string | null): Promise<FileRemovalRow> {
  const end = { doneAt: ctx.now(), stuckKey, filesLeft: 0 }
  // Both or neither: nothing else would count again.
  await writeBatch(ctx.db, [
    ctx.db.update(fileRemovals).set(end).where(eq(fileRemovals.id, row.id)),
    openQuery(ctx, row.userId, ctx.now()),
  ])
  if (stuckKey !== null)
    await alertOperator(ctx, {
      matter: `files_stuck:${row.userId}`,
      subject: "A deleted file is still in the bucket, and we don't try again",
      sentences: [
        `The bucket said that it removed a file of ${row.userId}, and lists it again. In the table file_removals, the row ${row.id} names its key.`,
        'Delete it with another program, for instance the AWS command line, and see why: docs/operations.md, "Files".',
      ],
      fields: { userId: row.userId, removalId: row.id },
    })
  return { ...row, ...end }
}

/**
 * Run by cron: continues what requests left. Each account has its turn, however much others delete; what fails waits
 * longer each time, and keeps nobody.
 */
export async function continueRemovals(ctx: Context): Promise<void> {
  if (!ctx.bucket) return
  const until = ctx.now() + TRIGGER_MS
  for (let rounds = 0; rounds < ROUNDS_PER_TRIGGER; ) {
    const turns = await listTurns(ctx, ROUNDS_PER_TRIGGER - rounds)
    if (turns.length === 0) return
    for (const row of turns) {
      if (ctx.now() > until) return
      rounds++
      if (await take(ctx, row))
        await continueRemoval(ctx, row, { calls: PAGES_AHEAD }).catch((error) => postpone(ctx, row, error))
    }
  }
}

/** One of each account's, the account first that has waited longest. */
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

/** Run by cron: forgets what is long over, and for one release, what the version before kept to undo deletions. */
export async function forgetRemovals(ctx: Context): Promise<void> {
  const over = lte(fileRemovals.doneAt, ctx.now() - TRACE_DAYS * DAY_MS)
  await ctx.db
    .delete(fileRemovals)
    .where(inArray(fileRemovals.id, ctx.db.select({ id: fileRemovals.id }).from(fileRemovals).where(over).limit(1000)))
  await writeBatch(ctx.db, [
    ctx.db.run(sql`INSERT INTO file_removals (id, user_id, place, accepted_at, next_at)
      SELECT 'rem_' || min(id), user_id, 'trash/', ${ctx.now()}, ${ctx.now()} FROM file_deletions WHERE true
      GROUP BY user_id ON CONFLICT DO NOTHING`),
    ctx.db.run(sql`DELETE FROM file_deletions`),
    ctx.db.run(sql`DELETE FROM file_moves`),
  ])
}
