import { runSeconds, runSecondsWithin } from './billing.ts'

/** EC2's own record of a machine, in ms since 1970 and whole seconds. Null: it gave no time. */
export type Ec2Times = { launchedAt: number | null; endedAt: number | null }

type Meter = { billedFrom: number; meteredUntil: number }

/** Whole seconds on the meter in which, by EC2's record, the machine wasn't there. */
export function shortSeconds({ billedFrom, meteredUntil }: Meter, { launchedAt, endedAt }: Ec2Times): number {
  const ran = { start: launchedAt ?? billedFrom, end: endedAt ?? meteredUntil }
  const from = Math.max(billedFrom, ran.start)
  return runSeconds(billedFrom, meteredUntil) - runSeconds(from, Math.min(meteredUntil, ran.end))
}

/**
 * Takes seconds off a meter's end, but none that are on a written bill: those are left to credit.
 * @param billedUntil where the last written bill ended
 */
export function takeOff(meter: Meter, seconds: number, billedUntil: number): { meteredUntil: number; left: number } {
  const { billedFrom, meteredUntil } = meter
  const open = runSecondsWithin(billedFrom, meteredUntil, { start: billedUntil, end: meteredUntil })
  const taken = Math.min(seconds, open)
  const end = Math.floor(meteredUntil / 1000) - taken
  return { meteredUntil: taken ? end * 1000 : meteredUntil, left: seconds - taken }
}

type Written = { id: string; seconds: number }

/**
 * Which bills to correct by how many seconds, the latest first, as the meter would have been cut.
 * @param bills the run's seconds in each of its bills, latest first, without those that are already credited
 */
export function creditsOn(bills: Written[], seconds: number): Written[] {
  let left = seconds
  return bills.flatMap(({ id, seconds: has }) => {
    const part = Math.min(left, has)
    left -= part
    return part > 0 ? [{ id, seconds: part }] : []
  })
}
