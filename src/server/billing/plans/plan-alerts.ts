import { alertOperator } from '../../mail/alerts.ts'

type AlertContext = Parameters<typeof alertOperator>[0]

/** What an operator must fix at Stripe by hand: someone paid and got nothing for it. */

export function alertNotRecorded(ctx: AlertContext, stripeId: string, cause: unknown): Promise<void> {
  const alert = {
    matter: `plan_not_recorded:${stripeId}`,
    subject: "We couldn't record a paid plan",
    sentences: [
      `The database rejects the subscription ${stripeId} because the account has another plan. The customer is paying but has no plan.`,
      'End the other plan, or cancel and refund the subscription in the Stripe dashboard. We retry every hour.',
    ],
    fields: { stripeId },
  }
  return alertOperator(ctx, alert, cause)
}

export function alertSecond(ctx: AlertContext, stripeId: string): Promise<void> {
  return alertOperator(ctx, {
    matter: `second_plan_canceled:${stripeId}`,
    subject: 'A second plan was canceled: refund it',
    sentences: [
      `A customer who already has a plan paid for another one (${stripeId}). We canceled it at once.`,
      'Refund its first invoice in the Stripe dashboard.',
    ],
    fields: { stripeId },
  })
}

export function alertIgnored(ctx: AlertContext, stripeId: string, unknown: string): Promise<void> {
  return alertOperator(ctx, {
    matter: `subscription_ignored:${stripeId}`,
    subject: "A Stripe subscription doesn't match any of our plans",
    sentences: [
      `We don't recognize the subscription ${stripeId}: ${unknown} is not ours. If a customer pays for it, they have no plan.`,
      'Cancel and refund it in the Stripe dashboard, or set its metadata user_id and the price of a plan.',
    ],
    fields: { stripeId },
  })
}

export function alertPaidAfterClosing(ctx: AlertContext, stripeId: string): Promise<void> {
  return alertOperator(ctx, {
    matter: `paid_after_closing:${stripeId}`,
    subject: 'A closed account paid for a plan: refund it',
    sentences: [
      `A customer paid for a plan (${stripeId}) just as they closed their account. We cancel it at Stripe.`,
      'Refund its first invoice in the Stripe dashboard.',
    ],
    fields: { stripeId },
  })
}
