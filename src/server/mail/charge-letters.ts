import type { PayMethod } from '../ports/payments.ts'
import { composeMessage, type Message } from './letter.ts'
import { day, type InvoicedBill, period, statement, sum } from './money-letters.ts'

/** Emails about invoices that charge a card or a bank account. Times are ms since 1970. */

const BILLING = '/settings/billing#payments'

export function chargeSoonMail(origin: string, bill: InvoicedBill & { chargeAt: number; method: PayMethod }): Message {
  const at = day(bill.chargeAt)
  return composeMessage('owed', `We charge your ${bill.method} on ${at}: ${sum(bill)}`, [
    `We charge your ${bill.method} on ${at}: ${sum(bill)} for ${what(bill)}. Any credit you have comes off first.`,
    statement(origin, bill),
    { link: `${origin}${BILLING}`, label: `Change your ${bill.method}, or pay invoices yourself` },
  ])
}

const what = (bill: InvoicedBill) =>
  bill.corrects ? `a correction of ${period(bill)}` : `server time from ${period(bill)}`

/** They can't have meant us to continue. */
export function disputedMail(origin: string): Message {
  return composeMessage('owed', 'We no longer charge you automatically', [
    'You disputed a payment at your bank, so we no longer charge you for server time automatically. We email you invoices to pay instead.',
    { link: `${origin}${BILLING}`, label: 'See your bills, or turn charges on again' },
  ])
}

type Failed = InvoicedBill & {
  dueAt: number
  isLate: boolean
  payUrl: string
  why: string
  method: PayMethod
}

export function chargeFailedMail(origin: string, bill: Failed): Message {
  const when = bill.isLate ? 'overdue' : `due ${day(bill.dueAt)}`
  return composeMessage('owed', `We couldn't charge your ${bill.method}: ${sum(bill)} is ${when}`, [
    `We couldn't charge your ${bill.method} ${sum(bill)} for ${period(bill)}. The reason we got: “${bill.why}”`,
    bill.isLate
      ? "Please pay it now. You can't start servers until it's paid."
      : `Please pay by ${day(bill.dueAt)}. After that, you can't start servers until it's paid.`,
    { link: bill.payUrl, label: `Pay ${sum(bill)}` },
    { link: `${origin}${BILLING}`, label: `Change your ${bill.method}` },
    // Stripe doesn't repeat a bank debit.
    ...(bill.method === 'bank account'
      ? []
      : [`We may try your ${bill.method} again until then. You won't pay twice.`]),
  ])
}

export function chargeAsksMail(origin: string, bill: Omit<Failed, 'why' | 'method' | 'isLate'>): Message {
  return composeMessage('owed', `Your bank wants you to confirm ${sum(bill)}`, [
    `We charged your card ${sum(bill)} for ${period(bill)}, and your bank wants you to confirm it. Please do so by ${day(bill.dueAt)}. After that, you can't start servers until it's paid.`,
    { link: bill.payUrl, label: `Confirm ${sum(bill)}` },
    statement(origin, bill),
  ])
}
