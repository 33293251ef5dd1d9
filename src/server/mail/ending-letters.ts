import { keepText } from '../../domain/ending.ts'
import { instantText, toIso } from '../../domain/instant.ts'
import { composeMessage, type Message } from './letter.ts'

type Ending = { end: number; minutes: number; adds: string; filesStay: boolean; idle?: boolean }

/**
 * @param ending.minutes left, rounded up
 * @param ending.idle nobody uses it, and that set the end
 * @param ending.filesStay see `keepText`
 * @param ending.adds what one click adds: less than an hour, if a trial has no more
 */
export function serverEndingMail(link: string, { end, minutes, adds, filesStay, idle = false }: Ending): Message {
  return composeMessage('ending', `Your server stops in ${minutes === 1 ? '1 minute' : `${minutes} minutes`}`, [
    `${idle ? 'Nobody uses it, so it' : 'It'} stops at ${instantText(toIso(end), false)}${idle ? '' : ', the time you set'}. Its disk is then erased. ${keepText(filesStay)}`,
    `Need more time? Add ${adds} with one click. You don't have to sign in.`,
    { link, label: `Add ${adds}` },
    'This link works for this server only, and only until it stops.',
  ])
}
