import { OVERAGE_DOLLARS_PER_HOUR, PLANS, type Plan } from '../../domain/money/plan.ts'
import { DataTable } from '../../ui/DataTable.tsx'

const custom = (plan: Plan, text: string) => (plan.dollarsPerMonth === null ? 'Custom' : text)

const ROWS: [string, (plan: Plan) => string][] = [
  ['Price', (plan) => custom(plan, `$${plan.dollarsPerMonth}/mo`)],
  ['Hours included', (plan) => custom(plan, `${plan.hours} h`)],
  ['Extra hours', (plan) => custom(plan, `$${OVERAGE_DOLLARS_PER_HOUR}/h`)],
  ['GPU', (plan) => plan.features.gpu],
  ['CPU', (plan) => plan.features.cpu],
  ['Memory', (plan) => plan.features.memory],
  ['Environments', (plan) => plan.features.environments],
  ['Synthetic data', (plan) => plan.features.syntheticData],
  ['Vehicles', (plan) => plan.features.vehicles],
]

export function HardwareTable() {
  return (
    <section className="compare plans-compared" aria-labelledby="compare">
      <h2 id="compare">Compare plans</h2>
      <DataTable
        caption="What each plan includes"
        hideCaption
        columns={[
          { key: 'what', label: 'Per month', rowHeader: true },
          ...PLANS.map(({ type, name }) => ({ key: type, label: name })),
        ]}
        rows={ROWS.map(([what, value]) => ({
          id: what,
          cells: { what, ...Object.fromEntries(PLANS.map((plan) => [plan.type, value(plan)])) },
        }))}
      />
    </section>
  )
}
