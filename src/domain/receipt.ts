import { runSeconds } from './billing.ts'
import { formatUptime } from './server.ts'

export type ReceiptOf = {
  requestedAt: number
  billedFrom: number | null
  meteredUntil: number | null
  /** Where its trial would have ended it; null outside of a trial. */
  mustStopAt: number | null
  /** Launches that EC2 refused before one succeeded. */
  refused: number
}

/** What ran, and what is not billed: the trial, the time from the request until it ran, and what was refused on the way. */
export function receipt(run: ReceiptOf): string {
  const { billedFrom, meteredUntil, mustStopAt } = run
  if (billedFrom === null || meteredUntil === null) return 'Server stopped before it was running. Nothing was billed.'
  const why =
    mustStopAt !== null && meteredUntil >= mustStopAt
      ? 'Your free trial minutes are used up, so the server was stopped.'
      : 'Server stopped.'
  return `${why} ${whatRan({ ...run, billedFrom, meteredUntil })}`
}

/** The same for a run that ended by itself, after the sentence that says why. */
export function lostReceipt(reason: string, run: ReceiptOf): string {
  const { billedFrom, meteredUntil } = run
  return billedFrom === null || meteredUntil === null
    ? reason
    : `${reason} ${whatRan({ ...run, billedFrom, meteredUntil })}`
}

function whatRan(run: ReceiptOf & { billedFrom: number; meteredUntil: number }): string {
  const { requestedAt, billedFrom, meteredUntil, mustStopAt, refused } = run
  const free = [
    ...(mustStopAt === null ? [] : ['the free trial']),
    `${formatUptime(runSeconds(requestedAt, billedFrom))} of loading`,
    ...(refused ? [`${refused} refused ${refused === 1 ? 'launch' : 'launches'}`] : []),
  ]
  const and = new Intl.ListFormat('en-GB', { type: 'conjunction' })
  return `It ran ${formatUptime(runSeconds(billedFrom, meteredUntil))}. Not billed: ${and.format(free)}.`
}
