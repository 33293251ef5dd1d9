import { instantText, toIso } from '../../domain/instant.ts'
import { composeMail, type MailContent } from './letter.ts'

/** @param end when the period ends after which the plan no longer includes a server of this size */
export function largeServerMail(origin: string, { gpus, end }: { gpus: number; end: number }): MailContent {
  const at = instantText(toIso(end), false)
  return composeMail(`Your server stops ${at}`, [
    `Your server has ${gpus} GPUs. Your plan no longer includes it when its period ends: on ${at}, we stop the server and erase its disk.`,
    'Save what you need before then. If you keep your plan, the server keeps running.',
    { link: `${origin}/subscriptions`, label: 'See your plan' },
  ])
}
