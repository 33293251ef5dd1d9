import { toIso } from '../../domain/instant.ts'
import { wholeSecondFrom } from '../../domain/money/billing.ts'
import type { ProviderRecord, Server } from '../../domain/wire/fleet.ts'
import { DataTable } from '../../ui/DataTable.tsx'
import { Time } from '../../ui/Time.tsx'

const COLUMNS = [
  { key: 'what', label: 'Time', rowHeader: true },
  { key: 'ours', label: 'Our meter' },
  { key: 'ec2', label: 'Amazon EC2' },
]

/** Our cloud provider's times next to ours. Theirs include startup and shutdown, which are free. */
export function Ec2Record({ server, provider }: { server: Server; provider: ProviderRecord }) {
  return (
    <details className="fold">
      <summary>Our provider’s record</summary>
      <DataTable
        caption="Our times and those of Amazon EC2"
        hideCaption
        columns={COLUMNS}
        rows={[
          {
            id: 'from',
            cells: {
              what: 'From',
              ours: exact(server.billed_from && toIso(wholeSecondFrom(Date.parse(server.billed_from)))),
              ec2: exact(provider.launched_at),
            },
          },
          {
            id: 'until',
            cells: {
              what: 'Until',
              ours: exact(server.billed_from && server.end_time),
              ec2: provider.ended_at ? exact(provider.ended_at) : 'no time given',
            },
          },
        ]}
      />
      <p className="hint table-note">
        {provider.reason ? (
          <>
            EC2’s reason: <code>{provider.reason}</code>.{' '}
          </>
        ) : null}
        EC2 counts startup and shutdown, which are free here. If its machine ran shorter than our meter, we credit the
        difference.
      </p>
    </details>
  )
}

const exact = (at: string | null) => (at ? <Time at={at} layout="exact" /> : '—')
