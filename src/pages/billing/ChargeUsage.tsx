import type { ChargeChoice } from '../../domain/money/charge.ts'
import { PAYMENT_DAYS } from '../../domain/money/plan.ts'
import { Button } from '../../ui/Button.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'

/** Whether we charge their card for usage: a question until they answer, a switch from then on. */
export function ChargeUsage({ charging, csrfToken }: { charging: ChargeChoice; csrfToken: string }) {
  const isOn = charging === 'on'
  const yes = (
    <Button type="submit" name="on" value="1" {...(charging === 'unasked' && { look: 'primary' })}>
      {charging === 'unasked' ? 'Yes, charge my card' : 'Turn on'}
    </Button>
  )
  const no = (
    <Button type="submit" name="on" value="0">
      {charging === 'unasked' ? "No, I'll pay invoices" : 'Turn off'}
    </Button>
  )
  return (
    <form method="post" action="/api/v1/billings/charge_card" className="stack" aria-labelledby="charge-usage">
      <HiddenFields csrfToken={csrfToken} values={{ about: 'billing' }} />
      <div>
        <p>
          <strong id="charge-usage">
            Charge my card for usage{charging === 'unasked' ? '?' : isOn ? ': on' : ': off'}
          </strong>
        </p>
        <p className="hint">
          {isOn
            ? 'We charge your card for server time beyond your plan, and email you a day before each charge. Without a card, we email you an invoice.'
            : `Server time beyond your plan comes as an invoice that you pay within ${PAYMENT_DAYS} days. We can charge your card instead, and email you a day before each charge.`}
        </p>
      </div>
      <div className="row">
        {isOn ? null : yes}
        {isOn || charging === 'unasked' ? no : null}
      </div>
    </form>
  )
}
