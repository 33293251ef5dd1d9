import type { Context as HonoContext } from 'hono'
import * as z from 'zod/mini'
import { AppError, orElse } from '../../../domain/error.ts'
import { CANCEL_FAILED, SUBSCRIPTION_CANCELLED } from '../../../domain/money/plan.ts'
import { haveNow, haveStill, haveThen } from '../../../domain/money/plan-words.ts'
import type { Subscription } from '../../../domain/wire/billing.ts'
import * as shape from '../../../domain/wire/billing.ts'
import { getUsage, toSummary } from '../../billing/bills/usage.ts'
import { createCheckout } from '../../billing/plans/checkout.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { text } from '../../http/fields.ts'
import { answer } from '../../http/reply.ts'
import { route } from '../../http/route.ts'
import type { Context } from '../../runtime/context.ts'

/** Tells the account page which of its cards the message belongs to. */
const ABOUT_PLAN = { carry: { about: 'plan' } }

// People rarely change plans, so what does that is imported then: it doesn't slow the Worker's start.

export const subscriptions = [
  route('POST /api/v1/subscriptions/cancel_subscription_at_period_end', {
    access: 'user',
    form: { at: '/account_overview', done: '/account_overview', back: true },
    summary: 'Cancel your plan at the end of its period',
    answers: [200, z.object({ subscription: z.nullable(shape.subscription), message: z.string() })],
    refuses: ['not_found', 'provider_failed'],
    when: { 429: 'twenty an hour' },
  }).answer(async (c) => {
    const { ctx } = c.var
    const { user } = signedIn(c)
    const { cancelPlan } = await import('../../billing/plans/cancel-plan.ts')
    await cancelPlan(ctx, user).catch(orElse(CANCEL_FAILED))
    const { subscription } = toSummary(await getUsage(ctx, user.id))
    return answer(c, { subscription, message: SUBSCRIPTION_CANCELLED }, ABOUT_PLAN)
  }),
  route('POST /api/v1/subscriptions/keep_subscription', {
    access: 'user',
    form: { at: '/account_overview', done: '/account_overview', back: true },
    summary: 'Keep your plan: undo its cancellation, or its change with the next period',
    answers: [200, z.object({ subscription: shape.subscription, message: z.string() })],
    refuses: ['not_found', 'conflict', 'provider_failed'],
    when: { 409: 'it has just changed', 429: 'twenty an hour, with changes' },
  }).answer(async (c) => {
    const { ctx } = c.var
    const { keepPlan } = await import('../../billing/plans/keep-plan.ts')
    await keepPlan(ctx, signedIn(c).user)
    const subscription = await getSubscription(ctx, signedIn(c).user.id)
    return answer(c, { subscription, message: haveStill(subscription) }, ABOUT_PLAN)
  }),
  route('POST /api/v1/subscriptions/change_plan', {
    access: 'user',
    form: { at: '/subscriptions/change', done: '/account_overview' },
    takes: z.object({ plan_type: text, quoted_at: z.optional(z.iso.datetime()) }),
    summary: 'Upgrade at once, or switch to the smaller plan with the next period',
    description: [
      'Basic to Premium at once, charged to the card; Premium to Basic with the next period.',
      '`quoted_at` (optional, at most 10 minutes ago) fixes the price, and repeating it charges once.',
    ],
    answers: [200, z.object({ subscription: shape.subscription, message: z.string() })],
    refuses: ['plan_unpaid', 'not_found', 'conflict', 'invalid', 'not_offered', 'provider_failed'],
    when: {
      402: 'the card was declined; with `page`: the plan is unpaid, or the bank wants the payment confirmed there, and the plan changes once it is',
      409: 'look again',
      429: 'twenty an hour',
    },
  }).answer(async (c) => {
    const { ctx } = c.var
    const { plan_type, quoted_at } = c.req.valid('json')
    const quotedAt = quoted_at === undefined ? null : Date.parse(quoted_at)
    const { changePlan } = await import('../../billing/plans/change-plan.ts')
    const kind = await changePlan(ctx, signedIn(c).user, { planType: plan_type, quotedAt })
    const subscription = await getSubscription(ctx, signedIn(c).user.id)
    const message = kind === 'upgrade' ? haveNow(subscription) : await haveThenWithFiles(c, subscription)
    return answer(c, { subscription, message }, ABOUT_PLAN)
  }),
  route('POST /api/v1/subscriptions/create_checkout_session', {
    access: 'user',
    form: { at: '/subscriptions', done: '/account_overview' },
    errorFields: ({ errors }) => ({ Errors: errors }),
    takes: z.object({ plan_type: text }),
    summary: 'Open a checkout page',
    description: 'You get the same page again while it is open.',
    answers: [200, z.object({ url: z.url() })],
    refuses: ['conflict', 'invalid', 'not_offered', 'provider_failed'],
    when: { 422: 'also while plans are not for sale', 429: 'six an hour' },
  }).answer(async (c) => {
    const { url } = await createCheckout(c.var.ctx, signedIn(c).user, { planType: c.req.valid('json').plan_type })
    return c.get('form') ? c.redirect(url, 303) : c.json({ url })
  }),
]

async function haveThenWithFiles(c: HonoContext<AppEnv>, subscription: Subscription): Promise<string> {
  const { filesThen } = await import('../../files/over-limit.ts')
  const then = subscription.next_plan_type
  const files = then && (await filesThen(c.var.ctx, signedIn(c).user.id)).get(then)
  return files ? `${haveThen(subscription)} ${files}` : haveThen(subscription)
}

async function getSubscription(ctx: Context, userId: string): Promise<Subscription> {
  const { subscription } = toSummary(await getUsage(ctx, userId))
  if (subscription) return subscription
  throw new AppError('conflict', 'Your plan has just ended. Please look at it again.')
}
