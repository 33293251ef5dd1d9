import { instantText } from '../domain/instant.ts'
import { shortMachineText } from '../domain/machine.ts'
import { billedSecondsAt } from '../domain/money/live-usage.ts'
import { costText } from '../domain/money/money.ts'
import { writeParameters } from '../domain/parameters.ts'
import { linkQuery, RUN_STATUSES, type RunFilter } from '../domain/run-list.ts'
import { endedBecause, formatUptime, serverStatus, serverStatusColor } from '../domain/server.ts'
import type { RunListView } from '../domain/views.ts'
import type { Server } from '../domain/wire/fleet.ts'
import { worldText } from '../domain/worlds.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { DataTable } from '../ui/DataTable.tsx'
import { Field, Select } from '../ui/Field.tsx'
import { EmptyState } from '../ui/States.tsx'
import { Time } from '../ui/Time.tsx'

const COLUMNS = [
  { key: 'run', label: 'Server', rowHeader: true },
  { key: 'requested', label: 'Requested' },
  { key: 'machine', label: 'Machine' },
  { key: 'status', label: 'Status' },
  { key: 'used', label: 'Used', numeric: true, lead: true },
  { key: 'cost', label: 'Cost', numeric: true },
]

/** How many characters of a run's parameters we show, to distinguish the runs of a matrix. Its page has them all. */
const MOST_SHOWN = 80

type RunsProps = RunListView & { filter: RunFilter; now: number }

/** Everything a person ever ran, 50 a page. Months are in UTC. */
export function Runs({ servers, page, pages, total, months, filter, now }: RunsProps) {
  if (!months.length)
    return (
      <div className="page stack">
        <h1>Servers</h1>
        <EmptyState
          action={
            <ButtonLink href="/dashboard" look="primary">
              Start a server
            </ButtonLink>
          }
        >
          No servers yet.
        </EmptyState>
      </div>
    )
  return (
    <div className="page stack">
      <div className="page-head">
        <h1>Servers</h1>
        <div className="row no-print">
          <ButtonLink href={`/servers.csv${linkQuery(filter)}`} download>
            Download CSV
          </ButtonLink>
        </div>
      </div>
      <form className="row filters no-print" action="/servers">
        <Field name="q" label="Search" type="search" autoComplete="off" maxLength={100} defaultValue={filter.q} />
        <Select
          name="month"
          label="Month requested (UTC)"
          options={months}
          placeholder="All"
          defaultValue={filter.month ?? ''}
        />
        <Select
          name="status"
          label="Status"
          options={RUN_STATUSES}
          placeholder="All"
          defaultValue={filter.status ?? ''}
        />
        <Button type="submit">Show</Button>
      </form>
      {servers.length ? (
        <div className="card runs">
          <DataTable
            caption="Servers, newest first"
            hideCaption
            columns={COLUMNS}
            rows={servers.map((server) => ({ id: server.id, cells: cellsOf(server, now, filter.month !== null) }))}
          />
        </div>
      ) : (
        <EmptyState>No servers match.</EmptyState>
      )}
      <nav className="row no-print" aria-label="Pages">
        <span className="hint">
          {total.toLocaleString('en-US')} {total === 1 ? 'server' : 'servers'}
          {pages > 1 ? `, page ${page} of ${pages}` : null}
        </span>
        {page > 1 ? (
          <ButtonLink href={`/servers${linkQuery(filter, page - 1)}`} rel="prev">
            Newer
          </ButtonLink>
        ) : null}
        {page < pages ? (
          <ButtonLink href={`/servers${linkQuery(filter, page + 1)}`} rel="next">
            Older
          </ButtonLink>
        ) : null}
      </nav>
    </div>
  )
}

function cellsOf(server: Server, now: number, inUtc: boolean) {
  const status = serverStatus(server)
  const why = server.error_message ?? endedBecause(server)
  const told = [...writeParameters(server.parameters).replaceAll('\n', ', ')]
  return {
    run: (
      <a className="session-id" href={`/servers/${server.id}`}>
        {server.name ? <bdi>{server.name}</bdi> : null}
        <code>{server.id}</code>
      </a>
    ),
    requested: (
      <span className="when">
        {(['day', 'time'] as const).map((layout) =>
          inUtc ? (
            <span key={layout}>{instantText(server.requested_at, false, layout)}</span>
          ) : (
            <Time key={layout} at={server.requested_at} layout={layout} />
          ),
        )}
      </span>
    ),
    machine: (
      <span className="session-id">
        {shortMachineText(server.instance_type)}
        <small>{[server.availability_zone, worldText(server)].filter(Boolean).join(' · ')}</small>
        {told.length ? (
          <small>{told.slice(0, MOST_SHOWN).join('') + (told.length > MOST_SHOWN ? '…' : '')}</small>
        ) : null}
      </span>
    ),
    status: (
      <span className="session-id">
        <Badge color={serverStatusColor(status)}>{status}</Badge>
        {why ? <small>{why}</small> : null}
      </span>
    ),
    used: server.billed_from ? formatUptime(billedSecondsAt(server, now)) : '—',
    cost: server.cost_dollars === null || !server.billed_from ? '—' : costText(server.cost_dollars),
  }
}
