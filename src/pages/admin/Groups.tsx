import type { GroupLine } from '../../domain/views.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Card } from '../../ui/Card.tsx'
import { type Column, DataTable } from '../../ui/DataTable.tsx'
import { Checkbox } from '../../ui/Field.tsx'
import { EmptyState } from '../../ui/States.tsx'
import { Time } from '../../ui/Time.tsx'
import { ActForm } from './ActForm.tsx'
import type { Acting } from './AdminPage.tsx'
import { GroupFields, PeopleField } from './GroupFields.tsx'

const COLUMNS: Column[] = [
  { key: 'name', label: 'Group', rowHeader: true },
  { key: 'when', label: 'When' },
  { key: 'places', label: 'Servers' },
  { key: 'state', label: 'State', lead: true },
  { key: 'people', label: 'People', numeric: true },
]
export const GROUP_COLORS = { upcoming: 'yellow', on: 'green', ended: 'gray' } as const

/** Places held back for groups: what each has now, and the form that sets one. */
export function Groups({ groups, acting }: { groups: GroupLine[]; acting: Acting }) {
  return (
    <Card title="Servers held for groups">
      <div className="stack">
        {groups.length ? (
          <DataTable
            caption="Groups"
            hideCaption
            columns={COLUMNS}
            rows={groups.map((group) => ({ id: group.id, cells: cellsOf(group) }))}
          />
        ) : (
          <EmptyState>No servers are held.</EmptyState>
        )}
        {acting.confirmAt ? null : <MakeGroup acting={acting} />}
      </div>
    </Card>
  )
}

function cellsOf({ id, name, gpus, places, from, until, state, people, used, held, missing }: GroupLine) {
  return {
    name: (
      <a className="name" href={`/admin/groups/${id}`}>
        {name}
      </a>
    ),
    when: (
      <span>
        <Time at={from} layout="brief" />
        &nbsp;– <Time at={until} layout="brief" />
      </span>
    ),
    places: <span className="whole">{`${places} with ${gpus} × L4`}</span>,
    state: (
      <div>
        <Badge color={GROUP_COLORS[state]}>{state}</Badge>
        {state === 'on' ? <div className="hint whole">{`${used} in use, ${held} unused`}</div> : null}
        {missing ? <Badge color="red">{`${missing} missing`}</Badge> : null}
      </div>
    ),
    people,
  }
}

function MakeGroup({ acting }: { acting: Acting }) {
  return (
    <ActForm
      id="group"
      action="/admin/groups"
      acting={acting}
      title="Hold servers for a group…"
      text="Free servers go to this group first, until it has as many as you hold for it. We don’t stop anyone’s server, so begin early. We email its people."
      button="Hold the servers"
    >
      {(typed, error) => (
        <>
          <GroupFields typed={typed} error={error} />
          <PeopleField typed={typed} error={error} />
          <Checkbox
            id="group-code"
            name="code"
            value="1"
            label="Let people join with a code (we create it)"
            defaultChecked={typed('code') === '1'}
          />
        </>
      )}
    </ActForm>
  )
}
