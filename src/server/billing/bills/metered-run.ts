import { type RunRow, runs } from '../../../../db/schema/fleet.ts'

/** A run as money needs it. */
export type MeteredRun = Pick<RunRow, keyof typeof meteredColumns>

/**
 * Two months of an account's runs must fit into one answer of libSQL, which has 10 MB: closing also counts the run that
 * began in the cycle before. About 20,000 fit, and nobody starts more than 7,440.
 */
export const meteredColumns = {
  id: runs.id,
  userId: runs.userId,
  requestedAt: runs.requestedAt,
  billedFrom: runs.billedFrom,
  confirmedAt: runs.confirmedAt,
  mustStopAt: runs.mustStopAt,
  endsAt: runs.endsAt,
  stopRequestedAt: runs.stopRequestedAt,
  meteredUntil: runs.meteredUntil,
  endedAt: runs.endedAt,
  untilExit: runs.untilExit,
  costUnits: runs.costUnits,
}
