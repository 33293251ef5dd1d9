import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { type FileUploadRow, fileUploads } from '../../../db/schema/files.ts'
import type { StoredFile } from '../ports/bucket.ts'
import type { Context } from '../runtime/context.ts'

/** Someone's open links, the oldest first. */
export function openLinks(ctx: Pick<Context, 'db' | 'now'>, userId: string): Promise<FileUploadRow[]> {
  return ctx.db
    .select()
    .from(fileUploads)
    .where(and(eq(fileUploads.userId, userId), isNull(fileUploads.endedAt), isNull(fileUploads.version)))
    .orderBy(asc(fileUploads.createdAt))
}

/**
 * The file has arrived, or one of the same size was there before, so that the link adds nothing. We can't tell which:
 * equal content keeps its etag. If another file is there, the link can be used once that is deleted, so it counts until
 * it expires.
 */
export const isOver = (link: FileUploadRow, found: Pick<StoredFile, 'size'> | null) => found?.size === link.size

export function endQuery(ctx: Pick<Context, 'db'>, ids: string[], endedAt: number) {
  return ctx.db.run(sql`UPDATE file_uploads SET ended_at = ${endedAt}
    WHERE ended_at IS NULL AND id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`)
}
