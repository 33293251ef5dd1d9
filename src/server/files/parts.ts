import { and, desc, eq, gt, isNotNull, sql } from 'drizzle-orm'
import { type FileRemovalRow, type FileUploadRow, fileUploads } from '../../../db/schema/files.ts'
import { AppError } from '../../domain/error.ts'
import { lengthOfPart, partCountOf, partSizeOf, partsLeft } from '../../domain/file-parts.ts'
import { changedMeanwhile, MAX_FILE_BYTES, sizeText, typeOfFile } from '../../domain/files.ts'
import { DAY_MS, MINUTE_MS, toIso } from '../../domain/instant.ts'
import type { PartLinks, PartsUpload, UnfinishedUpload } from '../../domain/wire/files.ts'
import { limitPerson } from '../limits/limits.ts'
import type { Part, StoredFile } from '../ports/bucket.ts'
import type { Context } from '../runtime/context.ts'
import { keyOf, openFolder, requireBucket, requireNewPath } from './folder.ts'
import { discard, enterUpload, requireFit } from './open-uploads.ts'
import { isGoing, openRemovals } from './removals.ts'
import { refuseFileAsFolder, refuseFolderAsFile } from './taken.ts'
import { UPLOAD_DAYS } from './unfinished.ts'
import { requireSize } from './upload.ts'
import { getUsageNow, openQuery } from './usage.ts'

/** Long enough for one part on a slow line. */
const LINK_SECONDS = 60 * 60
const MOST_LINKS = 100
/** How long an upload counts that we entered but never began. */
const ENTERED_MS = 5 * MINUTE_MS
const MOST_SHOWN = 50

/**
 * Begins a multipart upload, or continues the open one for the same path, size, and version: then `done` lists the
 * parts that the bucket has. We enter it first. If we die before storing the bucket's ID, the bucket's own rule drops
 * the upload.
 * @throws invalid, also if it doesn't fit; conflict, too_many, unavailable
 */
export async function beginParts(
  ctx: Context,
  userId: string,
  input: { path: string; size: number; version: string },
): Promise<PartsUpload> {
  await limitPerson(ctx, 'files_change', userId)
  const bucket = requireBucket(ctx)
  const path = requireNewPath(input.path)
  const size = requireSize(input.size)
  if (size === 0) throw new AppError('invalid', 'An empty file has no parts. Send it whole.', { field: 'size' })
  if (size > MAX_FILE_BYTES)
    throw new AppError('invalid', `A file can have ${sizeText(MAX_FILE_BYTES)}.`, { field: 'size' })
  const folder = await openFolder(ctx, userId)
  const key = keyOf(folder, path)
  const findOpen = async () => {
    const isSame = and(eq(fileUploads.path, path), eq(fileUploads.size, size), eq(fileUploads.version, input.version))
    const rows = await ctx.db
      .select()
      .from(fileUploads)
      .where(and(isOpenOf(ctx, userId), isSame))
    return rows.at(-1)
  }
  const open = await findOpen()
  if (open?.uploadId) {
    const parts = await bucket.listParts(key, open.uploadId)
    if (parts)
      return toWire(
        open,
        parts.filter((one) => isOwn(size, one)).map(({ part }) => part),
      )
    await ctx.db.delete(fileUploads).where(eq(fileUploads.id, open.id))
  }
  const [existing, removals] = await Promise.all([
    bucket.find(key),
    openRemovals(ctx, userId),
    refuseFileAsFolder(bucket, folder, path),
    refuseFolderAsFile(bucket, folder, path),
  ])
  const wish = { path, size, existing, replaces: etagOf(removals, path, existing), version: input.version }
  const entered = await enterUpload(ctx, folder, { ...wish, expiresAt: ctx.now() + ENTERED_MS })
  const begun = {
    uploadId: await bucket.startParts(key, typeOfFile(path)),
    expiresAt: ctx.now() + UPLOAD_DAYS * DAY_MS,
  }
  const { rowsAffected } = await ctx.db
    .update(fileUploads)
    .set(begun)
    .where(
      sql`id = ${entered.id} AND NOT EXISTS (SELECT 1 FROM file_uploads AS other WHERE other.user_id = ${userId}
        AND other.path = ${path} AND other.size = ${size} AND other.version = ${input.version}
        AND other.upload_id IS NOT NULL AND other.expires_at > ${ctx.now()})`,
    )
  if (rowsAffected === 1) return toWire({ ...entered, ...begun }, [])
  // The same call, sent at the same time, was faster: one upload is enough.
  await discard(ctx, { ...entered, ...begun })
  const first = await findOpen()
  if (!first) throw unknown()
  return toWire(first, [])
}

