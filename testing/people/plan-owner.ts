import { asc, eq } from 'drizzle-orm'
import { bills, places, plans, runs } from '../../db/schema.ts'
import type { User } from '../../src/domain/wire.ts'
import { getAllowance } from '../../src/server/billing/allowance.ts'
import { getUsage, toSummary } from '../../src/server/billing/bills/usage.ts'
import { changePlan } from '../../src/server/billing/plans/change-plan.ts'
import { createCheckout, settleCheckout } from '../../src/server/billing/plans/checkout.ts'
import { syncPlan } from '../../src/server/billing/plans/plan-sync.ts'
import type { Context } from '../../src/server/context.ts'
import { findAvailability } from '../../src/server/fleet/availability.ts'
import { startRun } from '../../src/server/fleet/start-run.ts'
import type { PaidSubscription } from '../../src/server/ports/payments.ts'
import type { BillingStack } from '../stack/billing-stack.ts'

/** What someone does with their plan, and what they then have. @param owner the person of the test that runs now */
export function planOwner(stack: BillingStack, owner: () => User) {
  const listPlans = () =>
    stack.db.select().from(plans).where(eq(plans.userId, owner().id)).orderBy(asc(plans.createdAt))
  const plan = async () => (await listPlans()).at(-1)
  const stripeId = async () => (await plan())?.stripeSubscriptionId ?? ''

  return {
    listPlans,
    plan,
    planStates: async () => (await listPlans()).map(({ planType, status }) => [planType, status]),
    async buy(planType: string, card?: 'declined_later' | 'bank_asks') {
      await stack.press((await createCheckout(stack.ctx, owner(), { planType })).url, card)
      await settleCheckout(stack.ctx, owner().id)
      return { anchor: (await plan())?.anchor ?? 0, stripeId: await stripeId() }
    },
    change: (planType: string, quotedAt: number | null = null) =>
      changePlan(stack.ctx, owner(), { planType, quotedAt }),
    /** A fresh look at Stripe, as after a webhook. */
    hear: async () => syncPlan(stack.ctx, await stripeId()),
    subscription: async () => toSummary(await getUsage(stack.ctx, owner().id)).subscription,
    /** Each bill's plan, hours, and cents, oldest first. */
    async listBills() {
      const own = stack.db.select().from(bills).where(eq(bills.userId, owner().id))
      const written = await own.orderBy(asc(bills.periodStart))
      return written.map(({ planType, includedHours, amountCents }) => [planType, includedHours, amountCents])
    },
    /** The plan's invoices at Stripe, oldest first, in cents. */
    async charged() {
      const { data } = await stack.atStripe<{ data: { total: number }[] }>(`invoices?subscription=${await stripeId()}`)
      return data.map(({ total }) => total).reverse()
    },
    /** Answers as if Stripe said this about that subscription. */
    says(found: PaidSubscription | null, change: Partial<PaidSubscription>): Context {
      const findSubscription = async () => found && { ...found, ...change }
      return { ...stack.ctx, payments: { ...stack.ctx.payments, findSubscription } }
    },
    /** The IDs of the places that their plan includes. */
    async sizes(ctx = stack.ctx) {
      const { candidates } = await findAvailability(ctx, owner().id, await getAllowance(ctx, owner().id))
      return candidates.map(({ server_id }) => server_id).sort()
    },
    /** Starts a server, if they may, and frees its place at once. @returns how they are refused */
    async tryStart(ctx = stack.ctx): Promise<string> {
      const tried = await startRun(ctx, { user: owner(), suspended: false }).then(
        () => 'started',
        (error) => `${error.code}: ${error.message} ${error.page}`,
      )
      await stack.db.update(runs).set({ endedAt: stack.clock.now }).where(eq(runs.userId, owner().id))
      await stack.db.update(places).set({ reservedBy: null })
      return tried
    },
  }
}
