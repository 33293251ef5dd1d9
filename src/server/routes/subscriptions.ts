import { Hono } from 'hono'
import * as z from 'zod/mini'
import { orElse } from '../../domain/error.ts'
import { CANCEL_FAILED, SUBSCRIPTION_CANCELLED } from '../../domain/money/plan.ts'
import { getUsage, toSummary } from '../billing/bills/usage.ts'
import { cancelPlan } from '../billing/plans/cancel-plan.ts'
import { createCheckout } from '../billing/plans/checkout.ts'
import { type AppEnv, signedIn } from '../http/app-env.ts'
import { body, text } from '../http/body.ts'
import { answer } from '../http/reply.ts'

export const subscriptions = new Hono<AppEnv>()
  .post('/api/v1/subscriptions/cancel_subscription_at_period_end', async (c) => {
    const { ctx } = c.var
    const { user } = signedIn(c)
    await cancelPlan(ctx, user).catch(orElse(CANCEL_FAILED))
    const { subscription } = toSummary(await getUsage(ctx, user.id))
    return answer(c, { subscription, message: SUBSCRIPTION_CANCELLED })
  })
  .post('/api/v1/subscriptions/create_checkout_session', body(z.object({ plan_type: text })), async (c) => {
    const { url } = await createCheckout(c.var.ctx, signedIn(c).user, { planType: c.req.valid('json').plan_type })
    return c.get('form') ? c.redirect(url, 303) : c.json({ url })
  })
