import { exitText } from '../run-death.ts'
import type { EndReason } from '../run-end.ts'
import { formatUptime } from '../server.ts'
import { runSeconds, startupSeconds } from './billing.ts'
import { costText, UNITS_PER_DOLLAR } from './money.ts'
import { TRIAL_MINUTES } from './plan.ts'

export const NOT_CHARGED = "You weren't charged."
export const TIME_UP_EARLY = 'The time you set ran out before your server was ready.'

export type ReceiptOf = {
  requestedAt: number
  billedFrom: number | null
  meteredUntil: number | null
  /** When the trial would end it; null outside a trial. */
  mustStopAt: number | null
  endedBecause: EndReason | null
  exitCode: number | null
  /** What it added to its bills, in units of 1e-7 USD. Null: not known yet. */
  costUnits: number | null
  /** Launches that EC2 refused before one succeeded. */
  refused: number
  /** What EC2's record takes off: in all, and in bills that are already written. Whole seconds. */
  shortSeconds: number
  creditSeconds: number
}

const WHY: Partial<Record<EndReason, string>> = {
  time_up: ' as scheduled',
  idle: ' because it was idle',
  budget: ' because your budget was used up',
  plan: ' because your plan no longer includes it',
}

/** What the user used and what it cost, and what was free: everything before the server answered. */
export function receipt(run: ReceiptOf): string {
  const { billedFrom, meteredUntil, endedBecause } = run
  const why = (endedBecause && WHY[endedBecause]) ?? ''
  if (billedFrom === null || meteredUntil === null) return `${why ? TIME_UP_EARLY : 'Start cancelled.'} ${NOT_CHARGED}`
  if (endedBecause === 'trial_over')
    return `Your ${TRIAL_MINUTES} free minutes are used up, so we stopped the server. You owe nothing. Pick a plan to keep flying.`
  if (endedBecause === 'exited')
    return `Your program ended with ${exitText(run.exitCode ?? 0)}. ${whatWasUsed({ ...run, billedFrom, meteredUntil })}`
  return `Server stopped${why}. ${whatWasUsed({ ...run, billedFrom, meteredUntil })}`
}

/** The same for a run that ended on its own, after the sentence that says why. */
export function lostReceipt(reason: string, run: ReceiptOf): string {
  const { billedFrom, meteredUntil } = run
  return billedFrom === null || meteredUntil === null
    ? `${reason} ${NOT_CHARGED}`
    : `${reason} ${whatWasUsed({ ...run, billedFrom, meteredUntil })}`
}

function whatWasUsed(run: ReceiptOf & { billedFrom: number; meteredUntil: number }): string {
  const { requestedAt, billedFrom, meteredUntil, refused } = run
  const seconds = runSeconds(billedFrom, meteredUntil)
  const used = `You used ${formatUptime(seconds)}${priceOf(run, seconds)}.`
  const startup = formatUptime(startupSeconds(requestedAt, billedFrom))
  const launches = refused ? `, ${refused} refused ${refused === 1 ? 'launch' : 'launches'}` : ''
  return `${used} Startup (${startup}${launches}) was free.${creditText(run)}`
}

/** What EC2's record took off the meter, and what we credit because its bill is already written. */
function creditText({ shortSeconds, creditSeconds }: Pick<ReceiptOf, 'shortSeconds' | 'creditSeconds'>): string {
  const taken = shortSeconds - creditSeconds
  const off = taken
    ? ` Our cloud provider recorded ${formatUptime(taken)} less than our meter, so we took that off.`
    : ''
  return creditSeconds
    ? `${off} We credit ${formatUptime(creditSeconds)} on an earlier bill, because it wasn't running then.`
    : off
}

function priceOf({ mustStopAt, costUnits }: ReceiptOf, seconds: number): string {
  if (mustStopAt !== null) return ' of your free trial'
  if (costUnits === null) return ''
  return costUnits || !seconds ? `: ${costText(costUnits / UNITS_PER_DOLLAR)}` : ', covered by your plan'
}
