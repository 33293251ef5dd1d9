import { recordCents } from './billing.ts'

type Sum = { seconds: number; amountCents: number }

/**
 * What has to be added to a closed record, and to the corrections it has, so that together they are what the record would be, had it
 * been closed with `seconds`: rounded once, however often it is corrected.
 */
export function correctionTo(
  seconds: number,
  record: Sum & { includedHours: number; trial: boolean },
  corrections: Sum[],
): Sum {
  const now = corrections.reduce(
    (sum, one) => ({ seconds: sum.seconds + one.seconds, amountCents: sum.amountCents + one.amountCents }),
    { seconds: record.seconds, amountCents: record.amountCents },
  )
  return { seconds: seconds - now.seconds, amountCents: recordCents(seconds, record) - now.amountCents }
}

/** What of the record's own invoice is not credited yet: no correction can give back more than that. */
export function creditableCents(record: Sum, corrections: Sum[]): number {
  return corrections.reduce((left, { amountCents }) => left + Math.min(0, amountCents), record.amountCents)
}
