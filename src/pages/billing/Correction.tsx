import type { Bill, Statement } from '../../domain/money/bill.ts'
import { dollars, seconds } from '../../domain/money/money.ts'
import { Card } from '../../ui/Card.tsx'

/** In place of the runs: they are in the statement that it corrects. */
export function WhatWasCorrected({ statement }: { statement: Statement }) {
  const { corrects, reason, amount_owed } = statement
  return (
    <Card title="Correction">
      <p>{reason}</p>
      <p>
        {added(statement)} to <a href={`/billing_history/${corrects}`}>the statement of these days</a>, which lists
        every run.
      </p>
      {amount_owed < 0 ? (
        <p className="hint">The credit is taken off that invoice; if it was paid already, off your next ones.</p>
      ) : null}
    </Card>
  )
}

/** Below the runs of a statement that was corrected later: a closed record itself never changes. */
export function Corrections({ corrections }: { corrections: Bill[] }) {
  return (
    <Card title="Corrected later">
      <ul className="stack">
        {corrections.map((bill) => (
          <li key={bill.id}>
            <a href={`/billing_history/${bill.id}`}>{added(bill)}</a>: {bill.reason}
          </li>
        ))}
      </ul>
    </Card>
  )
}

function added({ seconds_used, amount_owed }: Bill): string {
  return `${seconds(seconds_used)} and ${dollars(amount_owed)}`
}
