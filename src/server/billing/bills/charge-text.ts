import type { BillingRecordRow } from '../../../../db/schema.ts'
import { OVERAGE_DOLLARS_PER_SECOND, planName } from '../../../domain/money/plan.ts'

/** What an invoice says. The same words for the same record, always: a repeated call must not differ. */
export function chargeText(
  record: Pick<
    BillingRecordRow,
    'planType' | 'includedHours' | 'seconds' | 'periodStart' | 'periodEnd' | 'corrects' | 'reason'
  >,
) {
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)
  const included = Math.round(record.includedHours * 3600)
  const charged = Math.max(0, record.seconds - included)
  const plan = record.planType ? `${planName(record.planType)} plan` : 'no plan'
  const period = `${day(record.periodStart)} to ${day(record.periodEnd - 1)} (${plan})`
  if (record.corrects)
    return {
      title: `Correction of server time ${period}`,
      line: `${Math.abs(record.seconds)} s ${record.seconds < 0 ? 'less' : 'more'} than billed: ${record.reason}`,
    }
  const free = included ? `, ${record.includedHours} h of them in the plan` : ''
  return {
    title: `Server time ${period}`,
    line: `${record.seconds} s of server time${free}: ${charged} s at $${OVERAGE_DOLLARS_PER_SECOND} per second`,
  }
}
