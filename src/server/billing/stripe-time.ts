import type { Context } from '../context.ts'

/**
 * What Stripe answered, and when it was asked. Every change at Stripe sends an event after it, and so a question after it: the answer
 * to the latest question is the latest state, in whatever order the answers are written down.
 */
export async function findWithTime<T>(ctx: Context, find: () => Promise<T>): Promise<{ found: T; askedAt: number }> {
  const askedAt = ctx.now()
  return { found: await find(), askedAt }
}
