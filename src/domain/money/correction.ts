import { recordCents } from './billing.ts'

type Sum = { seconds: number; amountCents: number }

/**
 * What to add to a closed bill and its corrections so that together they equal a bill closed with `seconds`: rounded
 * once, however often we correct it.
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
