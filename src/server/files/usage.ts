import { and, asc, eq, isNull, lte, or, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { users } from '../../../db/schema/accounts.ts'
import { plans } from '../../../db/schema/billing.ts'
import { type FileFolderRow, fileFolders } from '../../../db/schema/files.ts'
import type { FilesReadOnly } from '../../domain/files.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/instant.ts'
import { filesRights, usedOfLimit } from '../../domain/money/plan-files.ts'
import { alertOnce, alertOperator } from '../mail/alerts.ts'
import { tellSoon } from '../mail/notices.ts'
import type { Context } from '../runtime/context.ts'
import { fourAtOnce } from '../runtime/four-at-once.ts'
import { meterCalls } from './call-budget.ts'
import { filesPrefix, findFolder, requireBucket } from './folder.ts'
import { tellHowFull } from './how-full.ts'
import { endQuery, isOver, openLinks } from './links.ts'
import { lookAtUnfinished, sumOf, type Unfinished } from './unfinished.ts'

/** A request counts up to this many pages of 1,000 files, so that none makes more than 12 calls. A trigger counts the rest. */
export const PAGES_PER_REQUEST = 2
const PAGES_PER_TRIGGER = 200
const FOLDERS_PER_ROUND = 20
const ROUNDS_PER_TRIGGER = 30
const TRIGGER_MS = MINUTE_MS
/** Between two counts, per page of files, however often people look. */
const PER_PAGE_MS = 5_000
const COUNT_EVERY_MS = 5 * MINUTE_MS
const WEEK_MS = 7 * DAY_MS
/** How many failed counts, after longer and longer pauses, before we tell the operator. */
const QUIET_FAILURES = 3

export type FilesUsage = {
  usedBytes: number
  /** Null: unlimited. */
  limitBytes: number | null
  /** Why nothing may be added, regardless of the limit. */
  readOnly: Exclude<FilesReadOnly, 'full'> | null
  /** Without a plan: when we delete everything. */
  deleteAt: number | null
  /** When we counted; null: the first count hasn't finished. */
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

/** For deciding whether something may be added: includes uploads that finished late, after everything that may write had ended. */
export function getUsageNow(ctx: Context, folder: FileFolderRow): Promise<FilesUsage> {
  return getUsageOfFiles(ctx, { ...folder, openUntil: ctx.now() })
}

/** The same for someone who may have no folder yet. Creates none. */
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

/** Something may write until then, so an earlier count is out of date. A folder that failed still waits. */
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
 * Parallel counts do the same work, and the one that began last wins. Only a trigger continues where the previous one
 * stopped: if looking could stop a count, people could move files to where it has already been. For the same reason, a
 * count begins at a random key and wraps around.
 */
async function countFolder(
  ctx: Context,
  folder: FileFolderRow,
  { isTrigger = false, isAgain = false } = {},
): Promise<FileFolderRow> {
  const bucket = requireBucket(ctx)
  const prefix = filesPrefix(folder)
  const links = Map.groupBy(await openLinks(ctx, folder.userId), ({ path }) => prefix + path)
  const { countedAt, countNext } = folder
  // A later count has finished first.
  const isOutdated = countedAt !== null && (folder.countBegunAt ?? countedAt) < countedAt
  const beforeAll = prefix.slice(0, -1)
  const isContinued = isTrigger && !isOutdated && countNext?.startsWith(beforeAll)
  const from = isContinued ? folder : IDLE
  const begunAt = from.countBegunAt ?? ctx.now()
  const start = (isTrigger && folder.countFrom) || beforeAll
  const before = isTrigger && !isContinued ? await lookAtUnfinished(ctx, folder) : null
  /** Sizes of the files that have an unfinished upload, as the pages listed them. */
  const listed = new Map([...(before?.byUpload.values() ?? [])].map(({ key }) => [key, 0]))
  let { countBytes: bytes, countFiles: files } = from
  let startAfter = from.countNext ?? start
  let countFrom: string | null = null
  /** The next page after an empty one, which S3 may send before the end. */
  let after: string | null = null
  let isClassTold = false
  for (let pages = 0; pages < (isTrigger ? PAGES_PER_TRIGGER : PAGES_PER_REQUEST); pages++) {
    const isBack = isBefore(startAfter, start)
    const page = await bucket.list(after === null ? { prefix, startAfter } : { prefix, after })
    after = page.files.length === 0 ? page.next : null
    if (after !== null) continue
    const found = isBack ? page.files.filter(({ key }) => !isBefore(start, key)) : page.files
    const over: string[] = []
    files += found.length
    for (const file of found) {
      bytes += file.size
      if (listed.has(file.key)) listed.set(file.key, file.size)
      for (const link of links.get(file.key) ?? []) if (isOver(link, file)) over.push(link.id)
    }
    // The link counts until this count, which includes its file, is over.
    if (over.length > 0) await endQuery(ctx, over, begunAt - 1)
    if (page.otherClass > 0 && !isClassTold) {
      isClassTold = true
      await alertOfClass(ctx, folder)
    }
    const last = page.next === null ? null : (page.files.at(-1)?.key ?? null)
    // Picks one of all pages, each with the same probability.
    if (last !== null && ctx.random() * (pages + 1) < 1) countFrom = last
    if (last !== null && !(isBack && !isBefore(last, start))) startAfter = last
    else if (!isBack && start !== beforeAll) startAfter = beforeAll
    else return finishCount(ctx, folder, { begunAt, bytes, files, before, listed, countFrom, isTrigger, isAgain })
  }
  if (!isTrigger) {
    await openQuery(ctx, folder.userId, 0)
    return folder
  }
  const progress = {
    countBegunAt: begunAt,
    countNext: startAfter,
    countFrom: start,
    countBytes: bytes,
    countFiles: files,
    ...(before && { partsBytes: before.bytes }),
  }
  await ctx.db
    .update(fileFolders)
    .set({ ...progress, countDueAt: ctx.now(), countFailures: 0 })
    .where(and(eq(fileFolders.userId, folder.userId), isUnchanged(folder)))
  return { ...folder, ...progress }
}

/** R2's credentials let a program choose the storage class. */
function alertOfClass(ctx: Context, { userId, prefix }: FileFolderRow): Promise<void> {
  return alertOnce(ctx, {
    matters: [`files_class:${userId}`],
    alert: () => ({
      subject: 'Someone keeps files in another storage class',
      sentences: [
        `Files of ${userId}, below ${prefix}/, aren't in the standard storage class. You may pay for each time they are read, and for at least 30 days.`,
        'Copy them to the standard class, and ask why: docs/operations.md, "Files", has the command.',
      ],
      fields: { userId },
    }),
  })
}

/** By a bucket's order of keys. */
const isBefore = (key: string, other: string) => Buffer.compare(Buffer.from(key), Buffer.from(other)) < 0

/** No other count has advanced or finished. */
const isUnchanged = ({ countNext, countBegunAt, countedAt }: FileFolderRow) =>
  sql`count_next IS ${countNext} AND count_begun_at IS ${countBegunAt} AND counted_at IS ${countedAt}`

/**
 * Soon while something may write, and within a minute of when that ends. Then after longer and longer pauses, because a
 * bucket accepts what credentials or a link had begun to send, however late it ends. Daily while parts are left.
 */
function nextCount(begunAt: number, now: number, { bytes, isAll }: { bytes: number; isAll: boolean }) {
  if (!isAll) return now + MINUTE_MS
  const last = sql`max(open_until + 1, ${now + MINUTE_MS})`
  const pause = sql`min(max(${now} - open_until, ${HOUR_MS}), ${bytes > 0 ? DAY_MS : WEEK_MS})`
  return sql`CASE WHEN open_until >= ${begunAt} THEN min(${now + COUNT_EVERY_MS}, ${last}) ELSE ${now} + ${pause} END`
}

type Sums = {
  begunAt: number
  bytes: number
  files: number
  /** As of before the first page; null: another turn began the count. */
  before: Unfinished | null
  listed: Map<string, number>
  countFrom: string | null
  isTrigger: boolean
  isAgain: boolean
}

async function finishCount(ctx: Context, folder: FileFolderRow, sums: Sums): Promise<FileFolderRow> {
  const { begunAt, bytes, files, before, listed, countFrom, isTrigger, isAgain } = sums
  const { userId } = folder
  const unfinished = isTrigger ? await lookAtUnfinished(ctx, folder) : null
  // These uploads ended during the count, so their file may be on a page we had already read. Count once more. If one
  // ends again, add what the pages lack.
  const ended = [...(before?.byUpload ?? [])].filter(([id]) => !unfinished?.byUpload.has(id))
  const endedBytes = sumOf(ended.map(([, { key, size }]) => Math.max(0, size - (listed.get(key) ?? 0))))
  if (endedBytes > 0 && !isAgain) return countFolder(ctx, { ...folder, countFrom }, { isTrigger, isAgain: true })
  // A count of several turns only knows how many bytes were unfinished when it began, not which. Uploads that ended
  // since may be on pages already read, so all of those bytes count until the next one.
  const atFirst = before === null ? folder.partsBytes : 0
  const partsBytes = unfinished ? Math.max(unfinished.bytes + endedBytes, atFirst) : folder.partsBytes
  const { limit } = await getRights(ctx, userId)
  const counted = { usedBytes: bytes, usedFiles: files, countedAt: begunAt }
  const told = await tellHowFull(ctx, { ...folder, ...counted, partsBytes }, limit)
  const isIt = eq(fileFolders.userId, userId)
  const [, notice] = await writeBatch(ctx.db, [
    ...told.queries,
    // Requests may have counted files later than this turn, but only a trigger counts parts.
    ...(unfinished
      ? [
          ctx.db
            .update(fileFolders)
            .set({ partsBytes, countFrom, countDueAt: nextCount(begunAt, ctx.now(), unfinished), countFailures: 0 })
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

/** Run by cron: counts what may have changed while nobody looked. A folder that fails waits, and holds up no other. */
export async function countChanged(ctx: Context): Promise<void> {
  if (!ctx.bucket) return
  // Folders that nobody has written to, some from before we recounted all of them: spread over a week.
  await ctx.db.run(sql`UPDATE file_folders SET count_due_at = ${ctx.now()} + rowid * ${MINUTE_MS} % ${WEEK_MS}
    WHERE count_due_at IS NULL`)
  const until = ctx.now() + TRIGGER_MS
  const metered = meterCalls(ctx)
  const isOver = () => ctx.now() > until || metered.isSpent()
  for (let rounds = 0; rounds < ROUNDS_PER_TRIGGER && !isOver(); rounds++) {
    const due = await ctx.db
      .select()
      .from(fileFolders)
      .where(lte(fileFolders.countDueAt, ctx.now()))
      .orderBy(asc(fileFolders.countDueAt))
      .limit(FOLDERS_PER_ROUND)
    if (due.length === 0) return
    await fourAtOnce(due, async (folder) => {
      if (!isOver() && (await takeTurn(ctx, folder)))
        await countFolder(metered.ctx, folder, { isTrigger: true }).catch((error) => reportFailure(ctx, folder, error))
    })
  }
}

/** Postpone it before trying, so that a folder that kills us has had its turn. @returns false if another trigger has it */
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
  const { userId } = folder
  const failures = folder.countFailures + 1
  ctx.log('count_failed', { userId, failures }, error)
  if (failures < QUIET_FAILURES) return
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
