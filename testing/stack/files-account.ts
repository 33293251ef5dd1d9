import { asc, eq } from 'drizzle-orm'
import { users } from '../../db/schema/accounts.ts'
import { plans } from '../../db/schema/billing.ts'
import { fileFolders } from '../../db/schema/files.ts'
import { notices, outbox } from '../../db/schema/mail.ts'
import type { PlanType } from '../../src/domain/money/plan.ts'
import { newId } from '../../src/server/crypto/id.ts'
import { openFolder } from '../../src/server/files/folder.ts'
import { accountContext } from '../people/account-app.ts'
import { memoryBucket } from './memory-bucket.ts'

/** Someone with files in a bucket in memory. */
export async function openFilesAccount(planType: PlanType | null = 'demo') {
  const account = accountContext()
  const { clock } = account
  const memory = memoryBucket(() => clock.ms)
  const ctx = { ...account.ctx, bucket: memory.bucket }
  const userId = newId('user')
  const email = `${userId.toLowerCase()}@example.com`
  await ctx.db.insert(users).values({
    id: userId,
    email,
    name: 'Ada',
    passwordHash: 'none',
    confirmedAt: clock.ms,
    createdAt: clock.ms,
  })
  const givePlan = async (type: PlanType) => {
    const subType = type === 'demo' ? ('demo' as const) : ('paid' as const)
    const row = { planType: type, subType, status: 'active', anchor: clock.ms, createdAt: clock.ms }
    await ctx.db.insert(plans).values({ id: newId('sub'), userId, ...row })
  }
  if (planType) await givePlan(planType)
  const { prefix } = await openFolder(ctx, userId)
  return {
    ...account,
    ctx,
    memory,
    userId,
    email,
    givePlan,
    endPlan: async () => {
      clock.ms += 1
      await ctx.db.update(plans).set({ endedAt: clock.ms }).where(eq(plans.userId, userId))
    },
    put: (path: string, size: number) => memory.put(`${prefix}/files/${path}`, size),
    /** What the bucket has, without the prefix. */
    keys: () => memory.keys().map((key) => key.slice(prefix.length + 1)),
    folder: async () => {
      const [row] = await ctx.db.select().from(fileFolders).where(eq(fileFolders.userId, userId))
      if (!row) throw new Error('There is no folder')
      return row
    },
    mails: async () => {
      const rows = await ctx.db.select().from(outbox).where(eq(outbox.recipient, email)).orderBy(asc(outbox.createdAt))
      return rows.map(({ subject }) => subject)
    },
    /** Under the bell. */
    notices: async () => {
      const rows = await ctx.db.select().from(notices).where(eq(notices.userId, userId)).orderBy(asc(notices.at))
      return rows.map(({ kind, title, link }) => ({ kind, title, link }))
    },
  }
}
