import { Hono } from 'hono'
import * as z from 'zod/mini'
import { orElse } from '../../domain/error.ts'
import { CANCEL_FAILED, SUBSCRIPTION_CANCELLED } from '../../domain/money/plan.ts'
import { answer } from '../answer.ts'
import { type AppEnv, signedIn } from '../app-env.ts'
import { cancelAtPeriodEnd } from '../services/cancel-subscription.ts'
import { createCheckout } from '../services/checkout.ts'
import { getUsage, toSummary } from '../services/usage.ts'
import { body, text } from './body.ts'

export const subscriptions = new Hono<AppEnv>()
  .post('/api/v1/subscriptions/cancel_subscription_at_period_end', async (c) => {
    const { ctx } = c.var
    const { user } = signedIn(c)
    await cancelAtPeriodEnd(ctx, user).catch(orElse(CANCEL_FAILED))
    const { subscription } = toSummary(await getUsage(ctx, user.id))
    return answer(c, { subscription, message: SUBSCRIPTION_CANCELLED })
  })
  .post('/api/v1/subscriptions/create_checkout_session', body(z.object({ plan_type: text })), async (c) => {
    const { url } = await createCheckout(c.var.ctx, signedIn(c).user, { planType: c.req.valid('json').plan_type })
    return c.get('form') ? c.redirect(url, 303) : c.json({ url })
  })
