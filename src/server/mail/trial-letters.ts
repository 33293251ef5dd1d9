import { keepText } from '../../domain/ending.ts'
import { dollars } from '../../domain/money/money.ts'
import { BASIC, OVERAGE_DOLLARS_PER_HOUR, type Plan, PREMIUM, TRIAL_MINUTES } from '../../domain/money/plan.ts'
import { composeMessage, type Message } from './letter.ts'

const inWords = ({ name, dollarsPerMonth, hours }: Plan) =>
  `${name}: ${dollars(dollarsPerMonth ?? 0)} a month with ${hours} hours.`
const OFFER = `${[BASIC, PREMIUM].map(inWords).join(' ')} Beyond those hours, you pay ${dollars(OVERAGE_DOLLARS_PER_HOUR)} an hour, billed by the second.`
const plansLink = (origin: string) => ({ link: `${origin}/subscriptions`, label: 'See plans' })

/**
 * @param minutes left of the trial, rounded up
 * @param filesStay see `keepText`
 */
export function trialEndingMail(origin: string, minutes: number, filesStay: boolean): Message {
  const left = minutes === 1 ? '1 free minute' : `${minutes} free minutes`
  return composeMessage('ending', `${left} left`, [
    `Your server is running, and you have ${left} left. When they're used up, we stop the server and erase its disk. ${keepText(filesStay)}`,
    'If you choose a plan before then, the server keeps running.',
    OFFER,
    plansLink(origin),
  ])
}

export function noTrialMail(origin: string): Message {
  return composeMessage('plan', 'Your account has no free trial', [
    'Your email address is confirmed, and you can sign in. Your account has no free trial, because this mailbox already had one.',
    'Each mailbox gets one free trial, even if you use a different address or close your account.',
    'Choose a plan to start servers.',
    OFFER,
    plansLink(origin),
  ])
}

export function trialOverMail(origin: string): Message {
  return composeMessage('ended', 'Your free trial is over', [
    `Your ${TRIAL_MINUTES} free minutes are used up, so we stopped your server. You owe nothing.`,
    'Choose a plan to keep flying.',
    OFFER,
    plansLink(origin),
  ])
}
