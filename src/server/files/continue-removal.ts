import { and, eq, isNull, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { type FileRemovalRow, fileRemovals } from '../../../db/schema/files.ts'
import { removalOf } from '../../domain/file-keys.ts'
import { alertOperator } from '../mail/alerts.ts'
import type { Bucket } from '../ports/bucket.ts'
import type { Context } from '../runtime/context.ts'
import { callsFor } from './call-budget.ts'
import { findFolder, requireBucket } from './folder.ts'
import { endUploads } from './unfinished.ts'
import { openQuery } from './usage.ts'

/** The most pages of 1,000 that we list to say how much there is. */
export const PAGES_AHEAD = 8

/** The most finished rows kept per account, so that nobody can fill the table or an export of their data. */
const MOST_KEPT = 300

export type Page = Awaited<ReturnType<Bucket['list']>>

/**
 * A moment by which everything on this page had been written, by the bucket's clock, which may be ahead of ours. The
 * bucket rounds down to whole seconds; our clock is finer.
 */
export const writtenBy = ({ at, files }: Page, now: number) =>
  Math.max(at, Math.min(now, at + 999), ...files.map((file) => file.modifiedAt))

/**
 * One round: lists a page, removes those files on it that were there when the removal was accepted, and repeats. That
 * leaves hardly any time to replace a file in between. The bucket itself shows what is left to do, so this may die at
 * any point and start again. It's done once a whole pass finds nothing, and gives up if a pass finds what the previous
 * one removed.
 * @param calls how many calls may remove
 * @param pages how many to list; pages beyond the calls are only counted
 * @param most how many empty pages to list before one that has something
 * @param first the first page, just listed
 */
export async function continueRemoval(
  ctx: Context,
  row: FileRemovalRow,
  { calls, pages = PAGES_AHEAD, most = pages, first }: { calls: number; pages?: number; most?: number; first?: Page },
): Promise<FileRemovalRow> {
  const bucket = requireBucket(ctx)
  const folder = await findFolder(ctx, row.userId)
  if (!folder) return finish(ctx, row, null)
  const prefix = `${folder.prefix}/${row.place}`
  // Nobody continues the uploads of an account that is closed, or has no plan.
  if (row.place === '' && !(await endUploads(ctx, `${folder.prefix}/`, row.acceptedAt))) return again(ctx, row)
  let { removedKey } = row
  let pass = { left: 0, removedKey: null as string | null, stuckKey: null as string | null }
  let callsLeft = calls
  let after: string | null = null
  let hasRemoved = false
  for (let listed = 0; listed < (hasRemoved || pass.left > 0 ? pages : most); listed++) {
    const page: Page = (listed === 0 && first) || (await bucket.list({ prefix, after }))
    const due = page.files.filter(({ modifiedAt }) => modifiedAt <= row.acceptedAt).map(({ key }) => key)
    if (removedKey !== null && due.includes(removedKey)) return finish(ctx, row, removedKey)
    const removed = removable(due, callsLeft)
    if (removed.length > 0) await bucket.remove(removed)
    callsLeft -= callsFor(removed)
    hasRemoved ||= removed.length > 0
    pass = {
      left: pass.left + due.length - removed.length,
      removedKey: pass.removedKey ?? removed[0] ?? null,
      stuckKey: pass.stuckKey ?? due.find((key) => removalOf(key) === null) ?? null,
    }
    after = page.next
    if (after !== null) continue
    if (pass.removedKey === null && pass.left === 0) return finish(ctx, row, null)
    if (pass.left > 0) break
    removedKey = pass.removedKey
    pass = { left: 0, removedKey: null, stuckKey: null }
  }
  if (!hasRemoved && pass.stuckKey !== null) return finish(ctx, row, pass.stuckKey)
  if (!hasRemoved && most > pages) throw new Error(`Nothing to remove in ${most} pages, and there are more`)
  const progress = { removedKey: pass.removedKey ?? removedKey, filesLeft: pass.left }
  const { rowsAffected } = await ctx.db
    .update(fileRemovals)
    .set({ ...progress, failures: 0, nextAt: ctx.now() })
    .where(isAsAccepted(row))
  return rowsAffected === 1 ? { ...row, ...progress } : again(ctx, row)
}

/** Unless someone deleted this place again since we read it: then more must go than we saw. */
const isAsAccepted = ({ id, acceptedAt }: FileRemovalRow) =>
  and(eq(fileRemovals.id, id), eq(fileRemovals.acceptedAt, acceptedAt), isNull(fileRemovals.doneAt))

async function again(ctx: Context, row: FileRemovalRow): Promise<FileRemovalRow> {
  await ctx.db.update(fileRemovals).set({ nextAt: ctx.now() }).where(eq(fileRemovals.id, row.id))
  return row
}

/** A page's keys by call: one call for all that XML can hold, and one each for the others. Skips keys that no call can name. */
function removable(keys: string[], calls: number): string[] {
  const [together, alone] = (['together', 'alone'] as const).map((way) => keys.filter((key) => removalOf(key) === way))
  if (calls === 0 || !together || !alone) return []
  return [...together, ...alone.slice(0, calls - callsFor(together))]
}

/** Deletes the oldest finished rows beyond MOST_KEPT. */
function forgetOlderQuery(ctx: Context, userId: string) {
  const isOver = sql`user_id = ${userId} AND done_at IS NOT NULL`
  return ctx.db.run(sql`DELETE FROM file_removals WHERE ${isOver} AND accepted_at <=
    (SELECT accepted_at FROM file_removals WHERE ${isOver} ORDER BY accepted_at DESC LIMIT 1 OFFSET ${MOST_KEPT})`)
}

/** @param stuckKey a key that is still there, so we give up */
async function finish(ctx: Context, row: FileRemovalRow, stuckKey: string | null): Promise<FileRemovalRow> {
  const end = { doneAt: ctx.now(), stuckKey, filesLeft: 0 }
  // In one batch: nothing else would make the files count again.
  const [ended] = await writeBatch(ctx.db, [
    ctx.db.update(fileRemovals).set(end).where(isAsAccepted(row)),
    openQuery(ctx, row.userId, ctx.now()),
    forgetOlderQuery(ctx, row.userId),
  ])
  if (ended?.rowsAffected !== 1) return again(ctx, row)
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
