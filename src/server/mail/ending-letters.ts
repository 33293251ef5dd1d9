import { instantText, toIso } from '../../domain/instant.ts'
import { composeMail, type MailContent } from './letter.ts'

/** @param minutes left, rounded up */
export function serverEndingMail(link: string, { end, minutes }: { end: number; minutes: number }): MailContent {
  return composeMail(`Your server stops in ${minutes === 1 ? '1 minute' : `${minutes} minutes`}`, [
    `It stops at ${instantText(toIso(end), false)}, the time you set. Its disk is then erased, so download anything you want to keep.`,
    "Need more time? Add an hour with one click. You don't have to sign in.",
    { link, label: 'Keep it for another hour' },
    'This link works for this server only, and only until it stops.',
  ])
}
