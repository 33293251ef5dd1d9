import { eq } from 'drizzle-orm'
import { type FileFolderRow, fileFolders } from '../../../db/schema/files.ts'
import { AppError } from '../../domain/error.ts'
import { FILES_UNREACHABLE, faultOfPath, toNewPath } from '../../domain/files.ts'
import { newFolderPrefix } from '../crypto/id.ts'
import type { Bucket } from '../ports/bucket.ts'
import type { Context } from '../runtime/context.ts'

const RETRY_AFTER_S = 5

/** @throws not_found where there are no files */
export function requireBucket({ bucket }: Pick<Context, 'bucket'>): Bucket {
  if (!bucket) throw new AppError('not_found', 'This site has no files.')
  return bucket
}

/** The first page that isn't empty: S3 may send empty ones before it. The last page if there is nothing. */
export async function firstPage(bucket: Bucket, wanted: Parameters<Bucket['list']>[0]) {
  let page = await bucket.list(wanted)
  while (page.files.length + page.prefixes.length === 0 && page.next !== null)
    page = await bucket.list({ ...wanted, after: page.next })
  return page
}

/** Not next to the S3 adapter, which loads only when needed. */
export function unreachable(cause: unknown): AppError {
  return new AppError('unavailable', FILES_UNREACHABLE, { cause, retryable: true, retryAfter: RETRY_AFTER_S })
}

/** Someone's own folder, made at its first use. */
export async function openFolder(ctx: Pick<Context, 'db' | 'now'>, userId: string): Promise<FileFolderRow> {
  const found = await findFolder(ctx, userId)
  if (found) return found
  const row = { userId, prefix: newFolderPrefix(), createdAt: ctx.now() }
  await ctx.db.insert(fileFolders).values(row).onConflictDoNothing()
  const made = await findFolder(ctx, userId)
  if (!made) throw new Error(`The folder of ${userId} was not stored`)
  return made
}

export async function findFolder(ctx: Pick<Context, 'db'>, userId: string): Promise<FileFolderRow | null> {
  const [row] = await ctx.db.select().from(fileFolders).where(eq(fileFolders.userId, userId))
  return row ?? null
}

/** Where their files are: what the page shows, and what a machine mounts as /data. Ends in a slash. */
export function filesPrefix({ prefix }: Pick<FileFolderRow, 'prefix'>): string {
  return `${prefix}/files/`
}

export function keyOf(folder: Pick<FileFolderRow, 'prefix'>, path: string): string {
  return filesPrefix(folder) + path
}

/** A path that someone names to read or delete: anything that a program may have written. @throws invalid */
export function requirePath(path: string): string {
  const fault = faultOfPath(path)
  if (fault) throw new AppError('invalid', fault, { field: 'path' })
  return path
}

/** A path that someone writes to, in its one spelling. @throws invalid */
export function requireNewPath(given: string): string {
  const { path, fault } = toNewPath(given)
  if (fault) throw new AppError('invalid', fault, { field: 'path' })
  return path
}
