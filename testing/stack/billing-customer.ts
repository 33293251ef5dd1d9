import { asc, eq } from 'drizzle-orm'
import { beforeEach } from 'vitest'
import { users } from '../../db/schema/accounts.ts'
import { invoices } from '../../db/schema/billing.ts'
import { outbox } from '../../db/schema/mail.ts'
import type { Card } from '../../dev/stripe/cards.ts'
import type { User } from '../../src/domain/wire/accounts.ts'
import { createCheckout, settleCheckout } from '../../src/server/billing/plans/checkout.ts'
import { openBillingStack } from './billing-stack.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
export const START = Date.UTC(2028, 0, 1)
/** A plan's month is over, and its bill is written within minutes. */
export const MONTH = Date.UTC(2028, 1, 1)

type Bought = { card?: Card; answer?: 'yes' | 'no'; hours?: number }

/** A billing stack with one person at a time, each test's own: their rows, their emails, and how they buy. */
export async function openCustomer() {
  const stack = await openBillingStack(START)
  const me = { user: {} as User }
  /** Everything starts over, with somebody else. */
  const renew = async () => {
    await stack.forgetEverybody()
    stack.clock.now = START
    me.user = await stack.newUser()
  }
  beforeEach(async () => {
    stack.setWebhooks('kept')
    await renew()
  })
  const mails = () =>
    stack.db.select().from(outbox).where(eq(outbox.recipient, me.user.email)).orderBy(asc(outbox.createdAt))
  return {
    stack,
    me,
    renew,
    /** Their only invoice of usage, or the first one. */
    row: async () => (await stack.db.select().from(invoices).where(eq(invoices.userId, me.user.id)))[0],
    account: async () => (await stack.db.select().from(users).where(eq(users.id, me.user.id)))[0],
    mails,
    subjects: async () => (await mails()).map(({ subject }) => subject),

    /** Someone who bought Basic, said whether we may charge usage, and then used 3 hours more than it includes. */
    async buyBasic({ card = 'good', answer, hours = 8 }: Bought = {}): Promise<void> {
      const { url } = await createCheckout(stack.ctx, me.user, { planType: 'basic' })
      await stack.press(url, card === 'good' ? undefined : card, answer ? { chargeUsage: answer } : {})
      await settleCheckout(stack.ctx, me.user.id)
      await stack.insertRun(me.user.id, { from: START + HOUR, until: START + (1 + hours) * HOUR })
    },
  }
}
