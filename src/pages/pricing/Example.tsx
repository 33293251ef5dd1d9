import { chargedSeconds, hoursToSeconds, monthTotal, overageUnits, unitsToDollars } from '../../domain/money/billing.ts'
import { dollars, seconds } from '../../domain/money/money.ts'
import {
  BASIC,
  OVERAGE_DOLLARS_PER_HOUR,
  OVERAGE_DOLLARS_PER_SECOND,
  PAYMENT_DAYS,
  PREMIUM,
} from '../../domain/money/plan.ts'
import { DataTable } from '../../ui/DataTable.tsx'

const EXAMPLE_HOURS = 12
const HOURS = [5, 12, 30, 60, 120]

/** What hours beyond the plan cost: one worked example, a table, and, with JavaScript, a slider for any number. */
export function Example() {
  const used = hoursToSeconds(EXAMPLE_HOURS)
  const overage = unitsToDollars(overageUnits(used, BASIC.hours))
  return (
    <section aria-labelledby="overage">
      <h2 id="overage">Beyond the included hours</h2>
      <p className="formula mono">
        ${OVERAGE_DOLLARS_PER_HOUR}/h = ${OVERAGE_DOLLARS_PER_SECOND} per second
      </p>
      <p>
        {`Example: ${EXAMPLE_HOURS} hours on ${BASIC.name}. ${BASIC.hours} are included, so you pay for ${EXAMPLE_HOURS - BASIC.hours}: `}
        <span className="mono">
          {seconds(chargedSeconds(used, BASIC.hours))} × ${OVERAGE_DOLLARS_PER_SECOND} = {dollars(overage)}
        </span>
        {`. Your month comes to ${dollars(monthTotal(BASIC, EXAMPLE_HOURS))}. Both plans have the same rate; Premium gets you larger servers.`}
      </p>
      <div className="card slider" data-enhance="hours" data-needs-script="">
        <label htmlFor="hours">Hours per month</label>
        <input id="hours" type="range" min="0" max="120" step="1" defaultValue={EXAMPLE_HOURS} />
        <output htmlFor="hours" className="mono" />
        <dl>
          {[BASIC, PREMIUM].map((plan) => (
            <div key={plan.type}>
              <dt>{plan.name}</dt>
              <dd className="mono" data-dollars={plan.dollarsPerMonth} data-hours={plan.hours}>
                {dollars(monthTotal(plan, EXAMPLE_HOURS))}
              </dd>
            </div>
          ))}
        </dl>
      </div>
      <DataTable
        caption="Monthly total by hours used"
        columns={[
          { key: 'hours', label: 'Hours used', rowHeader: true },
          { key: 'basic', label: 'Basic', numeric: true },
          { key: 'premium', label: 'Premium', numeric: true },
        ]}
        rows={HOURS.map((hours) => ({
          id: String(hours),
          cells: {
            hours: `${hours} h`,
            basic: dollars(monthTotal(BASIC, hours)),
            premium: dollars(monthTotal(PREMIUM, hours)),
          },
        }))}
      />
      <p className="muted small">
        We invoice you at the end of each billing month. Payment is due within {PAYMENT_DAYS} days; after that we may
        suspend your account. <a href="/terms_of_service#billing">How billing works</a>
      </p>
    </section>
  )
}
