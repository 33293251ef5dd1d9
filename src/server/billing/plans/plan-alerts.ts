import { alertOperator } from '../../mail/alerts.ts'

type AlertContext = Parameters<typeof alertOperator>[0]

/** What an operator must mend at Stripe by hand: somebody paid, and has nothing for it. */

export function alertNotRecorded(ctx: AlertContext, stripeId: string, cause: unknown): Promise<void> {
  const alert = {
    matter: `plan_not_recorded:${stripeId}`,
    subject: 'A paid plan could not be recorded',
    sentences: [
      `The database refuses the subscription ${stripeId} because another plan of the same account stands. The customer pays and has no plan.`,
      'End the other plan, or cancel and refund the subscription in the Stripe dashboard. We ask Stripe again every hour.',
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
      `Somebody who has a plan paid for another one (${stripeId}). We canceled it at once.`,
      'Refund its first invoice in the Stripe dashboard.',
    ],
    fields: { stripeId },
  })
}

export function alertIgnored(ctx: AlertContext, stripeId: string, unknown: string): Promise<void> {
  return alertOperator(ctx, {
    matter: `subscription_ignored:${stripeId}`,
    subject: 'A subscription at Stripe belongs to no plan of ours',
    sentences: [
      `We know nothing of the subscription ${stripeId}: ${unknown} is not ours. If a customer pays for it, they have no plan.`,
      'Cancel and refund it in the Stripe dashboard, or give it the metadata user_id and the price of a plan.',
    ],
    fields: { stripeId },
  })
}
