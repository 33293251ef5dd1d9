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

/** The price of hours beyond the plan, worked through once, then for more hours in a table, and with JavaScript for any on a slider. */
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
        {`An example: ${EXAMPLE_HOURS} hours on ${BASIC.name}. ${BASIC.hours} are included, ${EXAMPLE_HOURS - BASIC.hours} hours remain: `}
        <span className="mono">
          {seconds(chargedSeconds(used, BASIC.hours))} × ${OVERAGE_DOLLARS_PER_SECOND} = {dollars(overage)}
        </span>
        {`, so the month costs ${dollars(monthTotal(BASIC, EXAMPLE_HOURS))}. The rate is the same on both plans: Premium buys larger servers.`}
      </p>
      <div className="card slider" data-enhance="hours" data-needs-script="">
        <label htmlFor="hours">Hours a month</label>
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
        caption="The month's total, by hours used"
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
        Invoices come at the end of the billing cycle. Payment is due within {PAYMENT_DAYS} days; after that the account
        may be suspended. <a href="/terms_of_service#billing">All billing rules</a>
      </p>
    </section>
  )
}
