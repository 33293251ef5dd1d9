import { and, eq, isNull, sql } from 'drizzle-orm'
import { type FileRemovalRow, fileRemovals } from '../../../db/schema/files.ts'
import { AppError } from '../../domain/error.ts'
import { inText, toFolder } from '../../domain/file-names.ts'
import { FILE_NOT_FOUND, FOLDER_NOT_FOUND } from '../../domain/files.ts'
import { MINUTE_MS } from '../../domain/instant.ts'
import type { FolderSize } from '../../domain/wire/files.ts'
import { limitPerson } from '../limits/limits.ts'
import type { Context } from '../runtime/context.ts'
import { continueRemoval, PAGES_AHEAD, type Page, writtenBy } from './continue-removal.ts'
import { findFolder, firstPage, keyOf, requireBucket, requirePath } from './folder.ts'
import { LEASE_MS, openRemovals, removalQuery } from './removals.ts'
import { openQuery } from './usage.ts'

/** With the look before, a dozen calls to the bucket. A trigger continues. */
const CALLS = 4
/** Per account: each list loads them all, and triggers continue 30 a minute for everyone. */
const MOST_OPEN = 100
const TRY_AGAIN_S = 60

export type Deleted = { path: string; filesLeft: number }

/**
 * Deletes one file for good, and nothing else, even if a folder has the same name. If the path ends in a slash, deletes
 * that folder: what is in it now, not what is written later. A large folder's files are deleted after the answer.
 * @param onlyFile a file whose name ends in a slash, as some programs write them
 * @throws invalid, not_found, too_many, also while many deletions are under way; unavailable; provider_failed if it's
 * still there
 */
export async function deleteFiles(
  ctx: Context,
  userId: string,
  { path: given, onlyFile = false }: { path: string; onlyFile?: boolean },
): Promise<Deleted> {
  const path = requirePath(given)
  if (path === '' && !onlyFile) throw new AppError('invalid', 'Name the file or folder to delete.', { field: 'path' })
  await limitPerson(ctx, 'files_change', userId)
  const isFolder = path.endsWith('/') && !onlyFile
  const folder = await findFolder(ctx, userId)
  if (!folder) throw new AppError('not_found', isFolder ? FOLDER_NOT_FOUND : FILE_NOT_FOUND)
  const key = keyOf(folder, path)
  if (!isFolder) await deleteFile(ctx, userId, { key, path })
  return { path, filesLeft: isFolder ? await deleteFolder(ctx, userId, { key, path }) : 0 }
}

type Named = { key: string; path: string }

async function deleteFile(ctx: Context, userId: string, { key, path }: Named): Promise<void> {
  const bucket = requireBucket(ctx)
  if (!(await bucket.find(key))) throw new AppError('not_found', FILE_NOT_FOUND)
  // First: if this request dies in between, the files are still counted.
  await openQuery(ctx, userId, ctx.now() + MINUTE_MS)
  await bucket.remove([key])
  if (await bucket.find(key)) throw stillThere(path)
}

/** @returns how many files are left, at least */
async function deleteFolder(ctx: Context, userId: string, { key, path }: Named): Promise<number> {
  const first = await firstPage(requireBucket(ctx), { prefix: key })
  const place = `files/${path}`
  if (first.files.length === 0) {
    const open = (await openRemovals(ctx, userId)).find((row) => row.place === place)
    if (!open) throw new AppError('not_found', FOLDER_NOT_FOUND)
    return open.filesLeft
  }
  const nextAt = ctx.now() + LEASE_MS
  const acceptedAt = writtenBy(first, ctx.now())
  const wanted = { userId, place, acceptedAt, nextAt, filesLeft: first.files.length }
  const { rowsAffected } = await removalQuery(ctx, wanted, mayOpen(userId, place))
  if (rowsAffected === 0)
    throw new AppError('too_many', `${MOST_OPEN} folders are being deleted. Wait until some of them are gone.`, {
      retryAfter: TRY_AGAIN_S,
    })
  const [row] = await ctx.db
    .select()
    .from(fileRemovals)
    .where(and(eq(fileRemovals.userId, userId), eq(fileRemovals.place, place), isNull(fileRemovals.doneAt)))
  // From here on it counts as deleted: if the bucket stops answering now, a trigger continues.
  const after = row && (await removeNow(ctx, row, first))
  if (after?.stuckKey) throw stillThere(path)
  return after?.filesLeft ?? 0
}

/** What is already being deleted may be deleted again. */
const mayOpen = (userId: string, place: string) => sql`((SELECT count(*) FROM file_removals
  WHERE user_id = ${userId} AND done_at IS NULL AND place != ${place}) < ${MOST_OPEN})`

async function removeNow(ctx: Context, accepted: FileRemovalRow, first: Page): Promise<FileRemovalRow> {
  let row = accepted
  try {
    row = await continueRemoval(ctx, row, { calls: CALLS, first })
  } catch (error) {
    ctx.log('removal_interrupted', { removalId: row.id, userId: row.userId }, error)
  }
  return row.doneAt === null ? { ...row, filesLeft: Math.max(1, row.filesLeft) } : row
}

function stillThere(path: string): AppError {
  return new AppError(
    'provider_failed',
    `We couldn't delete all of ${inText(path)}: the bucket still has it. Try again, or write to us.`,
  )
}

/** What a folder contains, to ask before deleting it. @throws invalid, not_found, unavailable */
export async function sizeUpFolder(ctx: Context, userId: string, given: string): Promise<FolderSize> {
  const path = toFolder(requirePath(given))
  await limitPerson(ctx, 'files_size', userId)
  const folder = await findFolder(ctx, userId)
  const size = { path, files: 0, bytes: 0, complete: folder === null }
  for (let pages = 0, after: string | null = null; folder && !size.complete && pages < PAGES_AHEAD; pages++) {
    const page: Page = await requireBucket(ctx).list({ prefix: keyOf(folder, path), after })
    size.files += page.files.length
    for (const file of page.files) size.bytes += file.size
    after = page.next
    size.complete = after === null
  }
  if (size.files === 0) throw new AppError('not_found', FOLDER_NOT_FOUND)
  return size
}
