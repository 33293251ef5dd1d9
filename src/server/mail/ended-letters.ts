import type { EndReason } from '../../domain/run-end.ts'
import { composeMessage, type Message } from './letter.ts'

const TITLES: Record<EndReason, string> = {
  you: 'You stopped your server',
  exited: 'Your program ended',
  time_up: 'Your server stopped as scheduled',
  idle: 'Your server stopped because it was idle',
  budget: 'Your budget stopped your server',
  plan: 'Your server stopped: your plan no longer includes it',
  trial_over: 'Your free trial is over',
  suspended: 'We stopped your server: an invoice is overdue',
  failure: 'Your server stopped unexpectedly',
}

type Ended = { id: string; endedBecause: EndReason | null; billedFrom: number | null }

/** @param said the receipt @param lastWords see `startFailedMail` */
export function endedMail(
  origin: string,
  { id, endedBecause, billedFrom }: Ended,
  said: string,
  lastWords: string[],
): Message {
  if (endedBecause === 'failure' && billedFrom === null) return startFailedMail(origin, id, said, lastWords)
  return composeMessage('ended', TITLES[endedBecause ?? 'you'], [
    said,
    { link: `${origin}/servers/${id}`, label: 'See the server and its receipt' },
  ])
}

/** @param lastWords the last lines of its own log, which nobody but its user could have printed */
export function startFailedMail(origin: string, runId: string, why: string, lastWords: string[] = []): Message {
  return composeMessage('ended', "Your server didn't start", [
    why,
    ...(lastWords.length ? ['The last lines of its log:', { typed: lastWords.join('\n') }] : []),
    { link: `${origin}/servers/${runId}`, label: 'See what happened' },
  ])
}
