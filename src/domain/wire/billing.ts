import * as z from 'zod/mini'
import { day, instant, planType } from './fields.ts'

export const subscription = z.object({
  plan_type: planType,
  status: z.string(),
  current_period_start: instant,
  /** Null for a demo: it has no cycle and ends when its minutes are used up. */
  current_period_end: z.nullable(instant),
  hours: z.number(),
  sub_type: z.enum(['demo', 'paid']),
  cancel_at_period_end: z.boolean(),
  /** The plan of the next period and its hours; null if there is none. */
  next_plan_type: z.nullable(planType),
  next_hours: z.nullable(z.number()),
})
export type Subscription = z.infer<typeof subscription>

const monthlyUsage = z.object({
  hoursUsed: z.number(),
  serverSessions: z.int(),
  runningServers: z.int(),
  amountOwedDollars: z.number(),
})
export type MonthlyUsage = z.infer<typeof monthlyUsage>

/** A sentence, and the path of the page to do something about it. */
const startRefusal = z.object({
  code: z.enum(['held', 'suspended', 'plan_unpaid', 'no_plan', 'budget']),
  error: z.string(),
  page: z.string(),
})
export type StartRefusal = z.infer<typeof startRefusal>

export const summary = z.object({
  monthlyUsage,
  subscription: z.nullable(subscription),
  /** True while an invoice is overdue: no server can start. */
  suspended: z.boolean(),
  /** Why the account can't start a server now. A used-up trial and a live server also refuse, but show elsewhere. */
  start_refusal: z.nullable(startRefusal),
  /** Usage is counted up to this moment. */
  as_of: instant,
})
export type Summary = z.infer<typeof summary>

export const billing = z.object({
  id: z.string(),
  /** A month of usage, a payment of the plan, or a correction of a bill. */
  kind: z.enum(['usage', 'plan', 'correction']),
  start_date: day,
  end_date: day,
  amount_owed: z.number(),
  seconds_used: z.int(),
  paid: z.boolean(),
  overdue: z.boolean(),
  transaction_id: z.nullable(z.string()),
  /** The plan's name, or that there was none. */
  plan: z.string(),
  due_date: z.nullable(day),
  /** Stripe's, on its invoice. */
  invoice_number: z.nullable(z.string()),
  /** What the customer got back of the payment by refunds, in dollars. */
  amount_refunded: z.number(),
  /** What became of the payment at their bank; null if they never disputed it. Who wins keeps the money. */
  dispute: z.nullable(z.enum(['open', 'won', 'lost'])),
})
export type BillingRecord = z.infer<typeof billing>
export type BillKind = BillingRecord['kind']

export const budget = z.nullable(z.object({ dollars: z.int(), stops: z.boolean() }))
