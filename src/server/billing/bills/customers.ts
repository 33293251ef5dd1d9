import { and, eq, isNull } from 'drizzle-orm'
import { users } from '../../../../db/schema.ts'
import { AppError } from '../../../domain/error.ts'
import type { Context } from '../../context.ts'

/** The user's customer at the payment provider: the one we know, or one we find there, or a new one. */
export async function ensureCustomer(ctx: Context, userId: string): Promise<string> {
  const [user] = await ctx.db
    .select({ id: users.id, email: users.email, customerId: users.stripeCustomerId })
    .from(users)
    .where(eq(users.id, userId))
  if (!user) throw new AppError('not_found', 'There is no such user.')
  if (user.customerId) return user.customerId
  const customerId =
    (await ctx.payments.findCustomer(user)) ?? (await ctx.payments.createCustomer(user, `customer:${userId}`))
  await ctx.db
    .update(users)
    .set({ stripeCustomerId: customerId })
    .where(and(eq(users.id, userId), isNull(users.stripeCustomerId)))
  return customerId
}
