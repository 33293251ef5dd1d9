import { sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../db/client.ts'
import type { PlanRow } from '../../../db/schema/billing.ts'
import type { FileFolderRow } from '../../../db/schema/files.ts'
import { removalOf } from '../../domain/file-keys.ts'
import { sizeText } from '../../domain/files.ts'
import { DAY_MS, MINUTE_MS } from '../../domain/instant.ts'
import { PLANS, type PlanType, planName } from '../../domain/money/plan.ts'
import { FILES_LIMIT, FILES_OVER_DAYS, overNext } from '../../domain/money/plan-files.ts'
import { filesOverDeletedMail, filesOverMail, filesSmallerPlanMail } from '../mail/files-letters.ts'
import { tellQueries, tellSoon } from '../mail/notices.ts'
import type { StoredFile } from '../ports/bucket.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { filesPrefix, findFolder, requireBucket } from './folder.ts'
import { isGoing, openRemovals } from './removals.ts'
import { getRights, openQuery } from './usage.ts'

/** Per look; the next one is a minute later. Some keys need a call each. */
const MOST_AT_ONCE = 8_000
const MOST_ALONE = 1_000
const MOST_PAGES = 1_000

/** No deletion is scheduled because of a limit. */
export const NOT_OVER = { overDeleteAt: null, overTold: null }

type Owner = { id: string; email: string }
type SetFolder = (values: Partial<FileFolderRow>) => Query

/**
 * Files beyond the limit are deleted after 7 days and two emails, the newest first: what credentials wrote, and what a
 * larger plan included. Otherwise, an hour of that plan would keep any amount forever.
 */
export async function lookOverLimit(
  ctx: Context,
  folder: FileFolderRow,
  { owner, limit, set }: { owner: Owner; limit: number | null; set: SetFolder },
): Promise<void> {
  const { overDeleteAt, overTold } = folder
  const now = ctx.now()
  if (limit === null || folder.usedBytes <= limit) {
    await writeBatch(ctx.db, [set({ deleteAt: null, ...NOT_OVER })])
    return
  }
  if (overTold === 1 && overDeleteAt !== null && now >= overDeleteAt)
    return deleteNewest(ctx, folder, { owner, limit, set })
  const days = overDeleteAt === null || overDeleteAt - now > DAY_MS ? FILES_OVER_DAYS : 1
  // Two emails, and a day between the second one and the deletion, even if nobody looked for a while.
  const deleteAt =
    days === 1
      ? Math.max(overDeleteAt ?? 0, now + (overTold === 1 ? 0 : DAY_MS))
      : (overDeleteAt ?? now + FILES_OVER_DAYS * DAY_MS)
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

/** Warns once, a week before they switch to a plan that is too small for their files. */
export async function warnOfSmallerPlan(
  ctx: Context,
  { usedBytes }: FileFolderRow,
  owner: Owner,
  own: PlanRow[],
): Promise<void> {
  const next = overNext(own, usedBytes, ctx.now())
  if (!next) return
  const { plan, at, limit } = next
  const words = { plan: planName(plan), at, used: sizeText(usedBytes), limit: sizeText(limit) }
  const message = filesSmallerPlanMail(siteOrigin(ctx), words)
  const [, notice] = await writeBatch(ctx.db, tellQueries(ctx, owner, message, sql`1`, `files-next:${owner.id}:${at}`))
  tellSoon(ctx, owner.id, notice)
}

/** For someone who is choosing a plan: what happens to their files in plans that don't include them. */
export async function filesThen(ctx: Context, userId: string): Promise<Map<PlanType, string>> {
  return thenOf(ctx.bucket ? ((await findFolder(ctx, userId))?.usedBytes ?? 0) : 0)
}

export function thenOf(used: number): Map<PlanType, string> {
  const then = new Map<PlanType, string>()
  for (const { type } of PLANS) {
    const limit = FILES_LIMIT[type]
    if (limit !== null && used > limit) then.set(type, thenText(used, type, limit))
  }
  return then
}

function thenText(used: number, to: PlanType, limit: number): string {
  return `Your files use ${sizeText(used)}, and ${planName(to)} includes ${sizeText(limit)}. Once it begins, you can only read and delete them. ${FILES_OVER_DAYS} days later, after two emails, we delete the newest files until the rest fits.`
}

async function deleteNewest(
  ctx: Context,
  folder: FileFolderRow,
  { owner, limit, set }: { owner: Owner; limit: number; set: SetFolder },
): Promise<void> {
  const { stored, newest } = await findNewest(ctx, folder)
  let excess = stored - limit
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
    // They may have bought a larger plan in the meantime. The next look says what is left to do.
    if ((await getRights(ctx, owner.id)).limit !== limit) return
    await bucket.remove(doomed.slice(from, from + 1000))
  }
  const isDone = excess <= 0 || doomed.length === newest.length
  const cause = `files-over:0:${owner.id}:${folder.overDeleteAt}`
  const [, notice] = await writeBatch(ctx.db, [
    ...tellQueries(ctx, owner, filesOverDeletedMail(siteOrigin(ctx)), doomed.length > 0 ? sql`1` : sql`0`, cause),
    // A count says when it fits again. Until then, we neither announce anything anew nor delete for files that are
    // already gone.
    set({
      usedBytes: limit + excess,
      ...(isDone ? NOT_OVER : { lookAt: ctx.now() + MINUTE_MS }),
    }),
    openQuery(ctx, owner.id, ctx.now()),
  ])
  tellSoon(ctx, owner.id, notice)
}

/** What is stored, minus what an accepted removal is about to take, and the files to delete to make room, the newest first. */
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
    // One more than a look deletes, to tell whether there are more.
    newest = newest.sort((a, b) => b.modifiedAt - a.modifiedAt).slice(0, MOST_AT_ONCE + 1)
    after = page.next
    if (after === null) break
  }
  return { stored: after === null ? sum.staying : folder.usedBytes - sum.going, newest }
}
