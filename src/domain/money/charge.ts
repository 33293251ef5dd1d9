import { DAY_MS } from '../instant.ts'

/** Whether we may charge someone's card for usage; `unasked`: they haven't said. */
export type ChargeChoice = 'unasked' | 'on' | 'off'

/** When they last said yes, and when no. */
type Answers = { chargeConsentAt: number | null; chargeRefusedAt: number | null }

/** Stripe charges no less, and carries less over to the customer's next invoice. */
export const SMALLEST_CHARGE_CENTS = 50
/** How long before a charge we say so. */
export const CHARGE_NOTICE_MS = DAY_MS

/** Their latest answer counts. */
export function chargeChoice({ chargeConsentAt: yes, chargeRefusedAt: no }: Answers): ChargeChoice {
  if (yes === null && no === null) return 'unasked'
  return (yes ?? 0) > (no ?? 0) ? 'on' : 'off'
}
