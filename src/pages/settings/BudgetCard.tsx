import { isChargeReached, type Budget as Limit } from '../../domain/money/budget.ts'
import { dollars } from '../../domain/money/money.ts'
import { OVERAGE_DOLLARS_PER_HOUR } from '../../domain/money/plan.ts'
import { Alert } from '../../ui/Alert.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Checkbox, Field } from '../../ui/Field.tsx'
import { FlashAlert, type FlashMessage, refusedField } from '../../ui/FlashAlert.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { Meter } from '../../ui/Meter.tsx'
import { Time } from '../../ui/Time.tsx'

type BudgetProps = {
  budget: Limit | null
  /** This month's charges so far. */
  chargedDollars: number
  /** When the month ends; null during a trial. */
  until: string | null
  csrfToken: string
  flash: FlashMessage | null
}

export function BudgetCard({ budget, chargedDollars, until, csrfToken, flash }: BudgetProps) {
  const limit = budget && budget.cents / 100
  const values = flash?.kind === 'success' ? undefined : flash?.values
  return (
    <Card title="Budget" id="budget" className="stack">
      <FlashAlert flash={flash} />
      <p>
        Limit what a month of server time beyond your plan's hours may cost. We email you once it costs that much
        {until ? (
          <>
            . This month ends on <Time at={until.slice(0, 10)} /> (UTC)
          </>
        ) : null}
        .
      </p>
      {limit === null ? (
        <p>
          Charges this month: <strong>{dollars(chargedDollars)}</strong>
        </p>
      ) : (
        <Meter
          label="Charges this month"
          value={chargedDollars}
          max={limit}
          text={`${dollars(chargedDollars)} of ${dollars(limit)}`}
        />
      )}
      {budget && isChargeReached(budget, chargedDollars) ? (
        <Alert kind="warning">
          {budget.stops
            ? "This month's budget is used up, so you can't start servers. Raise it, or wait for the next month."
            : "This month's budget is used up. You can still start servers, and we keep billing them."}
        </Alert>
      ) : null}
      <form className="stack form-narrow" method="post" action="/api/v1/billings/budget" noValidate>
        <HiddenFields csrfToken={csrfToken} values={{ about: 'budget' }} />
        <Field
          {...refusedField(flash, 'dollars')}
          label="Budget per month, in dollars"
          type="number"
          inputMode="numeric"
          min={1}
          step={1}
          defaultValue={values ? values.dollars : (limit ?? '')}
          hint={`An hour costs ${dollars(OVERAGE_DOLLARS_PER_HOUR)}. Leave it empty for no budget. Your plan's price isn't part of it.`}
        />
        <Checkbox
          name="stops"
          label="Stop my server when it's used up"
          defaultChecked={values ? 'stops' in values : (budget?.stops ?? false)}
        />
        <p className="hint">
          Its disk is erased. You can't start another one until you raise the budget or the next month begins.
        </p>
        <Button type="submit" look="primary">
          Save
        </Button>
      </form>
    </Card>
  )
}
