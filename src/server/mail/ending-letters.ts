import { FIRST_STOP_AFTER, keepText } from '../../domain/ending.ts'
import { instantText, toIso } from '../../domain/instant.ts'
import { costText } from '../../domain/money/money.ts'
import { exitText } from '../../domain/run-death.ts'
import { composeMessage, type Message } from './letter.ts'

/**
 * @param link stops it with one click
 * @param hours it has run
 * @param dollars what it has cost
 * @param end when it stops; null: never
 */
export function stillRunningMail(
  link: string,
  { hours, dollars: cost, end }: { hours: number; dollars: number; end: number | null },
): Message {
  const until = end === null ? 'runs until you stop it' : `stops at ${instantText(toIso(end), false)}`
  return composeMessage('running', `Your server has run for ${hours} hours`, [
    `${hours} h, ${costText(cost)} so far. It ${until}.`,
    "Done with it? Stop it with one click. You don't have to sign in.",
    { link, label: 'Stop the server' },
    'This link works for this server only, and only until it stops.',
  ])
}

/** @param exitCode the last one; null if its machine didn't say */
export function keepsEndingNotice(origin: string, runId: string, exitCode: number | null): Message {
  const last = exitCode === null ? '' : `, the last time with ${exitText(exitCode)}`
  return composeMessage('running', 'Your program keeps ending', [
    `It ended three times within 10 minutes${last}. We restart it each time, and you keep paying for the server.`,
    { link: `${origin}/servers/${runId}#log`, label: 'See its log' },
  ])
}

type Ending = { end: number; minutes: number; adds: string; filesStay: boolean; why: 'idle' | 'plan' | 'you' }

const FIRST_HOURS = FIRST_STOP_AFTER / 3600

const WHY = { idle: '', plan: `, ${FIRST_HOURS} hours after your plan began`, you: ', the time you set' }

/**
 * @param ending.minutes left, rounded up
 * @param ending.why what set the end: nobody is using it, they bought a plan while it ran, or they set it
 * @param ending.filesStay see `keepText`
 * @param ending.adds what one click adds: less than an hour, if a trial has no more
 */
export function serverEndingMail(link: string, { end, minutes, adds, filesStay, why }: Ending): Message {
  return composeMessage('ending', `Your server stops in ${minutes === 1 ? '1 minute' : `${minutes} minutes`}`, [
    `${why === 'idle' ? "It's idle, so it" : 'It'} stops at ${instantText(toIso(end), false)}${WHY[why]}. Its disk is then erased. ${keepText(filesStay)}`,
    `Need more time? Add ${adds} with one click. You don't have to sign in.`,
    { link, label: `Add ${adds}` },
    'This link works for this server only, and only until it stops.',
  ])
}
