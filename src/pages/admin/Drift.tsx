import type { Drift as Drifts } from '../../domain/drift.ts'
import { Card } from '../../ui/Card.tsx'
import { type Column, DataTable } from '../../ui/DataTable.tsx'
import { Field } from '../../ui/Field.tsx'
import { EmptyState, ErrorState } from '../../ui/States.tsx'
import { Time } from '../../ui/Time.tsx'
import { ActForm } from './ActForm.tsx'
import { type Acting, AdminPage } from './AdminPage.tsx'

const INSTANCES: Column[] = [
  { key: 'id', label: 'Instance', rowHeader: true },
  { key: 'type', label: 'Type' },
  { key: 'launched', label: 'Launched' },
  { key: 'run', label: 'Tagged run' },
  { key: 'user', label: 'Tagged user' },
]
const RUNS: Column[] = [
  { key: 'id', label: 'Run', rowHeader: true },
  { key: 'user', label: 'User' },
  { key: 'instance', label: 'Instance' },
  { key: 'seen', label: 'Last seen' },
]
const JOBS: Column[] = [
  { key: 'id', label: 'Job', rowHeader: true },
  { key: 'kind', label: 'Kind' },
  { key: 'run', label: 'Run' },
  { key: 'user', label: 'User' },
  { key: 'due', label: 'Due' },
  { key: 'tries', label: 'Tries', numeric: true },
  { key: 'progress', label: 'Progress' },
]

const DIFFERING: Column[] = [
  { key: 'id', label: 'Run', rowHeader: true },
  { key: 'user', label: 'User' },
  { key: 'ended', label: 'Ended' },
  { key: 'difference', label: 'EC2’s end − ours, s', numeric: true },
  { key: 'taken', label: 'Not billed, s', numeric: true },
]

/** @param drift null: EC2 didn't answer, and `error` says so */
export function Drift({ drift, error, acting }: { drift: Drifts | null; error: string | null; acting: Acting }) {
  return (
    <AdminPage here="/admin/drift" title="Drift" acting={acting}>
      {error ? <ErrorState>{error}</ErrorState> : null}
      {drift ? <Tables {...drift} /> : null}
      {acting.confirmAt ? null : (
        <Card title="Act">
          <ActForm
            id="end"
            action="/admin/instances/end"
            acting={acting}
            title="End an instance…"
            text="Ends one of our instances that no live run owns. Check first: its run may belong to another stage in the same AWS account."
            button="End the instance"
          >
            {(typed) => (
              <Field
                name="instance"
                label="Instance"
                placeholder="i-…"
                autoComplete="off"
                defaultValue={typed('instance')}
                required
              />
            )}
          </ActForm>
        </Card>
      )}
    </AdminPage>
  )
}

function Tables({ instances, runs, jobs, differing }: Drifts) {
  return (
    <>
      <Part title="Instances without a run" columns={INSTANCES} none="Every instance has its run.">
        {instances.map(({ id, type, launched_at, run, user }) => ({
          id,
          cells: { id: mono(id), type, launched: time(launched_at), run: mono(run), user: person(user) },
        }))}
      </Part>
      <Part title="Runs without an instance" columns={RUNS} none="EC2 has every running server.">
        {runs.map(({ id, user, instance, seen_at }) => ({
          id,
          cells: { id: run(id), user: person(user), instance: mono(instance), seen: time(seen_at) },
        }))}
      </Part>
      <Part title="Overdue jobs" columns={JOBS} none="No job is late or keeps failing.">
        {jobs.map(({ id, run: of, kind, user, due_at, attempts, progress }) => ({
          id,
          cells: {
            id: mono(id),
            kind,
            run: run(of),
            user: person(user),
            due: time(due_at),
            tries: attempts,
            progress: progress ?? '—',
          },
        }))}
      </Part>
      <Part
        title="EC2’s record differs from our meter"
        columns={DIFFERING}
        none="No run differs by more than a minute."
      >
        {differing.map(({ id, user, ended_at, difference, taken_off, credited }) => ({
          id,
          cells: {
            id: run(id),
            user: person(user),
            ended: time(ended_at),
            difference: difference ?? '—',
            taken: credited ? taken_off : `${taken_off}, credit pending`,
          },
        }))}
      </Part>
    </>
  )
}

type PartProps = { title: string; columns: Column[]; none: string; children: Parameters<typeof DataTable>[0]['rows'] }

function Part({ title, columns, none, children }: PartProps) {
  return (
    <Card title={title}>
      {children.length ? (
        <DataTable caption={title} hideCaption columns={columns} rows={children} />
      ) : (
        <EmptyState>{none}</EmptyState>
      )}
    </Card>
  )
}

const mono = (text: string | null) => <span className="mono address">{text ?? '—'}</span>
const run = (id: string) => (
  <a className="mono address" href={`/admin/runs/${id}`}>
    {id}
  </a>
)
const time = (at: string | null) => (at ? <Time at={at} /> : '—')
const person = (id: string | null) => (id ? <a href={`/admin/people/${id}`}>{id}</a> : '—')
