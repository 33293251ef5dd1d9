import type { GroupLine } from '../../domain/views.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Card } from '../../ui/Card.tsx'
import { type Column, DataTable } from '../../ui/DataTable.tsx'
import { Checkbox, Field, Select, TextArea } from '../../ui/Field.tsx'
import { EmptyState } from '../../ui/States.tsx'
import { Time } from '../../ui/Time.tsx'
import { ActForm } from './ActForm.tsx'
import type { Acting } from './AdminPage.tsx'

const COLUMNS: Column[] = [
  { key: 'name', label: 'Group', rowHeader: true },
  { key: 'size', label: 'Machine' },
  { key: 'from', label: 'From' },
  { key: 'until', label: 'Until' },
  { key: 'state', label: 'State' },
  { key: 'places', label: 'Places', numeric: true },
  { key: 'used', label: 'In use', numeric: true },
  { key: 'held', label: 'Held free', numeric: true },
  { key: 'missing', label: 'Missing', numeric: true },
  { key: 'people', label: 'People', numeric: true },
  { key: 'code', label: 'Code' },
]
const COLORS = { upcoming: 'yellow', on: 'green', ended: 'gray' } as const

/** Places held back for groups: what each has now, and the forms to set and end them. */
export function Groups({ groups, acting }: { groups: GroupLine[]; acting: Acting }) {
  const open = groups.filter(({ state }) => state !== 'ended')
  return (
    <Card title="Places held back for groups">
      <div className="stack">
        {groups.length ? (
          <DataTable
            caption="Groups"
            hideCaption
            columns={COLUMNS}
            rows={groups.map((group) => ({ id: group.id, cells: cellsOf(group) }))}
          />
        ) : (
          <EmptyState>No places are held back.</EmptyState>
        )}
        {acting.confirmAt ? null : (
          <>
            <MakeGroup acting={acting} />
            {open.length ? <EndGroup open={open} acting={acting} /> : null}
          </>
        )}
      </div>
    </Card>
  )
}

function cellsOf({ name, gpus, places, from, until, state, code, people, used, held, missing }: GroupLine) {
  const now = (count: number) => (state === 'on' ? count : '—')
  return {
    name,
    size: `${gpus} × L4`,
    from: <Time at={from} />,
    until: <Time at={until} />,
    state: <Badge color={COLORS[state]}>{state}</Badge>,
    places,
    used: now(used),
    held: now(held),
    missing: state === 'on' && missing ? <Badge color="red">{String(missing)}</Badge> : now(missing),
    people,
    code: code ? <span className="mono">{code}</span> : '—',
  }
}

function MakeGroup({ acting }: { acting: Acting }) {
  return (
    <ActForm
      id="group"
      action="/admin/groups"
      acting={acting}
      title="Hold places back for a group…"
      text="From then on, as many free places as the group lacks are for its people only, and places that become free are theirs first. Nobody’s server stops: if people run servers for hours, start earlier. At the end, what is unused is everyone’s again."
      button="Hold places back"
    >
      {(typed) => {
        const field = (name: string, label: string, otherwise?: string) =>
          ({ name, label, autoComplete: 'off', defaultValue: typed(name) ?? otherwise }) as const
        return (
          <>
            <Field {...field('name', 'Name')} placeholder="Competition" hint="Its people see it." required />
            <Field {...field('places', 'Places')} inputMode="numeric" placeholder="20" required />
            <Field {...field('gpus', 'GPUs of each', '1')} inputMode="numeric" required />
            <Field {...field('from', 'From (UTC)')} type="datetime-local" required />
            <Field {...field('until', 'Until (UTC)')} type="datetime-local" required />
            <TextArea
              name="people"
              label="People"
              hint="Their email addresses, one per line. They still need a plan that may start a server."
              rows={4}
              defaultValue={typed('people')}
            />
            <Checkbox
              id="group-code"
              name="code"
              value="1"
              label="Let people join with a code, which we make"
              defaultChecked={typed('code') === '1'}
            />
          </>
        )
      }}
    </ActForm>
  )
}

function EndGroup({ open, acting }: { open: GroupLine[]; acting: Acting }) {
  return (
    <ActForm
      id="end-group"
      action="/admin/groups/end"
      acting={acting}
      title="End a group early…"
      text="Its unused places are everyone’s again at once. Servers of its people keep running."
      button="End the group"
    >
      {(typed) => (
        <Select
          name="group"
          label="Group"
          options={open.map(({ id, name }) => ({ value: id, label: name }))}
          defaultValue={typed('group')}
        />
      )}
    </ActForm>
  )
}
