import { eq, sql } from 'drizzle-orm'
import { users } from '../../../db/schema/accounts.ts'
import { type FileFolderRow, fileFolders } from '../../../db/schema/files.ts'
import { sizeText } from '../../domain/files.ts'
import { toDay } from '../../domain/instant.ts'
import { reachedPercent, usedOfLimit } from '../../domain/money/plan-files.ts'
import { alertOperator } from '../mail/alerts.ts'
import { filesFullMail } from '../mail/files-letters.ts'
import { tellQueries } from '../mail/notices.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'

/**
 * What to write with a new count. At 80 and 100% of the limit, a notice and an email: once until usage drops again, and
 * at most once a day. `queries` has the notice second. Without a limit, the operator hears about very large folders.
 */
export async function tellHowFull(ctx: Context, folder: FileFolderRow, limit: number | null) {
  const { userId, toldPercent } = folder
  const stored = usedOfLimit(folder, limit)
  const percent = reachedPercent(stored, limit)
  const nothing = { percent: toldPercent, queries: [], afterward: async () => {} }
  if (percent === toldPercent) return nothing
  const note = ctx.db.update(fileFolders).set({ toldPercent: percent }).where(eq(fileFolders.userId, userId))
  if (percent < toldPercent) return { ...nothing, percent, queries: [note] }
  if (limit === null) return { percent, queries: [note], afterward: () => alertOfSize(ctx, userId, percent, stored) }
  const [user] = await ctx.db
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(sql`${users.id} = ${userId} AND ${users.closedAt} IS NULL`)
  if (!user) return nothing
  const message = filesFullMail(siteOrigin(ctx), { percent, used: sizeText(stored), limit: sizeText(limit) })
  const toldThem = Math.min(percent, 100)
  const isNew = sql`EXISTS (SELECT 1 FROM file_folders WHERE user_id = ${userId} AND told_percent < ${toldThem})`
  const cause = `files:${toldThem}:${userId}:${toDay(ctx.now())}`
  const afterward = async () => {
    if (percent >= 200) await alertOfExcess(ctx, { userId, percent, used: sizeText(stored), limit: sizeText(limit) })
  }
  return { percent, queries: [...tellQueries(ctx, user, message, isNew, cause), note], afterward }
}

type Excess = { userId: string; percent: number; used: string; limit: string }

function alertOfExcess(ctx: Context, { userId, percent, used, limit }: Excess) {
  return alertOperator(ctx, {
    matter: `files_over:${userId}:${percent}`,
    subject: `Someone keeps ${percent / 100} times the files that their plan includes`,
    sentences: [
      `${userId} keeps ${used}, and their plan includes ${limit}. They wrote it with credentials or links, or from a server, and can't add any more that way once these end.`,
      'After 7 days and two emails, we delete the newest files over the limit. Too many files alone delete nothing: then only you can act. We email you each time it doubles. If it grows, suspend the account, and stop its server, which keeps writing. The console shows both.',
    ],
    fields: { userId },
  })
}

function alertOfSize(ctx: Context, userId: string, percent: number, usedBytes: number): Promise<void> {
  return alertOperator(ctx, {
    matter: `files_large:${userId}:${percent}`,
    subject: `Someone keeps ${sizeText(usedBytes)} of files`,
    sentences: [
      `${userId} keeps ${sizeText(usedBytes)}. Their plan has no limit, and the bucket's provider bills you for it. We email you each time it doubles.`,
      "If it doesn't look like synthetic data, write to them: the console shows who they are.",
    ],
    fields: { userId },
  })
}
