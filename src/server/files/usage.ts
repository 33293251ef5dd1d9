import { and, asc, eq, isNull, lte, or, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { type FileFolderRow, fileFolders, plans, users } from '../../../db/schema.ts'
import type { FilesReadOnly } from '../../domain/files.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/instant.ts'
import { filesRights, usedOfLimit } from '../../domain/money/plan-files.ts'
import { alertOperator } from '../mail/alerts.ts'
import { tellSoon } from '../mail/notices.ts'
import type { Context } from '../runtime/context.ts'
import { fourAtOnce } from '../runtime/four-at-once.ts'
import { filesPrefix, findFolder, requireBucket } from './folder.ts'
import { tellHowFull } from './how-full.ts'
import { endQuery, isOver, openLinks } from './links.ts'
import { lookAtUnfinished } from './unfinished.ts'

/** How many pages of 1,000 files a request counts itself, so that none makes more than 12 calls; a trigger counts the rest. */
export const PAGES_PER_REQUEST = 2
const PAGES_PER_TRIGGER = 200
const FOLDERS_PER_ROUND = 20
const ROUNDS_PER_TRIGGER = 30
const TRIGGER_MS = MINUTE_MS
/** A page is listed at most this often, however often people look. */
const PER_PAGE_MS = 5_000
const COUNT_EVERY_MS = 5 * MINUTE_MS
const WEEK_MS = 7 * DAY_MS
/** How often a count may fail, after longer and longer pauses, before the operator hears of it. */
const QUIET_FAILURES = 3

export type FilesUsage = {
  usedBytes: number
  /** Null: unlimited. */
  limitBytes: number | null
  /** Why nothing may be added, whatever the limit. */
  readOnly: Exclude<FilesReadOnly, 'full'> | null
  /** Without a plan: when we delete everything. */
  deleteAt: number | null
  /** When we counted; null: the first count isn't over. */
  countedAt: number | null
}

/** What the bucket holds for them, as of a moment ago, and what their plan includes. */
export async function getUsageOfFiles(ctx: Context, folder: FileFolderRow): Promise<FilesUsage> {
  const [rights, counted] = await Promise.all([getRights(ctx, folder.userId), countIfDue(ctx, folder)])
  return {
    usedBytes: usedOfLimit(counted, rights.limit),
    limitBytes: rights.limit,
    readOnly: rights.readOnly,
    deleteAt: folder.deleteAt,
    countedAt: counted.countedAt,
  }
}

/** Before something may be added: what came late, after all had ended that may write, is counted as well. */
export function getUsageNow(ctx: Context, folder: FileFolderRow): Promise<FilesUsage> {
  return getUsageOfFiles(ctx, { ...folder, openUntil: ctx.now() })
}

/** The same for someone who may have no folder yet: looking makes none. */
export async function getUsageOf(ctx: Context, userId: string, get = getUsageOfFiles): Promise<FilesUsage> {
  const folder = await findFolder(ctx, userId)
  if (folder) return get(ctx, folder)
  const { limit, readOnly } = await getRights(ctx, userId)
  return { usedBytes: 0, limitBytes: limit, readOnly, deleteAt: null, countedAt: ctx.now() }
}

/** What their plan includes, and whether they may add to it. A suspended account keeps its files, and adds none. */
export async function getRights(ctx: Pick<Context, 'db' | 'now'>, userId: string) {
  const [own, [account]] = await ctx.db.batch([
    ctx.db.select().from(plans).where(eq(plans.userId, userId)),
    ctx.db.select({ suspendedAt: users.suspendedAt, heldAt: users.heldAt }).from(users).where(eq(users.id, userId)),
  ])
  const { limit, readOnly } = filesRights(own, ctx.now())
  const suspension = account?.heldAt != null ? 'held' : account?.suspendedAt != null ? 'suspended' : null
  return { limit, readOnly: suspension ?? readOnly } satisfies Pick<FilesUsage, 'readOnly'> & { limit: number | null }
}

/** Something may write until then, so a count from before is out of date. What fails waits all the same. */
export function openQuery(ctx: Pick<Context, 'db' | 'now'>, userId: string, until: number) {
  const soon = ctx.now() + MINUTE_MS
  return ctx.db.run(sql`UPDATE file_folders SET open_until = max(open_until, ${until}),
    count_due_at = CASE WHEN count_failures > 0 THEN count_due_at ELSE min(coalesce(count_due_at, ${soon}), ${soon}) END
    WHERE user_id = ${userId}`)
}

async function countIfDue(ctx: Context, folder: FileFolderRow): Promise<FileFolderRow> {
  const { countedAt, openUntil, usedFiles, countBegunAt } = folder
  const now = ctx.now()
  const isCurrent = countedAt !== null && countBegunAt === null && countedAt > openUntil
  // Large folders are counted less often: nobody waits for dozens of pages.
  const pages = Math.ceil(usedFiles / 1000)
  const isRecent = countedAt !== null && now - countedAt < Math.max(0, pages - 1) * PER_PAGE_MS
  if (isCurrent || isRecent || pages > PAGES_PER_REQUEST) return folder
  return countFolder(ctx, folder)
}

/** No count is under way. */
const IDLE = { countBegunAt: null, countNext: null, countBytes: 0, countFiles: 0 }

/**
 * Two at once do the same work, and the one that began later wins. Only a trigger goes on where the one before stopped:
 * if anybody could stop a count by looking, they would move their files to where it has been.
 */
async function countFolder(ctx: Context, folder: FileFolderRow, { isTrigger = false } = {}): Promise<FileFolderRow> {
  const bucket = requireBucket(ctx)
  const links = Map.groupBy(await openLinks(ctx, folder.userId), ({ path }) => filesPrefix(folder) + path)
  const { countedAt } = folder
  // A later one has ended before it.
  const isOutdated = countedAt !== null && (folder.countBegunAt ?? countedAt) < countedAt
  const from = isOutdated || !isTrigger ? IDLE : folder
  const begunAt = from.countBegunAt ?? ctx.now()
  let { countBytes: bytes, countFiles: files, countNext: next } = from
  for (let pages = 0; pages < (isTrigger ? PAGES_PER_TRIGGER : PAGES_PER_REQUEST); pages++) {
    const page = await bucket.list({ prefix: filesPrefix(folder), after: next })
    const over: string[] = []
    files += page.files.length
    for (const file of page.files) {
      bytes += file.size
      for (const link of links.get(file.key) ?? []) if (isOver(link, file)) over.push(link.id)
    }
    // It counts until this count is over, which has its file.
    if (over.length > 0) await endQuery(ctx, over, begunAt - 1)
    next = page.next
    if (next === null) return finishCount(ctx, folder, { begunAt, bytes, files, isTrigger })
  }
  if (!isTrigger) {
    await openQuery(ctx, folder.userId, 0)
    return folder
  }
  const progress = { countBegunAt: begunAt, countNext: next, countBytes: bytes, countFiles: files }
  await ctx.db
    .update(fileFolders)
    .set({ ...progress, countDueAt: ctx.now(), countFailures: 0 })
    .where(and(eq(fileFolders.userId, folder.userId), isUnchanged(folder)))
  return { ...folder, ...progress }
}

/** Neither a count under way has come further, nor another one has ended. */
const isUnchanged = ({ countNext, countBegunAt, countedAt }: FileFolderRow) =>
  sql`count_next IS ${countNext} AND count_begun_at IS ${countBegunAt} AND counted_at IS ${countedAt}`

/**
 * Since when it hasn't fitted: the last count at which it did. As much as was there then never goes, for instance after
 * a smaller plan.
 */
function overOf(folder: FileFolderRow, used: number, limit: number | null) {
  if (limit === null || used <= limit) return { overSince: null, overFloor: null }
  const { countedAt, createdAt, usedBytes } = folder
  if (folder.overSince !== null)
    return { overSince: folder.overSince, overFloor: Math.min(folder.overFloor ?? used, used) }
  return countedAt === null
    ? { overSince: createdAt - 1, overFloor: 0 }
    : { overSince: countedAt, overFloor: Math.min(usedBytes, used) }
}

/**
 * Again soon while something may write, and within a minute of its end. Then after longer and longer pauses: a bucket takes
 * what credentials or a link had begun to send, however late that ends. Each day while parts are left.
 */
function nextCount(begunAt: number, now: number, { bytes, isAll }: { bytes: number; isAll: boolean }) {
  if (!isAll) return now + MINUTE_MS
  const last = sql`max(open_until + 1, ${now + MINUTE_MS})`
  const pause = sql`min(max(${now} - open_until, ${HOUR_MS}), ${bytes > 0 ? DAY_MS : WEEK_MS})`
  return sql`CASE WHEN open_until >= ${begunAt} THEN min(${now + COUNT_EVERY_MS}, ${last}) ELSE ${now} + ${pause} END`
}

async function finishCount(
  ctx: Context,
  folder: FileFolderRow,
  { begunAt, bytes, files, isTrigger }: { begunAt: number; bytes: number; files: number; isTrigger: boolean },
): Promise<FileFolderRow> {
  const { userId } = folder
  const unfinished = isTrigger ? await lookAtUnfinished(ctx, folder) : null
  const partsBytes = unfinished?.bytes ?? folder.partsBytes
  const { limit } = await getRights(ctx, userId)
  const over = overOf(folder, bytes, limit)
  const counted = { usedBytes: bytes, usedFiles: files, countedAt: begunAt, ...over }
  const told = await tellHowFull(ctx, { ...folder, ...counted, partsBytes }, limit)
  const isIt = eq(fileFolders.userId, userId)
  const [, notice] = await writeBatch(ctx.db, [
    ...told.queries,
    // Whoever looks meanwhile counts the files later than we did, but only a trigger counts parts.
    ...(unfinished
      ? [
          ctx.db
            .update(fileFolders)
            .set({ partsBytes, countDueAt: nextCount(begunAt, ctx.now(), unfinished), countFailures: 0 })
            .where(isIt),
        ]
      : []),
    ctx.db
      .update(fileFolders)
      .set({ ...counted, ...IDLE })
      .where(and(isIt, or(isNull(fileFolders.countedAt), lte(fileFolders.countedAt, begunAt)))),
  ])
  if (told.queries.length > 1) tellSoon(ctx, userId, notice)
  await told.afterward()
  return { ...folder, ...counted, ...IDLE, partsBytes, toldPercent: told.percent }
}

/** Run by cron: counts what may have changed and nobody looked at. A folder that fails waits, and keeps no other. */
export async function countChanged(ctx: Context): Promise<void> {
  if (!ctx.bucket) return
  // Folders that nobody has written to, some from before all were counted now and then: spread over a week.
  await ctx.db.run(sql`UPDATE file_folders SET count_due_at = ${ctx.now()} + rowid * ${MINUTE_MS} % ${WEEK_MS}
    WHERE count_due_at IS NULL`)
  const until = ctx.now() + TRIGGER_MS
  for (let rounds = 0; rounds < ROUNDS_PER_TRIGGER && ctx.now() <= until; rounds++) {
    const due = await ctx.db
      .select()
      .from(fileFolders)
      .where(lte(fileFolders.countDueAt, ctx.now()))
      .orderBy(asc(fileFolders.countDueAt))
      .limit(FOLDERS_PER_ROUND)
    if (due.length === 0) return
    await fourAtOnce(due, async (folder) => {
      if (ctx.now() <= until && (await takeTurn(ctx, folder)))
        await countFolder(ctx, folder, { isTrigger: true }).catch((error) => reportFailure(ctx, folder, error))
    })
  }
}

/** Postponed before it's tried, so that one that we die of has had its turn. @returns false if another trigger has it */
async function takeTurn(ctx: Context, { userId, countDueAt, countFailures }: FileFolderRow): Promise<boolean> {
  const failures = countFailures + 1
  const pause = Math.min(2 ** failures * MINUTE_MS, HOUR_MS)
  const { rowsAffected } = await ctx.db
    .update(fileFolders)
    .set({ countFailures: failures, countDueAt: ctx.now() + pause })
    .where(and(eq(fileFolders.userId, userId), eq(fileFolders.countDueAt, countDueAt ?? 0)))
  return rowsAffected === 1
}

async function reportFailure(ctx: Context, folder: FileFolderRow, error: unknown): Promise<void> {
  const { userId, countNext } = folder
  const failures = folder.countFailures + 1
  ctx.log('count_failed', { userId, failures }, error)
  if (failures < QUIET_FAILURES) return
  // The bucket may no longer know the page where it stopped.
  if (countNext !== null)
    await ctx.db
      .update(fileFolders)
      .set(IDLE)
      .where(and(eq(fileFolders.userId, userId), isUnchanged(folder)))
  await alertOperator(ctx, {
    matter: `files_not_counted:${userId}`,
    subject: "Someone's files can't be counted",
    sentences: [
      `We have tried ${failures} times to count the files of ${userId}, and try again at least once an hour. Until then, their limit goes by the last count. Other accounts don't wait for this.`,
      'The log names the cause: search it for count_failed.',
    ],
    fields: { userId },
  })
}
