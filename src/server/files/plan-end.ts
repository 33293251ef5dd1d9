import { and, asc, eq, lte, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../db/client.ts'
import { users } from '../../../db/schema/accounts.ts'
import { plans } from '../../../db/schema/billing.ts'
import { type FileFolderRow, fileFolders } from '../../../db/schema/files.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/instant.ts'
import { CHECKOUT_HOLDS_MS } from '../../domain/money/closing.ts'
import { stands, UNPAID_STATUSES } from '../../domain/money/plan.ts'
import {
  dueWarning,
  FILES_KEPT_DAYS,
  type FilesRights,
  filesRights,
  keptUntil,
  waitsForFirst,
} from '../../domain/money/plan-files.ts'
import { closeOpenCheckout, hearOfPlans } from '../billing/plans/checkout.ts'
import { alertOperator } from '../mail/alerts.ts'
import { filesDeletedMail, filesEndMail } from '../mail/files-letters.ts'
import { tellQueries, tellSoon } from '../mail/notices.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { fourAtOnce } from '../runtime/four-at-once.ts'
import { meterCalls } from './call-budget.ts'
import { lookOverLimit, NOT_OVER, thenOf, warnOfSmallerPlan } from './over-limit.ts'
import { removeAllQuery } from './removals.ts'

const AT_ONCE = 200
const LOOK_EVERY_MS = HOUR_MS
const TRIGGER_MS = MINUTE_MS
/** Credentials from before an account was closed may write until then. */
const LATE_WRITES_MS = HOUR_MS + 25 * MINUTE_MS

type Why = NonNullable<FilesRights['readOnly']>
type Owner = { id: string; email: string; closedAt: number | null }

/**
 * Run by cron. People without a paid plan can read their files for 30 days from when we first notice, with emails 30,
 * 7, and 1 days before we delete them. A closed account's files are deleted with it; we look again once nothing can
 * write anymore.
 */
export async function endFilesWithPlans(ctx: Context): Promise<void> {
  if (!ctx.bucket) return
  const due = await ctx.db
    .select({ folder: fileFolders, id: users.id, email: users.email, closedAt: users.closedAt })
    .from(fileFolders)
    .innerJoin(users, eq(users.id, fileFolders.userId))
    .where(lte(fileFolders.lookAt, ctx.now()))
    .orderBy(asc(fileFolders.lookAt))
    .limit(AT_ONCE)
  const until = ctx.now() + TRIGGER_MS
  const metered = meterCalls(ctx)
  await fourAtOnce(due, async ({ folder, ...owner }) => {
    const now = ctx.now()
    if (now > until || metered.isSpent()) return
    // Postpone it before trying, so that no other trigger takes it, and one that fails or kills us has had its turn.
    const [taken, own] = await ctx.db.batch([
      ctx.db
        .update(fileFolders)
        .set({ lookAt: now + LOOK_EVERY_MS })
        .where(and(eq(fileFolders.userId, folder.userId), eq(fileFolders.lookAt, folder.lookAt))),
      ctx.db.select().from(plans).where(eq(plans.userId, folder.userId)),
    ])
    if (taken.rowsAffected === 0) return
    // A plan may have begun and ended between two looks: then the days count from its end.
    const isAnnounced = (folder.deleteAt ?? 0) >= keptUntil(own, now)
    try {
      await warnOfSmallerPlan(ctx, folder, owner, own)
      await look(metered.ctx, isAnnounced ? folder : { ...folder, deleteAt: null }, owner, filesRights(own, now))
    } catch (error) {
      await reportFailure(ctx, folder.userId, error)
    }
  })
}

async function reportFailure(ctx: Context, userId: string, error: unknown): Promise<void> {
  ctx.log('files_not_looked_at', { userId }, error)
  await alertOperator(ctx, {
    matter: `files_not_looked_at:${userId}`,
    subject: "We can't apply a plan's limits to someone's files",
    sentences: [
      `We couldn't do what is due with the files of ${userId}: delete those of an account or a plan that has ended, or those over a limit. We try again in an hour. Other accounts don't wait for this.`,
      'The log names the cause: search it for files_not_looked_at.',
    ],
    fields: { userId },
  })
}

async function look(
  ctx: Context,
  folder: FileFolderRow,
  owner: Owner,
  { limit, readOnly }: FilesRights,
): Promise<void> {
  const { userId, deleteAt } = folder
  const now = ctx.now()
  const isRow = eq(fileFolders.userId, userId)
  const set: SetFolder = (values) =>
    ctx.db
      .update(fileFolders)
      .set({ lookAt: now + LOOK_EVERY_MS, ...values })
      .where(isRow)
  if (owner.closedAt !== null) {
    // An upload that was on its way may finish late: look again after longer and longer pauses.
    const lookAt = Math.max(owner.closedAt + LATE_WRITES_MS, now + (now - owner.closedAt))
    await writeBatch(ctx.db, [removeAllQuery(ctx, userId), set({ lookAt })])
  } else if (readOnly === null) await lookOverLimit(ctx, folder, { owner, limit, set })
  else if (folder.usedFiles === 0) await set({ deleteAt: null, ...NOT_OVER })
  else if (deleteAt === null || now < deleteAt) await warn(ctx, folder, owner, { why: readOnly, set })
  else await deleteAll(ctx, { ...folder, deleteAt }, owner, readOnly)
}

type SetFolder = (values: Partial<FileFolderRow>) => Query

const causeOf = (why: Why, days: number, userId: string, deleteAt: number | null) =>
  `files-${why === 'unpaid' ? 'unpaid' : 'end'}:${days}:${userId}:${deleteAt}`

async function warn(ctx: Context, folder: FileFolderRow, owner: Owner, { why, set }: { why: Why; set: SetFolder }) {
  const now = ctx.now()
  const deleteAt = folder.deleteAt ?? now + FILES_KEPT_DAYS * DAY_MS
  const days = dueWarning(deleteAt, now)
  const cause = causeOf(why, days, folder.userId, deleteAt)
  const words = { days, deleteAt, isUnpaid: why === 'unpaid', beyond: [...thenOf(folder.usedBytes).values()] }
  const message = filesEndMail(siteOrigin(ctx), words)
  const [, notice] = await writeBatch(ctx.db, [
    ...tellQueries(ctx, owner, message, sql`1`, cause),
    // This email says that their files stay if they choose a plan, so we announce anew what exceeds its limit. An
    // unpaid plan doesn't reset that: otherwise, paying late each month would keep any amount.
    set({ deleteAt, ...(why === 'unpaid' ? {} : NOT_OVER) }),
  ])
  tellSoon(ctx, owner.id, notice)
}

/**
 * Not if they have chosen or paid a plan by now. While they may be paying for one, we delete nothing, but only as long
 * as a checkout page is open. @throws unavailable, provider_failed: we must know
 */
async function deleteAll(ctx: Context, folder: FileFolderRow & { deleteAt: number }, owner: Owner, why: Why) {
  const { userId, deleteAt } = folder
  const isOpen = await hearOfPlans(ctx, userId)
  const own = await ctx.db.select().from(plans).where(eq(plans.userId, userId))
  const now = ctx.now()
  const mayPay = isOpen || own.some((plan) => stands(plan, now) && waitsForFirst(plan))
  if (filesRights(own, now).readOnly !== why || (mayPay && now < deleteAt + CHECKOUT_HOLDS_MS)) return
  if (isOpen) await closeOpenCheckout(ctx, userId)
  const unpaid = JSON.stringify(why === 'unpaid' ? UNPAID_STATUSES : ['incomplete'])
  const hasNone = sql`NOT EXISTS (SELECT 1 FROM subscriptions WHERE user_id = ${userId} AND ended_at IS NULL
    AND coalesce(cancel_at, ${now + 1}) > ${now} AND status NOT IN (SELECT value FROM json_each(${unpaid})))
    AND NOT EXISTS (SELECT 1 FROM checkouts WHERE user_id = ${userId} AND status = 'open')`
  const cause = causeOf(why, 0, userId, deleteAt)
  const [, notice] = await writeBatch(ctx.db, [
    ...tellQueries(ctx, owner, filesDeletedMail(siteOrigin(ctx), why === 'unpaid'), hasNone, cause),
    removeAllQuery(ctx, userId, hasNone),
    ctx.db
      .update(fileFolders)
      // Otherwise, a count in the middle of it would look like files that are still to be deleted.
      .set({ deleteAt: null, usedFiles: 0, usedBytes: 0, openUntil: now, countDueAt: now })
      .where(and(eq(fileFolders.userId, userId), hasNone)),
  ])
  tellSoon(ctx, userId, notice)
}
