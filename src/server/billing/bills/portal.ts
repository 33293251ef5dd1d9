import { eq } from 'drizzle-orm'
import { users } from '../../../../db/schema.ts'
import { AppError } from '../../../domain/error.ts'
import { type Context, siteOrigin } from '../../context.ts'
import { limitPerson } from '../../limits/limits.ts'
import { withCustomer } from './customers.ts'

type Account = { customerId: string | null }

export function customerQuery(ctx: Context, userId: string) {
  return ctx.db.select({ customerId: users.stripeCustomerId }).from(users).where(eq(users.id, userId))
}

/** Whether there is anything to show: Stripe knows them as a customer. */
export function hasPortal(account: Account | undefined): boolean {
  return Boolean(account?.customerId)
}

/**
 * Opens Stripe's page with the user's payment method and receipts, for this one click.
 * @throws not_found, too_many, unavailable, provider_failed
 */
export async function openPortal(ctx: Context, userId: string): Promise<string> {
  const [account] = await customerQuery(ctx, userId)
  if (!account?.customerId)
    throw new AppError('not_found', "You haven't paid for anything yet, so there are no receipts.")
  await limitPerson(ctx, 'portal', userId)
  const returnUrl = `${siteOrigin(ctx)}/billing_history`
  return withCustomer(ctx, userId, (customerId) => ctx.payments.createPortal({ customerId, returnUrl }))
}
