import { and, asc, eq, isNull, lt, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { type FileFolderRow, type FileMoveRow, fileMoves } from '../../../db/schema.ts'
import { AppError } from '../../domain/error.ts'
import { isWithin } from '../../domain/files.ts'
import { MINUTE_MS } from '../../domain/instant.ts'
import type { Context } from '../context.ts'
import { fourAtOnce } from '../four-at-once.ts'
import { newId } from '../id.ts'
import type { Bucket, StoredFile } from '../ports/bucket.ts'
import { findFolder, requireBucket } from './folder.ts'
import { openQuery } from './usage.ts'

/** Longer than one batch can take: a copy, and then the removal. */
const LEASE_MS = 5 * MINUTE_MS
/** Copies before we write down how far we are. */
const BATCH = 40
/** What a request does itself; a trigger continues. */
export const FILES_PER_REQUEST = 200
const FILES_PER_TRIGGER = 2000
const MOVES_PER_TRIGGER = 10

/** What someone is moving right now. */
export function openMoves(ctx: Pick<Context, 'db'>, userId: string): Promise<FileMoveRow[]> {
  return ctx.db
    .select()
    .from(fileMoves)
    .where(and(eq(fileMoves.userId, userId), isNull(fileMoves.doneAt)))
    .orderBy(asc(fileMoves.createdAt))
}

/** Whether this path is on its way to somewhere else, so that it is no longer shown. */
export function isLeaving(moves: FileMoveRow[], path: string): boolean {
  return moves.some(({ source }) => isWithin(`files/${path}`, source))
}

/** @throws conflict: writing there now would lose something */
export function refuseWhileMoving(moves: FileMoveRow[], path: string): void {
  const touches = (place: string | null) =>
    place !== null && (isWithin(`files/${path}`, place) || isWithin(place, `files/${path}`))
  if (moves.some(({ source, target }) => touches(source) || touches(target)))
    throw new AppError('conflict', 'We are still moving or deleting this folder. Try again in a minute.', {
      retryable: true,
    })
}

export function newMove(ctx: Pick<Context, 'now'>, userId: string, source: string, target: string | null) {
  return { id: newId('mov'), userId, source, target, createdAt: ctx.now() }
}

/**
 * Moves up to so many files. What is left in the bucket says what is left to do, so it may die at any point and begin
 * again. @returns whether all is moved
 */
export async function continueMove(ctx: Context, id: string, most: number): Promise<boolean> {
  const bucket = requireBucket(ctx)
  const move = await lease(ctx, id)
  if (!move) return false
  const folder = await findFolder(ctx, move.userId)
  if (!folder) return false
  const places = placesOf(folder, move)
  for (let left = most; left > 0; ) {
    const batch = await nextBatch(bucket, places.from, Math.min(BATCH, left))
    if (batch.length === 0) {
      await finish(ctx, move)
      return true
    }
    await moveBatch(bucket, batch, places)
    left -= batch.length
    const bytes = batch.reduce((sum, { size }) => sum + size, 0)
    await ctx.db.run(sql`UPDATE file_moves SET moved_files = moved_files + ${batch.length},
      moved_bytes = moved_bytes + ${bytes}, leased_until = ${ctx.now() + LEASE_MS} WHERE id = ${id}`)
  }
  await ctx.db.update(fileMoves).set({ leasedUntil: 0 }).where(eq(fileMoves.id, id))
  return false
}

async function lease(ctx: Context, id: string): Promise<FileMoveRow | undefined> {
  const now = ctx.now()
  const [row] = await ctx.db
    .update(fileMoves)
    .set({ leasedUntil: now + LEASE_MS })
    .where(and(eq(fileMoves.id, id), isNull(fileMoves.doneAt), lt(fileMoves.leasedUntil, now)))
    .returning()
  return row
}

type Places = { from: string; to: string | null }

const placesOf = ({ prefix }: FileFolderRow, { source, target }: FileMoveRow): Places => ({
  from: `${prefix}/${source}`,
  to: target === null ? null : `${prefix}/${target}`,
})

/** The file itself, then what is below it. */
async function nextBatch(bucket: Bucket, from: string, most: number): Promise<StoredFile[]> {
  const itself = await bucket.find(from)
  if (itself) return [itself]
  return (await bucket.list({ prefix: `${from}/`, most })).files
}

/** Copied first, so that a file is never in neither place. */
async function moveBatch(bucket: Bucket, batch: StoredFile[], { from, to }: Places): Promise<void> {
  if (to !== null) await fourAtOnce(batch, (file) => bucket.copy(file, to + file.key.slice(from.length)))
  await bucket.remove(batch.map(({ key }) => key))
}

async function finish(ctx: Context, { id, userId }: FileMoveRow): Promise<void> {
  // Both or neither: nothing else would count again.
  await writeBatch(ctx.db, [
    ctx.db.update(fileMoves).set({ doneAt: ctx.now() }).where(eq(fileMoves.id, id)),
    openQuery(ctx, userId, ctx.now()),
  ])
}

/** Run by cron: continues what requests left, oldest first. One that fails waits until its lease is over. */
export async function continueMoves(ctx: Context): Promise<void> {
  if (!ctx.bucket) return
  const open = await ctx.db
    .select({ id: fileMoves.id })
    .from(fileMoves)
    .where(and(isNull(fileMoves.doneAt), lt(fileMoves.leasedUntil, ctx.now())))
    .orderBy(asc(fileMoves.createdAt))
    .limit(MOVES_PER_TRIGGER)
  for (const { id } of open)
    await continueMove(ctx, id, FILES_PER_TRIGGER).catch((error) => ctx.log('move_failed', { moveId: id }, error))
}
