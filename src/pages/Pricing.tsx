import { TRIAL_MINUTES } from '../domain/money/plan.ts'
import { Example } from './pricing/Example.tsx'
import { HardwareTable } from './pricing/HardwareTable.tsx'
import { PlanColumns } from './pricing/PlanColumns.tsx'
import { Questions } from './pricing/Questions.tsx'

/** @param filesStay see `keepText` */
export function Pricing({ filesStay }: { filesStay: boolean }) {
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
      <section className="card" aria-labelledby="trial">
        <h2 id="trial">{TRIAL_MINUTES} minutes free, no card</h2>
        <p>
          Try it first: your minutes count only while your server is up. <a href="/sign_up">Start free</a>
        </p>
      </section>
      <HardwareTable />
      <Example />
      <Questions filesStay={filesStay} />
    </div>
  )
}
