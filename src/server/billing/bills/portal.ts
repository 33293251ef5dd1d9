import { eq } from 'drizzle-orm'
import { type UserRow, users } from '../../../../db/schema/accounts.ts'
import { AppError } from '../../../domain/error.ts'
import { type ChargeChoice, chargeChoice } from '../../../domain/money/charge.ts'
import { limitPerson } from '../../limits/limits.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'
import { withCustomer } from './customers.ts'

type Account = Pick<UserRow, 'stripeCustomerId' | 'chargeConsentAt' | 'chargeRefusedAt'>

export function customerQuery(ctx: Context, userId: string) {
  const { stripeCustomerId, chargeConsentAt, chargeRefusedAt } = users
  return ctx.db.select({ stripeCustomerId, chargeConsentAt, chargeRefusedAt }).from(users).where(eq(users.id, userId))
}

/** Whether they let us charge their card for usage. */
export function chargingOf(account: Account | undefined): ChargeChoice {
  return account ? chargeChoice(account) : 'unasked'
}

/** Whether there is anything to show: Stripe knows them as a customer. */
export function hasPortal(account: Account | undefined): boolean {
  return Boolean(account?.stripeCustomerId)
}

/**
 * Opens Stripe's page with the user's payment method and receipts, for this one click.
 * @throws not_found, too_many, unavailable, provider_failed
 */
export async function openPortal(ctx: Context, userId: string): Promise<string> {
  const [account] = await customerQuery(ctx, userId)
  if (!account?.stripeCustomerId)
    throw new AppError('not_found', "You haven't paid for anything yet, so there are no receipts.")
  await limitPerson(ctx, 'portal', userId)
  const returnUrl = `${siteOrigin(ctx)}/billing_history`
  return withCustomer(ctx, userId, (customerId) => ctx.payments.createPortal({ customerId, returnUrl }))
}
