import { and, eq, isNull } from 'drizzle-orm'
import { users } from '../../../../db/schema/accounts.ts'
import { AppError } from '../../../domain/error.ts'
import { CustomerMissing } from '../../ports/payments.ts'
import type { Context } from '../../runtime/context.ts'

/** Makes the call with the user's customer. If someone deleted that customer at the provider, a new one takes its place. */
export async function withCustomer<T>(
  ctx: Context,
  userId: string,
  call: (customerId: string) => Promise<T>,
): Promise<T> {
  const customerId = await ensureCustomer(ctx, userId)
  try {
    return await call(customerId)
  } catch (error) {
    if (!(error instanceof CustomerMissing)) throw error
    await ctx.db
      .update(users)
      .set({ stripeCustomerId: null })
      .where(and(eq(users.id, userId), eq(users.stripeCustomerId, customerId)))
    return call(await ensureCustomer(ctx, userId, customerId))
  }
}

/**
 * The user's customer at the payment provider: the one we know, one we find there, or a new one.
 * @param deleted the previous one, whose key would return it again
 */
export async function ensureCustomer(ctx: Context, userId: string, deleted = ''): Promise<string> {
  const [user] = await ctx.db
    .select({ id: users.id, email: users.email, customerId: users.stripeCustomerId })
    .from(users)
    .where(eq(users.id, userId))
  if (!user) throw new AppError('not_found', 'There is no such user.')
  if (user.customerId) return user.customerId
  const key = ['customer', userId, deleted].filter(Boolean).join(':')
  const customerId = (await ctx.payments.findCustomer(user)) ?? (await ctx.payments.createCustomer(user, key))
  await ctx.db
    .update(users)
    .set({ stripeCustomerId: customerId })
    .where(and(eq(users.id, userId), isNull(users.stripeCustomerId)))
  return customerId
}
