import { sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../db/client.ts'
import type { FileFolderRow } from '../../../db/schema.ts'
import { removalOf } from '../../domain/file-keys.ts'
import { sizeText } from '../../domain/files.ts'
import { DAY_MS, MINUTE_MS } from '../../domain/instant.ts'
import { filesOverDeletedMail, filesOverMail } from '../mail/files-letters.ts'
import { tellQueries, tellSoon } from '../mail/notices.ts'
import type { StoredFile } from '../ports/bucket.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { filesPrefix, requireBucket } from './folder.ts'
import { isGoing, openRemovals } from './removals.ts'
import { getRights, openQuery } from './usage.ts'

const DAYS = 7
/** Per look; the next one is a minute later. Some keys need a call of their own. */
const MOST_AT_ONCE = 8_000
const MOST_ALONE = 1_000
const MOST_PAGES = 1_000

type Owner = { id: string; email: string }
type SetFolder = (values: Partial<FileFolderRow>) => Query

/**
 * What credentials wrote beyond the limit goes after 7 days and two emails, the newest first. As much as was there when it
 * last fitted stays, for instance after a smaller plan.
 */
export async function lookOverLimit(
  ctx: Context,
  folder: FileFolderRow,
  { owner, limit, set }: { owner: Owner; limit: number | null; set: SetFolder },
): Promise<void> {
  const { overSince, overDeleteAt, overTold } = folder
  const now = ctx.now()
  if (overSince === null || limit === null || folder.usedBytes <= kept(folder, limit)) {
    const idle = { overDeleteAt: null, overTold: null }
    await writeBatch(ctx.db, [set({ deleteAt: null, ...(overDeleteAt === null ? {} : idle) })])
    return
  }
  if (overTold === 1 && overDeleteAt !== null && now >= overDeleteAt)
    return deleteNewest(ctx, folder, { owner, limit, set })
  const days = overDeleteAt === null || overDeleteAt - now > DAY_MS ? DAYS : 1
  // Two emails, and a day between the second one and the end, also if nobody looked for a while.
  const deleteAt =
    days === 1
      ? Math.max(overDeleteAt ?? 0, now + (overTold === 1 ? 0 : DAY_MS))
      : (overDeleteAt ?? now + DAYS * DAY_MS)
  const message = filesOverMail(siteOrigin(ctx), {
    days,
    deleteAt,
    used: sizeText(folder.usedBytes),
    limit: sizeText(limit),
  })
  const cause = `files-over:${days}:${owner.id}:${overDeleteAt ?? deleteAt}`
  const isNew = overTold === days ? sql`0` : sql`1`
  const [, notice] = await writeBatch(ctx.db, [
    ...tellQueries(ctx, owner, message, isNew, cause),
    set({ deleteAt: null, overDeleteAt: deleteAt, overTold: days }),
  ])
  tellSoon(ctx, owner.id, notice)
}

/** Bytes that never go. */
const kept = ({ usedBytes, overFloor }: FileFolderRow, limit: number) => Math.max(limit, overFloor ?? usedBytes)

async function deleteNewest(
  ctx: Context,
  folder: FileFolderRow,
  { owner, limit, set }: { owner: Owner; limit: number; set: SetFolder },
): Promise<void> {
  const floor = kept(folder, limit)
  const { stored, newest } = await findNewest(ctx, folder)
  let excess = stored - floor
  let alone = 0
  const doomed: string[] = []
  for (const { key, size } of newest) {
    if (removalOf(key) === 'alone') alone++
    if (excess <= 0 || doomed.length === MOST_AT_ONCE || alone > MOST_ALONE) break
    excess -= size
    doomed.push(key)
  }
  const bucket = requireBucket(ctx)
  for (let from = 0; from < doomed.length; from += 1000) {
    // They may have bought a larger plan meanwhile. The next look says what is left to do.
    if ((await getRights(ctx, owner.id)).limit !== limit) return
    await bucket.remove(doomed.slice(from, from + 1000))
  }
  const isDone = excess <= 0 || doomed.length === newest.length
  const cause = `files-over:0:${owner.id}:${folder.overDeleteAt}`
  const [, notice] = await writeBatch(ctx.db, [
    ...tellQueries(ctx, owner, filesOverDeletedMail(siteOrigin(ctx)), doomed.length > 0 ? sql`1` : sql`0`, cause),
    // A count says if it fits again. Until then, nothing is announced anew, or deleted for what has gone.
    set({
      usedBytes: floor + excess,
      ...(isDone ? { overDeleteAt: null, overTold: null } : { lookAt: ctx.now() + MINUTE_MS }),
    }),
    openQuery(ctx, owner.id, ctx.now()),
  ])
  tellSoon(ctx, owner.id, notice)
}

/**
 * What is stored, without what an accepted removal takes next, and the newest files that make room, the newest first. Also
 * older ones than the last count that fitted: on S3, a file that came in parts has the time of its beginning.
 */
async function findNewest(ctx: Context, folder: FileFolderRow) {
  const bucket = requireBucket(ctx)
  const removals = await openRemovals(ctx, folder.userId)
  const start = filesPrefix(folder).length
  const sum = { staying: 0, going: 0 }
  let newest: Pick<StoredFile, 'key' | 'size' | 'modifiedAt'>[] = []
  let after: string | null = null
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await bucket.list({ prefix: filesPrefix(folder), after })
    for (const { key, size, modifiedAt } of page.files) {
      const isOver = isGoing(removals, key.slice(start), modifiedAt)
      sum[isOver ? 'going' : 'staying'] += size
      if (!isOver && size > 0 && removalOf(key) !== null) newest.push({ key, size, modifiedAt })
    }
    // One more than a look deletes, so that it sees that there are more.
    newest = newest.sort((a, b) => b.modifiedAt - a.modifiedAt).slice(0, MOST_AT_ONCE + 1)
    after = page.next
    if (after === null) break
  }
  return { stored: after === null ? sum.staying : folder.usedBytes - sum.going, newest }
}
