import { instantText, toIso } from '../../domain/instant.ts'
import { composeMessage, type Message } from './letter.ts'

/** @param end when the period ends after which the plan no longer includes a server of this size */
export function largeServerMail(origin: string, { gpus, end }: { gpus: number; end: number }): Message {
  const at = instantText(toIso(end), false)
  return composeMessage('ending', `Your server stops ${at}`, [
    `Your server has ${gpus} GPUs. Your plan no longer includes it when its period ends: on ${at}, we stop the server and erase its disk.`,
    'Save what you need before then. If you keep your plan, the server keeps running.',
    { link: `${origin}/subscriptions`, label: 'See your plan' },
  ])
}

const day = (at: number) => instantText(toIso(at), false, 'day')

/** What happened to a paid plan. Stripe's own emails say so as well. */
export function planNotice(
  name: string,
  { unpaid, cancelAt, ended }: { unpaid: boolean; cancelAt: number | null; ended: boolean },
): Message {
  const see = { link: '/settings/billing', label: 'See your plan' }
  if (ended)
    return composeMessage('plan', `${name} has ended`, [
      'Choose a plan to start servers.',
      { link: '/subscriptions', label: 'See plans' },
    ])
  if (unpaid)
    return composeMessage('owed', `Your payment for ${name} failed`, [
      "Until you pay, your plan includes no hours and you can't start servers.",
      { link: '/subscriptions/pay', label: 'Pay the open invoice' },
    ])
  if (cancelAt !== null)
    return composeMessage('plan', `${name} ends on ${day(cancelAt)}`, ['You keep its hours until then.', see])
  return composeMessage('plan', `You have ${name}`, ['Your plan is active. Thank you.', see])
}
