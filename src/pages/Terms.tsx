import { Billing } from './terms/Billing.tsx'
import { General } from './terms/General.tsx'
import { Summary } from './terms/Summary.tsx'

/** The summary, then the full terms. Other pages link to the sections' ids. */
export function Terms({ hasFiles }: { hasFiles: boolean }) {
  return (
    <article className="page prose">
      <h1>Terms of Service</h1>
      <p className="muted">
        Effective <time dateTime="2026-11-28">November 28, 2026</time>
      </p>
      <Summary />
      <Billing />
      <General hasFiles={hasFiles} />
    </article>
  )
}
