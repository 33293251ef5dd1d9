import type { BillRow } from '../../../../db/schema/billing.ts'
import { toDay } from '../../../domain/instant.ts'
import { chargedSeconds } from '../../../domain/money/billing.ts'
import { OVERAGE_DOLLARS_PER_SECOND, planName } from '../../../domain/money/plan.ts'

/** An invoice's text. A record must always give the same words: a repeated call to Stripe must not differ. */
export function chargeText(
  record: Pick<BillRow, 'planType' | 'includedHours' | 'seconds' | 'periodStart' | 'periodEnd' | 'corrects' | 'reason'>,
) {
  const charged = chargedSeconds(record.seconds, record.includedHours)
  const plan = record.planType ? `${planName(record.planType)} plan` : 'no plan'
  const period = `${toDay(record.periodStart)} to ${toDay(record.periodEnd - 1)} (${plan})`
  if (record.corrects)
    return {
      title: `Correction of server time ${period}`,
      line: `${Math.abs(record.seconds)} s ${record.seconds < 0 ? 'less' : 'more'} than billed: ${record.reason}`,
    }
  const free = record.includedHours ? `, ${record.includedHours} h of them in the plan` : ''
  return {
    title: `Server time ${period}`,
    line: `${record.seconds} s of server time${free}: ${charged} s at $${OVERAGE_DOLLARS_PER_SECOND} per second`,
  }
}
