import type { Context } from '../../context.ts'

/** Leaves the plan without a change ahead, even if another click was faster. */
export async function releaseSchedule(ctx: Context, stripeId: string, scheduleId: string): Promise<void> {
  try {
    await ctx.payments.releaseSchedule(scheduleId)
  } catch (error) {
    if ((await ctx.payments.findSubscription(stripeId))?.scheduleId === scheduleId) throw error
  }
}
