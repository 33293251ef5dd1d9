import { instantText, toIso } from '../../domain/instant.ts'
import { STOP_AFTER_DAYS } from '../../domain/money/invoice.ts'
import { dollars } from '../../domain/money/money.ts'
import { composeMessage, type Message } from './letter.ts'

type Overdue = {
  cents: number
  /** The page to pay it on. */
  payUrl: string
}

const sum = ({ cents }: Overdue) => dollars(cents / 100)
const day = (at: number) => instantText(toIso(at), false, 'day')

const BANK_PAYS_AGAIN =
  "Your bank is paying it, but an earlier payment of it came back. So we wait until the money is here. You don't need to pay again."

/** `periodEnd` is when the next bill begins, so this one's last day is the day before. */
export function suspendedMail(
  bill: Overdue & { periodStart: number; periodEnd: number; dueAt: number; processing: boolean },
): Message {
  const { periodStart, periodEnd, dueAt, payUrl, processing } = bill
  return composeMessage('owed', `Account suspended: ${sum(bill)} is overdue`, [
    `Your ${sum(bill)} bill for ${day(periodStart)} – ${day(periodEnd - 1)} was due on ${day(dueAt)}. You can't start servers until it's paid.`,
    ...(processing ? [BANK_PAYS_AGAIN] : [{ link: payUrl, label: `Pay ${sum(bill)}` }]),
    `If you have a server running, it keeps running for now, and you pay for it as usual. We'll stop it if the bill is still unpaid ${STOP_AFTER_DAYS} days from now, and email you the day before.`,
    `Once ${processing ? "it's paid" : 'you pay'}, your account works again right away.`,
  ])
}

/** For an account whose owner closed another one and left a bill. */
export function debtMail(origin: string, cents: number): Message {
  const owed = dollars(cents / 100)
  return composeMessage('owed', `Account suspended: ${owed} is unpaid`, [
    `You closed an account with this mailbox, and ${owed} of it is still unpaid. You can't start servers until it's paid.`,
    { link: `${origin}/billing_history`, label: 'See the open invoice' },
    `If you have a server running, we'll stop it if the invoice is still unpaid ${STOP_AFTER_DAYS} days from now, and email you the day before.`,
    'Once you pay, your account works right away.',
  ])
}

export function stopWarningMail(overdue: Overdue & { stopAt: number; processing: boolean }): Message {
  const { payUrl, stopAt, processing } = overdue
  return composeMessage('owed', `We'll stop your server tomorrow: ${sum(overdue)} is overdue`, [
    `Your account is suspended because ${sum(overdue)} is overdue. If it isn't paid by ${instantText(toIso(stopAt), false)}, we'll stop your server.`,
    processing ? BANK_PAYS_AGAIN : { link: payUrl, label: `Pay ${sum(overdue)}` },
    'Stopping a server deletes everything on it. Save what you need before then.',
    `Once ${processing ? "it's paid" : 'you pay'}, your server keeps running and your account works again right away.`,
  ])
}
