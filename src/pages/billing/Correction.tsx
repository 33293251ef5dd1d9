import type { Bill, Statement } from '../../domain/money/bill.ts'
import { dollars, seconds } from '../../domain/money/money.ts'
import { Card } from '../../ui/Card.tsx'

/** Replaces the runs, which are in the corrected statement. */
export function WhatWasCorrected({ statement }: { statement: Statement }) {
  const { corrects, reason, run_id, amount_owed } = statement
  return (
    <Card title="Correction">
      <p>
        {reason} {run_id ? <a href={`/servers/${run_id}`}>See the server</a> : null}
      </p>
      <p>
        This adjusts <a href={`/billing_history/${corrects}`}>the original statement</a>, which lists every run, by{' '}
        {added(statement)}.
      </p>
      {amount_owed < 0 ? (
        <p className="hint">We apply the credit to that invoice, or to your next ones if you've already paid it.</p>
      ) : null}
    </Card>
  )
}

/** Listed below the runs of a corrected statement: a closed bill itself never changes. */
export function Corrections({ corrections }: { corrections: Bill[] }) {
  return (
    <Card title="Corrections">
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
