import { toIso } from '../../domain/instant.ts'
import { wholeSecondFrom } from '../../domain/money/billing.ts'
import type { ProviderRecord, Server } from '../../domain/wire.ts'
import { Card } from '../../ui/Card.tsx'
import { DataTable } from '../../ui/DataTable.tsx'
import { utc } from './CostCard.tsx'

const COLUMNS = [
  { key: 'what', label: 'Time', rowHeader: true },
  { key: 'ours', label: 'Our meter' },
  { key: 'ec2', label: 'Amazon EC2' },
]

/** Our cloud provider's times beside ours. Theirs contain the startup and the shutdown, which are free. */
export function Ec2Card({ server, provider }: { server: Server; provider: ProviderRecord }) {
  return (
    <Card title="Our provider’s record">
      <DataTable
        caption="Our times and those of Amazon EC2"
        hideCaption
        columns={COLUMNS}
        rows={[
          {
            id: 'from',
            cells: {
              what: 'From',
              ours: server.billed_from ? utc(toIso(wholeSecondFrom(Date.parse(server.billed_from)))) : '—',
              ec2: utc(provider.launched_at),
            },
          },
          {
            id: 'until',
            cells: {
              what: 'Until',
              ours: server.billed_from ? utc(server.end_time) : '—',
              ec2: provider.ended_at ? utc(provider.ended_at) : 'no time given',
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
        difference. Times are in UTC.
      </p>
    </Card>
  )
}
