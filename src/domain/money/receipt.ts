import { formatUptime } from '../server.ts'
import { runSeconds } from './billing.ts'
import { TRIAL_MINUTES } from './plan.ts'

export const NOT_CHARGED = "You weren't charged."

export type ReceiptOf = {
  requestedAt: number
  billedFrom: number | null
  meteredUntil: number | null
  /** When the trial would end it; null outside a trial. */
  mustStopAt: number | null
  /** Launches that EC2 refused before one succeeded. */
  refused: number
}

/** What the user used, and what was free: the trial, and everything before the server answered. */
export function receipt(run: ReceiptOf): string {
  const { billedFrom, meteredUntil, mustStopAt } = run
  if (billedFrom === null || meteredUntil === null) return `Server stopped before it was ready. ${NOT_CHARGED}`
  if (mustStopAt !== null && meteredUntil >= mustStopAt)
    return `Your ${TRIAL_MINUTES} free minutes are used up, so we stopped the server. You owe nothing. Pick a plan to keep flying.`
  return `Server stopped. ${whatWasUsed({ ...run, billedFrom, meteredUntil })}`
}

/** The same for a run that ended on its own, after the sentence that says why. */
export function lostReceipt(reason: string, run: ReceiptOf): string {
  const { billedFrom, meteredUntil } = run
  return billedFrom === null || meteredUntil === null
    ? `${reason} ${NOT_CHARGED}`
    : `${reason} ${whatWasUsed({ ...run, billedFrom, meteredUntil })}`
}

function whatWasUsed(run: ReceiptOf & { billedFrom: number; meteredUntil: number }): string {
  const { requestedAt, billedFrom, meteredUntil, mustStopAt, refused } = run
  const used = `You used ${formatUptime(runSeconds(billedFrom, meteredUntil))}${mustStopAt === null ? '' : ' of your free trial'}.`
  const startup = formatUptime(runSeconds(requestedAt, billedFrom))
  const launches = refused ? `, ${refused} refused ${refused === 1 ? 'launch' : 'launches'}` : ''
  return `${used} Startup (${startup}${launches}) was free.`
}
