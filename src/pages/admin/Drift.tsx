import { type Drift as Drifts, MOST_ENDS } from '../../domain/drift.ts'
import { Card } from '../../ui/Card.tsx'
import { type Column, DataTable } from '../../ui/DataTable.tsx'
import { Checkbox } from '../../ui/Field.tsx'
import { ErrorState } from '../../ui/States.tsx'
import { Time } from '../../ui/Time.tsx'
import { ActChoice, ActForm } from './ActForm.tsx'
import { type Acting, AdminPage } from './AdminPage.tsx'
import { Part } from './Part.tsx'

/** The form's name on this page. */
const END = 'end'

const INSTANCES: Column[] = [
  { key: 'id', label: 'Instance', rowHeader: true },
  { key: 'launched', label: 'Launched' },
  { key: 'type', label: 'Type' },
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

/** @param drift null: EC2 didn't answer, and `error` says why */
export function Drift({ drift, error, acting }: { drift: Drifts | null; error: string | null; acting: Acting }) {
  return (
    <AdminPage here="/admin/drift" title="Drift" acting={acting}>
      {error ? <ErrorState>{error}</ErrorState> : null}
      {drift ? <Tables {...drift} acting={acting} /> : null}
    </AdminPage>
  )
}

function Tables({ instances, runs, jobs, differing, acting }: Drifts & { acting: Acting }) {
  return (
    <>
      <Orphans instances={instances} acting={acting} />
      <List title="Runs without an instance" columns={RUNS} none="EC2 has every running server.">
        {runs.map(({ id, user, instance, seen_at }) => ({
          id,
          cells: { id: run(id), user: person(user), instance: mono(instance), seen: time(seen_at) },
        }))}
      </List>
      <List title="Overdue jobs" columns={JOBS} none="No job is late or keeps failing.">
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
      </List>
      <List
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
      </List>
    </>
  )
}

type OrphansProps = Pick<Drifts, 'instances'> & { acting: Acting }

/** One form ends all instances checked, for one reason. Its checkboxes are in the table. */
function Orphans({ instances, acting }: OrphansProps) {
  const canAct = !acting.confirmAt
  const title = 'Instances without a run'
  if (!instances.length) return <Part title={title} none="Every instance has its run." children={null} />
  return (
    <Card title={title} className="stack">
      <DataTable
        caption={title}
        hideCaption
        columns={canAct ? [{ key: 'choose', label: 'End', lead: true }, ...INSTANCES] : INSTANCES}
        rows={instances.map(({ id, type, launched_at, run, user }) => ({
          id,
          cells: {
            choose: <ActChoice id={END} acting={acting} name={`instances[${id}]`} label={`End ${id}`} />,
            id: mono(id),
            type,
            launched: time(launched_at),
            run: mono(run),
            user: person(user),
          },
        }))}
      />
      {canAct ? (
        <ActForm
          id={END}
          action="/admin/instances/end"
          acting={acting}
          title="End instances…"
          text="Ends the instances you checked, unless a live run owns them by now. Be careful: their runs may belong to another stage in the same AWS account."
          button="End the instances"
        >
          {(typed) => (
            <>
              {instances.slice(0, MOST_ENDS).map(({ id }) => (
                <input key={id} type="hidden" name={`listed[${id}]`} value="1" />
              ))}
              <Checkbox
                id={`${END}-all`}
                name="all"
                label={`${instances.length > MOST_ENDS ? `The first ${MOST_ENDS} of` : 'All'} ${instances.length} in the table`}
                defaultChecked={typed('all') !== undefined}
              />
            </>
          )}
        </ActForm>
      ) : null}
    </Card>
  )
}

type ListProps = { title: string; columns: Column[]; none: string; children: Parameters<typeof DataTable>[0]['rows'] }

function List({ title, columns, none, children }: ListProps) {
  return (
    <Part title={title} none={children.length ? null : none}>
      <DataTable caption={title} hideCaption columns={columns} rows={children} />
    </Part>
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
