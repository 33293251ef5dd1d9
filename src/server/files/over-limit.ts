import { sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../db/client.ts'
import type { FileFolderRow } from '../../../db/schema.ts'
import { sizeText } from '../../domain/files.ts'
import { DAY_MS, MINUTE_MS } from '../../domain/instant.ts'
import { type Context, siteOrigin } from '../context.ts'
import { filesOverDeletedMail, filesOverMail } from '../mail/files-letters.ts'
import { tellQueries, tellSoon } from '../mail/notices.ts'
import type { StoredFile } from '../ports/bucket.ts'
import { filesPrefix, requireBucket } from './folder.ts'
import { openQuery } from './usage.ts'

const DAYS = 7
/** Per look; the next one is a minute later. */
const MOST_AT_ONCE = 8_000
const MOST_PAGES = 200

type Owner = { id: string; email: string }
type SetFolder = (values: Partial<FileFolderRow>) => Query

/**
 * What credentials wrote beyond the limit goes after 7 days and two emails, the newest first. What was there when it
 * last fitted stays, for instance after a smaller plan.
 */
export async function lookOverLimit(
  ctx: Context,
  folder: FileFolderRow,
  { owner, limit, set }: { owner: Owner; limit: number | null; set: SetFolder },
): Promise<void> {
  const { overSince, overDeleteAt, overTold } = folder
  const now = ctx.now()
  if (overSince === null || limit === null) {
    const idle = { overDeleteAt: null, overTold: null }
    await writeBatch(ctx.db, [set({ deleteAt: null, ...(overDeleteAt === null ? {} : idle) })])
    return
  }
  if (overTold === 1 && overDeleteAt !== null && now >= overDeleteAt)
    return deleteNewest(ctx, { ...folder, overSince }, { owner, limit, set })
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

async function deleteNewest(
  ctx: Context,
  folder: FileFolderRow & { overSince: number },
  { owner, limit, set }: { owner: Owner; limit: number; set: SetFolder },
): Promise<void> {
  const { total, newer } = await listNewer(ctx, folder)
  const doomed: string[] = []
  let excess = total - limit
  for (const { key, size } of newer.sort((a, b) => b.modifiedAt - a.modifiedAt)) {
    if (excess <= 0 || doomed.length === MOST_AT_ONCE) break
    excess -= size
    doomed.push(key)
  }
  const bucket = requireBucket(ctx)
  for (let from = 0; from < doomed.length; from += 1000) await bucket.remove(doomed.slice(from, from + 1000))
  const isDone = excess <= 0 || doomed.length === newer.length
  const idle = { overSince: null, overDeleteAt: null, overTold: null }
  const cause = `files-over:0:${owner.id}:${folder.overDeleteAt}`
  const [, notice] = await writeBatch(ctx.db, [
    ...tellQueries(ctx, owner, filesOverDeletedMail(siteOrigin(ctx)), doomed.length > 0 ? sql`1` : sql`0`, cause),
    set(isDone ? idle : { lookAt: ctx.now() + MINUTE_MS }),
    openQuery(ctx, owner.id, ctx.now()),
  ])
  tellSoon(ctx, owner.id, notice)
}

/** All files' bytes, and the files that were written since they last fitted. */
async function listNewer(ctx: Context, folder: FileFolderRow & { overSince: number }) {
  const bucket = requireBucket(ctx)
  const newer: Pick<StoredFile, 'key' | 'size' | 'modifiedAt'>[] = []
  let total = 0
  let after: string | null = null
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await bucket.list({ prefix: filesPrefix(folder), after })
    for (const { key, size, modifiedAt } of page.files) {
      total += size
      if (modifiedAt > folder.overSince) newer.push({ key, size, modifiedAt })
    }
    after = page.next
    if (after === null) break
  }
  return { total, newer }
}