/**
 * Links for up to 100 parts. Each takes exactly its part's length, as often as needed.
 * @throws no_plan, plan_unpaid, suspended, held, invalid, also if it no longer fits; not_found, too_many, unavailable
 */
export async function signParts(ctx: Context, userId: string, id: string, wanted: number[]): Promise<PartLinks> {
  await limitPerson(ctx, 'files_change', userId)
  const bucket = requireBucket(ctx)
  const row = await getOpen(ctx, userId, id)
  const { path, size, uploadId } = row
  const count = partCountOf(size)
  if (wanted.length === 0 || wanted.length > MOST_LINKS)
    throw new AppError('invalid', `Name 1 to ${MOST_LINKS} parts.`, { field: 'parts' })
  if (!wanted.every((part) => Number.isInteger(part) && part >= 1 && part <= count))
    throw new AppError('invalid', `This upload has parts 1 to ${count}.`, { field: 'parts' })
  const folder = await openFolder(ctx, userId)
  const key = keyOf(folder, path)
  const [existing, usage] = await Promise.all([bucket.find(key), getUsageNow(ctx, folder)])
  await requireFit(ctx, row, existing, usage)
  let until = ctx.now() + LINK_SECONDS * 1000
  // Before there is a link: the credentials that sign it take parts of any size.
  await openQuery(ctx, userId, until)
  const parts = await Promise.all(
    wanted.map(async (part) => {
      const { expiresAt, ...signed } = await bucket.signPart(key, uploadId, {
        part,
        size: lengthOfPart(size, part),
        seconds: LINK_SECONDS,
      })
      until = Math.min(until, expiresAt)
      return { part, size: lengthOfPart(size, part), ...signed }
    }),
  )
  return { parts, expires_at: toIso(until) }
}

/**
 * Makes the file from its parts, unless the path has changed since the upload began: then the newer file stays, and the
 * upload is over. Safe to repeat: the second time finds the file.
 * @throws no_plan, plan_unpaid, suspended, held; invalid if parts are missing or it no longer fits; not_found,
 * conflict, too_many, unavailable
 */
export async function completeParts(ctx: Context, userId: string, id: string): Promise<{ path: string; size: number }> {
  await limitPerson(ctx, 'files_change', userId)
  const bucket = requireBucket(ctx)
  const row = await findUpload(ctx, userId, id)
  if (!row) throw unknown()
  const { path, size, uploadId, replaces } = row
  if (row.endedAt !== null) return { path, size }
  if (uploadId === null || row.expiresAt <= ctx.now()) throw unknown()
  const folder = await openFolder(ctx, userId)
  const key = keyOf(folder, path)
  // Count first. Otherwise, a file that a parallel call is completing would count both as stored and as still to come.
  const usage = await getUsageNow(ctx, folder)
  const [parts, found, removals] = await Promise.all([
    bucket.listParts(key, uploadId),
    bucket.find(key),
    openRemovals(ctx, userId),
  ])
  if (parts === null) {
    // An earlier try may have worked although its answer was lost. The file to be replaced isn't a sign of that.
    if (!isItsFile(row, found)) throw unknown()
  } else {
    // A program with credentials may have sent other parts to this upload.
    const own = parts.filter((one) => isOwn(size, one))
    const missing = partsLeft(
      size,
      own.map(({ part }) => part),
    )
    if (missing.length > 0)
      throw new AppError('invalid', `${missing.length} of ${partCountOf(size)} parts are missing. Send them first.`)
    // The bucket decides. We look first in case it doesn't support conditions.
    const isAsSeen = etagOf(removals, path, found) === replaces
    if (isAsSeen) {
      await requireFit(ctx, row, found, usage)
      await openQuery(ctx, userId, ctx.now() + MINUTE_MS)
    }
    const make = (over: string | null) => bucket.completeParts(key, uploadId, own, over)
    const etag = found?.etag ?? null
    // A file that is being deleted may go between our look and the bucket's.
    const isMade = isAsSeen && ((await make(etag)) || (etag !== replaces && (await make(replaces))))
    if (!isMade && !(await isOtherwiseMade(ctx, row, key))) {
      // A trigger discards it.
      await ctx.db.update(fileUploads).set({ expiresAt: ctx.now() }).where(eq(fileUploads.id, id))
      throw new AppError('conflict', changedMeanwhile(path))
    }
  }
  const now = ctx.now()
  await ctx.db.update(fileUploads).set({ uploadId: null, endedAt: now, expiresAt: now }).where(eq(fileUploads.id, id))
  return { path, size }
}

