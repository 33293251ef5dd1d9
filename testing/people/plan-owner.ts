import { asc, eq } from 'drizzle-orm'
import { beforeEach } from 'vitest'
import { checkouts, plans } from '../../db/schema/billing.ts'
import { places, runs } from '../../db/schema/fleet.ts'
import { HOUR_MS } from '../../src/domain/instant.ts'
import type { User } from '../../src/domain/wire/accounts.ts'
import { getAllowance } from '../../src/server/billing/allowance.ts'
import { getUsage, toSummary } from '../../src/server/billing/bills/usage.ts'
import { cancelPlan } from '../../src/server/billing/plans/cancel-plan.ts'
import { changePlan, quoteChange } from '../../src/server/billing/plans/change-plan.ts'
import { createCheckout, settleCheckout } from '../../src/server/billing/plans/checkout.ts'
import { keepPlan } from '../../src/server/billing/plans/keep-plan.ts'
import { findPlanPayPage } from '../../src/server/billing/plans/pay-plan.ts'
import { syncPlan } from '../../src/server/billing/plans/plan-sync.ts'
import { findAvailability } from '../../src/server/fleet/availability.ts'
import { startRun } from '../../src/server/fleet/start-run.ts'
import type { PaidSubscription } from '../../src/server/ports/payments.ts'
import type { Context } from '../../src/server/runtime/context.ts'
import { openBillingStack } from '../stack/billing-stack.ts'

/** What someone does with their plan, and what they then have. Each test begins with a new person, at the same moment. */
export async function openPlanOwner(start: number) {
  const stack = await openBillingStack(start)
  const { db, ctx } = stack
  await db
    .insert(places)
    .values({ id: 'srv_4', instanceType: 'g6.12xlarge', availabilityZone: 'us-east-1a', gpus: 4, position: 1 })
  let owner: User
  beforeEach(async () => {
    await stack.forgetEverybody()
    stack.stripe.heal()
    stack.clock.now = start
    owner = await stack.newUser()
  })
  const listPlans = () => db.select().from(plans).where(eq(plans.userId, owner.id)).orderBy(asc(plans.createdAt))
  const plan = async () => (await listPlans()).at(-1)
  const stripeId = async () => (await plan())?.stripeSubscriptionId ?? ''
  const open = (planType: string) => createCheckout(ctx, owner, { planType })
  const pay = async (planType: string, card?: 'declined_later' | 'bank_asks') =>
    stack.press((await open(planType)).url, card)

  return {
    stack,
    owner: () => owner,
    /** The test continues with another new person. */
    async another() {
      owner = await stack.newUser()
    },
    listPlans,
    plan,
    stripeId,
    /** The latest subscription at Stripe, whether or not we have heard of it. */
    async soldId() {
      const { data } = await stack.atStripe<{ data: { id: string }[] }>('subscriptions?limit=1')
      return data[0]?.id ?? ''
    },
    planStates: async () => (await listPlans()).map(({ planType, status }) => [planType, status]),
    /** Opens a checkout page; pays on it; and lets us hear of that. */
    open,
    pay,
    async buy(...wanted: Parameters<typeof pay>) {
      await pay(...wanted)
      await settleCheckout(ctx, owner.id)
      return { anchor: (await plan())?.anchor ?? 0, stripeId: await stripeId() }
    },
    visits: () => db.select().from(checkouts).where(eq(checkouts.userId, owner.id)),
    quote: (planType: string) => quoteChange(ctx, owner, planType),
    change: (planType: string, quotedAt: number | null = null) => changePlan(ctx, owner, { planType, quotedAt }),
    keep: () => keepPlan(ctx, owner),
    cancel: () => cancelPlan(ctx, owner),
    payPage: async () => (await findPlanPayPage(ctx, owner.id)).page,
    /** A fresh look at Stripe, as after a webhook. */
    hear: async () => syncPlan(ctx, await stripeId()),
    ranOn: (at: number, hours: number) => stack.insertRun(owner.id, { from: at, until: at + hours * HOUR_MS }),
    summary: async () => toSummary(await getUsage(ctx, owner.id)),
    subscription: async () => toSummary(await getUsage(ctx, owner.id)).subscription,
    /** Each bill's plan, hours, and cents, oldest first. */
    async listBills() {
      return (await stack.billsOf(owner.id)).map(({ planType, includedHours, amountCents }) => [
        planType,
        includedHours,
        amountCents,
      ])
    },
    /** The plan's invoices at Stripe, oldest first, in cents. */
    async charged() {
      const { data } = await stack.atStripe<{ data: { total: number }[] }>(`invoices?subscription=${await stripeId()}`)
      return data.map(({ total }) => total).reverse()
    },
    /** Answers as if Stripe said this about that subscription. */
    says(found: PaidSubscription | null, change: Partial<PaidSubscription> = {}): Context {
      const findSubscription = async () => found && { ...found, ...change }
      return { ...ctx, payments: { ...ctx.payments, findSubscription } }
    },
    /** The IDs of the places that their plan includes. */
    async sizes(heard = ctx) {
      const { candidates } = await findAvailability(heard, owner.id, await getAllowance(heard, owner.id))
      return candidates.map(({ server_id }) => server_id).sort()
    },
    /** Starts a server, if they may, and frees its place at once. @returns how they are refused */
    async tryStart(heard = ctx): Promise<string> {
      const tried = await startRun(heard, { user: owner }).then(
        () => 'started',
        (error) => `${error.code}: ${error.message} ${error.page}`,
      )
      await db.update(runs).set({ endedAt: stack.clock.now }).where(eq(runs.userId, owner.id))
      await db.update(places).set({ reservedBy: null })
      return tried
    },
  }
}
