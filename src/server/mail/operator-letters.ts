import { composeMessage, type Message } from './letter.ts'

/** What an operator did to someone's account. Their reason stays in the audit log. */

export function stoppedByUsMail(): Message {
  return composeMessage('account', 'We stopped your server', [
    'We stopped your server. You pay only for the time until then.',
    'Contact us to find out why.',
  ])
}

export function heldMail(): Message {
  return composeMessage('account', 'We suspended your account', [
    "We suspended your account, so you can't start servers for now. If a server is running, it keeps running.",
    'Contact us to find out why.',
  ])
}

export function liftedNotice(): Message {
  return composeMessage('account', 'You can start servers again', [
    'We lifted the suspension of your account.',
    { link: '/dashboard', label: 'Go to your dashboard' },
  ])
}

export function signedOutNotice(): Message {
  return composeMessage('account', 'We signed you out everywhere', [
    'We ended all your sign-ins and revoked your API tokens.',
    { link: '/help', label: 'Ask us why' },
  ])
}

export function planGrantedNotice(plan: string): Message {
  return composeMessage('plan', `We gave you ${plan}`, [
    `Your plan is now ${plan}.`,
    { link: '/settings/billing', label: 'See your plan' },
  ])
}

export function grantEndedNotice(): Message {
  return composeMessage('plan', 'We ended your plan', [
    'The plan that we had given you has ended.',
    { link: '/subscriptions', label: 'See plans' },
  ])
}

/** More to pay comes as an invoice, with its own message. */
export function billCreditedNotice({
  billId,
  period,
  less,
}: {
  billId: string
  period: string
  less: string
}): Message {
  return composeMessage('bill', 'We corrected a bill', [
    `Your bill for ${period} is ${less} lower. If you've paid it, we credit the difference.`,
    { link: `/billing_history/${billId}`, label: 'See the statement' },
  ])
}
