import { Example } from './pricing/Example.tsx'
import { HardwareTable } from './pricing/HardwareTable.tsx'
import { PlanColumns } from './pricing/PlanColumns.tsx'

export function Pricing() {
  return (
    <div className="page pricing">
      <header className="pricing-head">
        <h1>
          <span>Hours included.</span> <span>The rest by the second.</span>
        </h1>
        <p className="muted">
          Prices in USD. You pay from the second your server answers until you stop it; startup is free.
        </p>
      </header>
      <PlanColumns />
      <HardwareTable />
      <Example />
    </div>
  )
}
