import { and, asc, eq, isNotNull, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { type FileFolderRow, type FileUploadRow, fileUploads } from '../../../db/schema/files.ts'
import { AppError } from '../../domain/error.ts'
import { FILES_READ_ONLY, overLimit, sizeText } from '../../domain/files.ts'
import { DAY_MS } from '../../domain/instant.ts'
import { BYTES_PER_FILE, FREE_FILES } from '../../domain/money/plan-files.ts'
import { PAY_PLAN } from '../../domain/money/start-cost.ts'
import { newId } from '../crypto/id.ts'
import type { StoredFile } from '../ports/bucket.ts'
import type { Context } from '../runtime/context.ts'
import { fourAtOnce } from '../runtime/four-at-once.ts'
import { filesPrefix, keyOf, openFolder, requireBucket } from './folder.ts'
import { endQuery, isOver, openLinks } from './links.ts'
import { type FilesUsage, getUsageNow, PAGES_PER_REQUEST } from './usage.ts'

/** Per account. */
const MOST_OPEN = 100
const TRY_AGAIN_S = 30
/** So that a repeated completion still finds its upload. */
const ENDED_KEPT_MS = DAY_MS

type Wish = {
  path: string
  size: number
  /** What is there now, and counts until the upload takes its place. */
  existing: StoredFile | null
  /** The etag of what the upload may replace. */
  replaces: string | null
  /** Of a multipart upload; null: a link. */
  version: string | null
  expiresAt: number
}

/**
 * Enters an upload if it fits next to everything that is stored and open. The check and the entry are one write, so of
 * ten requests at once, only those that fit together succeed.
 * @throws no_plan, plan_unpaid, suspended, held, invalid: it doesn't fit; too_many
 */
export async function enterUpload(ctx: Context, folder: FileFolderRow, wish: Wish): Promise<FileUploadRow> {
  const usage = await getUsageNow(ctx, folder)
  const { limitBytes: limit, readOnly } = usage
  requireWritable(readOnly)
  await endArrived(ctx, folder)
  const { userId } = folder
  const { path, size, existing, replaces, version, expiresAt } = wish
  const now = ctx.now()
  const adds = size - (existing?.size ?? 0)
  const row: FileUploadRow = {
    id: newId('upl'),
    userId,
    path,
    size,
    uploadId: null,
    version,
    replaces,
    // Until it's complete, its parts are stored next to the file they replace.
    counts: version === null ? Math.max(0, adds) : size,
    createdAt: now,
    expiresAt,
    endedAt: null,
  }
  const fits =
    limit === null ? sql`1` : sql`${usedOf(userId)} + ${promised(userId, now, { ...row, counts: adds })} <= ${limit}`
  const { rowsAffected } = await ctx.db.run(sql`INSERT INTO file_uploads
    (id, user_id, path, size, upload_id, version, replaces, counts, created_at, expires_at)
    SELECT ${row.id}, ${userId}, ${path}, ${size}, NULL, ${version}, ${row.replaces}, ${row.counts}, ${now}, ${expiresAt}
    WHERE ${openCount(userId, now)} < ${MOST_OPEN} AND ${fits}`)
  if (rowsAffected === 0) throw await refusal(ctx, usage, { userId, size, adds })
  return row
}

const REFUSED = {
  unpaid: { code: 'plan_unpaid', page: PAY_PLAN },
  ended: { code: 'no_plan', page: '/subscriptions' },
  none: { code: 'no_plan', page: '/subscriptions' },
  suspended: { code: 'suspended', page: '/billing_history' },
  held: { code: 'held' },
} as const

/** @throws no_plan, plan_unpaid, suspended, held */
function requireWritable(readOnly: FilesUsage['readOnly']): void {
  if (readOnly === null) return
  const { code, ...more } = REFUSED[readOnly]
  throw new AppError(code, FILES_READ_ONLY[readOnly], more)
}

/** Whether an upload may continue or finish. @throws no_plan, plan_unpaid, suspended, held, invalid */
export async function requireFit(
  ctx: Context,
  row: FileUploadRow,
  existing: StoredFile | null,
  { limitBytes: limit, readOnly }: FilesUsage,
) {
  requireWritable(readOnly)
  if (limit === null) return
  const { rows } = await ctx.db.run(
    sql`SELECT ${usedOf(row.userId)} + ${promised(row.userId, ctx.now())} - ${existing?.size ?? 0} AS bytes`,
  )
  if (Number(rows[0]?.bytes) <= limit) return
  const used = await usedBytes(ctx, row.userId)
  throw new AppError('invalid', overLimit({ used, limit, size: row.size }), { page: '/subscriptions' })
}

/** In SQL what `usedOfLimit` computes. */
const usedOf = (userId: string) =>
  sql`(SELECT used_bytes + parts_bytes + max(0, used_files - ${FREE_FILES}) * ${BYTES_PER_FILE} FROM file_folders
    WHERE user_id = ${userId})`
const openCount = (userId: string, now: number) =>
  sql`(SELECT count(*) FROM file_uploads WHERE user_id = ${userId} AND ended_at IS NULL AND expires_at > ${now})`

/**
 * Bytes that all open uploads may still bring, and those that have ended since the last count. Of several links to one
 * path over the same content, only one can succeed; of a multipart upload begun several times at once, one stays.
 */
function promised(userId: string, now: number, more?: FileUploadRow): SQL {
  const one = ({ version, path, replaces, size }: FileUploadRow) =>
    version === null ? `${path}\n${replaces ?? ''}` : `${path}\n${size}\n${version}`
  const own = more ? sql`UNION ALL SELECT ${one(more)}, ${more.counts}` : sql``
  return sql`(SELECT coalesce(sum(most), 0) FROM (SELECT max(counts) AS most FROM (
    SELECT CASE WHEN version IS NULL THEN path || char(10) || coalesce(replaces, '')
      WHEN ended_at IS NULL THEN path || char(10) || size || char(10) || version ELSE id END AS one, counts
    FROM file_uploads WHERE user_id = ${userId} AND ((ended_at IS NULL AND expires_at > ${now}) OR ended_at >=
      coalesce((SELECT counted_at FROM file_folders WHERE user_id = ${userId}), 0))
    ${own}) GROUP BY one))`
}

async function usedBytes(ctx: Pick<Context, 'db'>, userId: string): Promise<number> {
  const { rows } = await ctx.db.run(sql`SELECT ${usedOf(userId)} AS bytes`)
  return Number(rows[0]?.bytes)
}

async function refusal(
  ctx: Context,
  { limitBytes: limit }: FilesUsage,
  { userId, size, adds }: { userId: string; size: number; adds: number },
): Promise<AppError> {
  const used = await usedBytes(ctx, userId)
  if (limit !== null && used + adds > limit)
    return new AppError('invalid', overLimit({ used, limit, size }), { page: '/subscriptions' })
  const { rows } = await ctx.db.run(sql`SELECT ${openCount(userId, ctx.now())} AS open`)
  if (Number(rows[0]?.open) >= MOST_OPEN || limit === null)
    return new AppError('too_many', `You have ${MOST_OPEN} uploads open. Finish or discard some of them first.`, {
      retryAfter: TRY_AGAIN_S,
    })
  return new AppError(
    'invalid',
    `Your files use ${sizeText(used)} of ${sizeText(limit)}, and uploads that have begun may need the rest. Finish or discard them first, or wait until they end.`,
  )
}

/**
 * Counting ends links whose file has arrived. Requests don't count large folders, so each of them checks a few links, and
 * not always the oldest: those may be of uploads that someone stopped.
 */
async function endArrived(ctx: Context, folder: FileFolderRow): Promise<void> {
  if (folder.usedFiles <= PAGES_PER_REQUEST * 1000) return
  const open = await openLinks(ctx, folder.userId)
  const from = Math.floor(ctx.random() * open.length)
  const links = [...open.slice(from), ...open.slice(0, from)].slice(0, PAGES_PER_REQUEST)
  const bucket = requireBucket(ctx)
  const found = await Promise.all(links.map((link) => bucket.find(filesPrefix(folder) + link.path)))
  const over = links.filter((link, i) => isOver(link, found[i] ?? null))
  if (over.length > 0)
    await endQuery(
      ctx,
      over.map(({ id }) => id),
      ctx.now(),
    )
}

/** Run by cron: ends uploads that nobody continued, and deletes old rows, as fast as new ones arrive. */
export async function dropStaleUploads(ctx: Context): Promise<void> {
  if (!ctx.bucket) return
  const now = ctx.now()
  await ctx.db
    .delete(fileUploads)
    .where(
      or(
        lte(fileUploads.endedAt, now - ENDED_KEPT_MS),
        and(isNull(fileUploads.endedAt), isNull(fileUploads.uploadId), lte(fileUploads.expiresAt, now)),
      ),
    )
  const left = await ctx.db
    .select()
    .from(fileUploads)
    .where(and(isNotNull(fileUploads.uploadId), lte(fileUploads.expiresAt, now)))
    .orderBy(asc(fileUploads.expiresAt))
    .limit(200)
  await fourAtOnce(left, async (row) => {
    // If it fails, the others go first.
    await ctx.db
      .update(fileUploads)
      .set({ expiresAt: now - 1 })
      .where(eq(fileUploads.id, row.id))
    await discard(ctx, row)
  })
}

/** Forgets a multipart upload and the parts that have arrived. */
export async function discard(ctx: Context, { id, userId, path, uploadId }: FileUploadRow): Promise<void> {
  if (uploadId) await requireBucket(ctx).abortParts(keyOf(await openFolder(ctx, userId), path), uploadId)
  await ctx.db.delete(fileUploads).where(eq(fileUploads.id, id))
}
