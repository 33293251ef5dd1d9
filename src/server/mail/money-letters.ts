import { instantText, toDay } from '../../domain/instant.ts'
import { BUDGET_PAGE } from '../../domain/money/budget.ts'
import { dollars, seconds } from '../../domain/money/money.ts'
import { BASIC, OVERAGE_DOLLARS_PER_HOUR, PREMIUM } from '../../domain/money/plan.ts'
import { composeMessage, type Message } from './letter.ts'

/** Emails about hours and invoices, with the numbers of the screens. Times are ms since 1970. */

export const day = (at: number) => instantText(toDay(at), false)
const RATE = `${dollars(OVERAGE_DOLLARS_PER_HOUR)} an hour, billed by the second`

type Used = { percent: 80 | 100; hoursUsed: number; hours: number; plan: string; until: number }

export function hoursUsedMail(origin: string, { percent, hoursUsed, hours, plan, until }: Used): Message {
  const included = `the ${hours} hours that ${plan} includes until ${day(until)}`
  const usage = { link: `${origin}/dashboard`, label: 'See your usage' }
  const larger =
    plan === BASIC.name
      ? [
          `${PREMIUM.name} includes ${PREMIUM.hours} hours a month for ${dollars(PREMIUM.dollarsPerMonth ?? 0)}.`,
          { link: `${origin}/subscriptions`, label: 'Compare plans' },
        ]
      : []
  if (percent === 80)
    return composeMessage('hours', '80% of your included hours are used', [
      `You've used ${hoursUsed.toFixed(2)} of ${included}.`,
      `After that, server time costs ${RATE}. A running server keeps running.`,
      usage,
      ...larger,
    ])
  return composeMessage('hours', 'Your included hours are used up', [
    `You've used all of ${included}. From now on, server time costs ${RATE}.`,
    "A running server keeps running. Stop it when you don't need it.",
    usage,
    ...larger,
  ])
}

type Reached = { cents: number; chargedCents: number; stops: boolean; from: number; until: number }

export function budgetReachedMail(origin: string, { cents, chargedCents, stops, from, until }: Reached): Message {
  const budget = dollars(cents / 100)
  return composeMessage('budget', `Your budget of ${budget} is used up`, [
    `Since ${day(from)}, server time beyond your plan has cost ${dollars(chargedCents / 100)}. Your budget is ${budget} a month.`,
    stops
      ? `As you asked, we stop your server now. You can't start another one until you raise your budget, or until ${day(until)}.`
      : `A running server keeps running, and server time still costs ${RATE}.`,
    { link: `${origin}${BUDGET_PAGE}`, label: 'Change your budget' },
  ])
}

export type InvoicedBill = {
  billId: string
  cents: number
  seconds: number
  periodStart: number
  /** The next bill begins here. */
  periodEnd: number
  corrects: string | null
}

export const sum = ({ cents }: { cents: number }) => dollars(cents / 100)
export const period = ({ periodStart, periodEnd }: InvoicedBill) => `${day(periodStart)} – ${day(periodEnd - 1)}`
export const statement = (origin: string, { billId }: InvoicedBill) => ({
  link: `${origin}/billing_history/${billId}`,
  label: 'See the statement',
})

type Due = InvoicedBill & { dueAt: number; payUrl: string }

export function invoiceReadyMail(origin: string, bill: Due): Message {
  const what = bill.corrects
    ? `We corrected your bill for ${period(bill)}: ${sum(bill)} more.`
    : `Your invoice for ${period(bill)} is ready: ${sum(bill)} for ${seconds(bill.seconds)} of server time.`
  return composeMessage('owed', `Your invoice: ${sum(bill)}, due ${day(bill.dueAt)}`, [
    `${what} Please pay it by ${day(bill.dueAt)}.`,
    { link: bill.payUrl, label: `Pay ${sum(bill)}` },
    statement(origin, bill),
  ])
}

export function dueSoonMail(origin: string, bill: Due): Message {
  return composeMessage('owed', `${sum(bill)} is due on ${day(bill.dueAt)}`, [
    `You haven't paid your invoice for ${period(bill)} yet. ${sum(bill)} is due on ${day(bill.dueAt)}. After that, you can't start servers until it's paid.`,
    { link: bill.payUrl, label: `Pay ${sum(bill)}` },
    statement(origin, bill),
  ])
}

export function invoicePaidMail(origin: string, bill: InvoicedBill): Message {
  return composeMessage('bill', `We received ${sum(bill)}`, [
    `Thank you. You paid ${sum(bill)} for ${period(bill)}.`,
    statement(origin, bill),
  ])
}
