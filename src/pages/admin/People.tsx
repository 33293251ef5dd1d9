import type { FoundPerson } from '../../domain/person-details.ts'
import { Badge, type BadgeColor } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { type Column, DataTable } from '../../ui/DataTable.tsx'
import { Field } from '../../ui/Field.tsx'
import { EmptyState } from '../../ui/States.tsx'
import { Time } from '../../ui/Time.tsx'
import { AdminPage } from './AdminPage.tsx'

export const STATE_COLORS: Record<FoundPerson['state'], BadgeColor> = {
  active: 'green',
  unconfirmed: 'gray',
  suspended: 'red',
  closed: 'dark',
}

const COLUMNS: Column[] = [
  { key: 'email', label: 'Email', rowHeader: true },
  { key: 'name', label: 'Name' },
  { key: 'state', label: 'State', lead: true },
  { key: 'since', label: 'Signed up' },
]

export function People({ people, more, q }: { people: FoundPerson[]; more: boolean; q: string }) {
  const rows = people.map(({ id, name, email, admin, created_at, state }) => ({
    id,
    cells: {
      email: (
        <a className="address" href={`/admin/people/${id}`}>
          {email}
        </a>
      ),
      name: <bdi>{admin ? `${name} (admin)` : name}</bdi>,
      state: <Badge color={STATE_COLORS[state]}>{state}</Badge>,
      since: <Time at={created_at} layout="day" />,
    },
  }))
  return (
    <AdminPage here="/admin/people" title="People">
      <form className="row filters" action="/admin/people">
        <Field
          name="q"
          label="Find a person"
          hint="Part of their name or email, or the ID of the person, a run, an instance, a bill, or a Stripe customer."
          type="search"
          autoComplete="off"
          defaultValue={q}
        />
        <Button type="submit">Find</Button>
      </form>
      {rows.length ? (
        <div className="card people">
          <DataTable caption={q ? 'People found' : 'Newest people'} columns={COLUMNS} rows={rows} />
        </div>
      ) : (
        <EmptyState>No one found.</EmptyState>
      )}
      {more ? <p className="hint">There are more. Narrow your search.</p> : null}
    </AdminPage>
  )
}
