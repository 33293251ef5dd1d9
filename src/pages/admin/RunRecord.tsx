import { machineText } from '../../domain/machine.ts'
import { dollars, seconds } from '../../domain/money/money.ts'
import type { RunRecord as Run } from '../../domain/run-record.ts'
import { type BadgeColor, formatUptime } from '../../domain/server.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Card } from '../../ui/Card.tsx'
import { DataTable } from '../../ui/DataTable.tsx'
import { DefinitionStats } from '../../ui/DefinitionStats.tsx'
import { Time } from '../../ui/Time.tsx'
import { Timeline } from '../run/Timeline.tsx'
import { type Acting, AdminPage } from './AdminPage.tsx'
import { ForceStop } from './ForceStop.tsx'

const COLORS: Record<Run['state'], BadgeColor> = {
  starting: 'yellow',
  running: 'green',
  stopping: 'yellow',
  ended: 'gray',
}

type Props = { run: Run; acting: Acting; self: boolean }

/**
 * One run for an admin: its owner, what happened, every launch and job, and what the provider answered.
 * @param self it is the admin's own, which they can't force stop
 */
export function RunRecord({ run, acting, self }: Props) {
  const canAct = !self && (run.state === 'starting' || run.state === 'running')
  return (
    <AdminPage
      here="/console"
      title={`Run ${run.id}`}
      aside={<Badge color={COLORS[run.state]}>{run.state}</Badge>}
      acting={canAct ? acting : { ...acting, confirmAt: null }}
    >
      <DefinitionStats
        stats={[
          {
            label: 'Person',
            value: (
              <a href={`/admin/people/${run.owner.id}`}>
                <bdi>{run.owner.name || run.owner.email || run.owner.id}</bdi>
              </a>
            ),
            hint: run.owner.email,
          },
          { label: 'Machine', value: run.instance_type, hint: machineText(run.instance_type, run.availability_zone) },
          { label: 'World', value: run.world ?? '—', hint: run.image ?? "the machine's own image" },
          {
            label: 'On the meter',
            value: formatUptime(run.seconds),
            hint: run.seconds < 60 ? undefined : seconds(run.seconds),
          },
          { label: 'Cost', value: dollars(run.cost_dollars), hint: 'at list price' },
        ]}
      />
      {run.ended_because ? (
        <p>
          Ended because: <code>{run.error_code ?? run.ended_because}</code>. {run.error_message}
        </p>
      ) : null}
      {run.has_door && run.state !== 'ended' ? (
        <p>Only its owner and their guests can open this server. An admin has no way in.</p>
      ) : null}
      {canAct && !acting.confirmAt ? (
        <Card title="Act">
          <ForceStop runId={run.id} acting={acting} />
        </Card>
      ) : null}
      <Timeline events={run.events} />
      {run.launches.length ? <Launches {...run} /> : null}
      {run.jobs.length ? <Jobs {...run} /> : null}
      <p className="hint">
        Instance {run.instance_id ?? '—'}, address {run.ip_address ?? '—'}, place {run.place_id}
        {run.seen_at ? (
          <>
            , last seen running <Time at={run.seen_at} layout="clock" />
          </>
        ) : null}
        . The log has every call's code and request ID: search it for a job's ID.
      </p>
    </AdminPage>
  )
}

const mono = (id: string) => <span className="mono address">{id}</span>

/** Two moments; the page names their year. */
function Span({ from, until }: { from: string; until: string | null }) {
  return (
    <span>
      <Time at={from} layout="brief" />
      {until ? (
        <>
          &nbsp;– <Time at={until} layout="brief" />
        </>
      ) : null}
    </span>
  )
}

function Rows(table: Parameters<typeof DataTable>[0]) {
  return (
    <Card title={table.caption}>
      <DataTable {...table} hideCaption />
    </Card>
  )
}

function Launches({ launches }: Run) {
  return (
    <Rows
      caption="Launches"
      columns={[
        { key: 'token', label: 'Client token', rowHeader: true },
        { key: 'place', label: 'Place' },
        { key: 'instance', label: 'Instance ID' },
        { key: 'outcome', label: 'Outcome' },
        { key: 'ec2', label: "EC2's record" },
      ]}
      rows={launches.map((launch) => ({
        id: launch.token,
        cells: {
          token: mono(launch.token),
          place: mono(launch.place_id),
          instance: <span className="mono whole">{launch.instance_id ?? '—'}</span>,
          outcome: launch.outcome,
          ec2: launch.launched_at ? (
            <div>
              <Span from={launch.launched_at} until={launch.ended_at} />
              <div className="hint">{launch.end_reason}</div>
            </div>
          ) : (
            '—'
          ),
        },
      }))}
    />
  )
}

function Jobs({ jobs }: Run) {
  return (
    <Rows
      caption="Jobs"
      columns={[
        { key: 'id', label: 'Job', rowHeader: true },
        { key: 'kind', label: 'Kind' },
        { key: 'status', label: 'Status' },
        { key: 'retries', label: 'Retries', numeric: true },
        { key: 'error', label: 'Error' },
        { key: 'when', label: 'Created – updated' },
      ]}
      rows={jobs.map((job) => ({
        id: job.id,
        cells: {
          id: mono(job.id),
          kind: job.kind,
          status: job.status,
          retries: job.attempts,
          error: job.error_code ? `${job.error_code}: ${job.error_message ?? ''}` : '—',
          when: <Span from={job.created_at} until={job.updated_at} />,
        },
      }))}
    />
  )
}