/** Of what an upload may replace. Nobody sees a file that is being deleted anymore, so an upload over it replaces nothing. */
const etagOf = (removals: FileRemovalRow[], path: string, found: StoredFile | null): string | null =>
  found === null || isGoing(removals, path, found.modifiedAt) ? null : found.etag

/** It isn't the file to be replaced, and has as many parts as we sent: a file uploaded in one piece has none. */
const isItsFile = ({ size, replaces }: FileUploadRow, found: StoredFile | null) =>
  found?.size === size && found.etag !== replaces && found.etag.endsWith(`-${partCountOf(size)}"`)

/** Whether another call has completed the file in the meantime. @throws not_found if the upload ended otherwise */
async function isOtherwiseMade(ctx: Context, { id, userId, uploadId }: FileUploadRow, key: string): Promise<boolean> {
  const row = await findUpload(ctx, userId, id)
  if (!row) throw unknown()
  if (row.endedAt !== null) return true
  const bucket = requireBucket(ctx)
  const parts = await bucket.listParts(key, uploadId ?? '')
  if (parts !== null) return false
  if (!isItsFile(row, await bucket.find(key))) throw unknown()
  return true
}

/** Forgets an upload and the parts that have arrived. @throws not_found, unavailable */
export async function abortParts(ctx: Context, userId: string, id: string): Promise<{ path: string }> {
  const row = await getOpen(ctx, userId, id)
  await discard(ctx, row)
  return { path: row.path }
}

/** Unfinished uploads, newest first. */
export async function listUnfinished(ctx: Context, userId: string): Promise<UnfinishedUpload[]> {
  requireBucket(ctx)
  const rows = await ctx.db
    .select()
    .from(fileUploads)
    .where(isOpenOf(ctx, userId))
    .orderBy(desc(fileUploads.createdAt))
    .limit(MOST_SHOWN)
  return rows.map(({ id, path, size, version, createdAt, expiresAt }) => ({
    id,
    path,
    size,
    version: version ?? '',
    created_at: toIso(createdAt),
    expires_at: toIso(expiresAt),
  }))
}

type OpenUpload = FileUploadRow & { uploadId: string }

async function getOpen(ctx: Context, userId: string, id: string): Promise<OpenUpload> {
  const row = await findUpload(ctx, userId, id)
  if (!row?.uploadId || row.expiresAt <= ctx.now()) throw unknown()
  return row as OpenUpload
}

async function findUpload(ctx: Context, userId: string, id: string): Promise<FileUploadRow | undefined> {
  const [row] = await ctx.db
    .select()
    .from(fileUploads)
    .where(and(eq(fileUploads.id, id), eq(fileUploads.userId, userId)))
  return row
}

function unknown(): AppError {
  return new AppError('not_found', 'This upload has ended. Start it again.')
}

const isOpenOf = (ctx: Context, userId: string) =>
  and(eq(fileUploads.userId, userId), isNotNull(fileUploads.uploadId), gt(fileUploads.expiresAt, ctx.now()))

/** A part of this upload, complete. */
const isOwn = (size: number, one: Part) => one.size === lengthOfPart(size, one.part)

function toWire({ id, path, size, expiresAt }: FileUploadRow, done: number[]): PartsUpload {
  return { id, path, size, part_size: partSizeOf(size), parts: partCountOf(size), done, expires_at: toIso(expiresAt) }
}
