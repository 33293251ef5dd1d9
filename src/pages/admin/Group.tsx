import type { GroupRecord } from '../../domain/views.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Card } from '../../ui/Card.tsx'
import { type Column, DataTable } from '../../ui/DataTable.tsx'
import { DefinitionStats } from '../../ui/DefinitionStats.tsx'
import { EmptyState } from '../../ui/States.tsx'
import { Time } from '../../ui/Time.tsx'
import { ActChoice, ActForm } from './ActForm.tsx'
import { type Acting, AdminPage } from './AdminPage.tsx'
import { GroupFields, PeopleField } from './GroupFields.tsx'
import { GROUP_COLORS } from './Groups.tsx'

type Props = { group: GroupRecord; acting: Acting }

const REMOVE = 'remove'
const PEOPLE: Column[] = [
  { key: 'email', label: 'Person', rowHeader: true },
  { key: 'joined', label: 'Added' },
  { key: 'account', label: 'Account' },
  { key: 'server', label: 'Server' },
]

/** One group: what is held for it, who is in it, and the forms that change both until it ends. */
export function Group({ group, acting }: Props) {
  const { name, gpus, places, from, until, state, code, people } = group
  const canAct = state !== 'ended' && !acting.confirmAt
  return (
    <AdminPage
      here="/admin/line"
      title={name}
      aside={<Badge color={GROUP_COLORS[state]}>{state}</Badge>}
      acting={state === 'ended' ? { ...acting, confirmAt: null } : acting}
    >
      <DefinitionStats
        stats={[
          { label: 'Servers', value: places, hint: `${gpus} × L4 each` },
          { label: 'People', value: people.length },
          { label: 'Code', value: <span className="whole">{code ?? '—'}</span> },
          {
            label: 'From',
            value: <Time at={from} />,
            hint: (
              <>
                until <Time at={until} />
              </>
            ),
          },
        ]}
      />
      {canAct ? (
        <Card title="Act" className="stack">
          <ChangeGroup group={group} acting={acting} />
          <EndGroup group={group} acting={acting} />
        </Card>
      ) : null}
      <People group={group} acting={acting} canAct={canAct} />
    </AdminPage>
  )
}

function ChangeGroup({ group, acting }: Props) {
  return (
    <ActForm
      id="change"
      action={`/admin/groups/${group.id}/change`}
      acting={acting}
      title="Change or extend it…"
      text="Takes effect right away. We email the change to its people."
      button="Change the group"
    >
      {(typed, error) => <GroupFields typed={typed} error={error} group={group} />}
    </ActForm>
  )
}

function EndGroup({ group, acting }: Props) {
  return (
    <ActForm
      id="end"
      action={`/admin/groups/${group.id}/end`}
      acting={acting}
      title="End it early…"
      text="Anyone can then use its unused servers. Running servers keep running. We email its people."
      button="End the group"
    />
  )
}

/** One form removes everyone checked. Its checkboxes are in the table. */
function People({ group: { id, people, code }, acting, canAct }: Props & { canAct: boolean }) {
  return (
    <Card title="People" className="stack">
      {people.length ? (
        <DataTable
          caption="People"
          hideCaption
          columns={canAct ? [{ key: 'choose', label: 'Remove', lead: true }, ...PEOPLE] : PEOPLE}
          rows={people.map(({ email, joinedAt, userId, hasServer }) => ({
            id: email,
            cells: {
              choose: <ActChoice id={REMOVE} acting={acting} name={`remove[${email}]`} label={`Remove ${email}`} />,
              email: userId ? <a href={`/admin/people/${userId}`}>{email}</a> : email,
              joined: <Time at={joinedAt} />,
              account: userId ? 'yes' : 'not yet',
              server: hasServer ? 'yes' : '—',
            },
          }))}
        />
      ) : (
        <EmptyState>No one has joined yet.</EmptyState>
      )}
      {canAct ? (
        <>
          <ActForm
            id="add"
            action={`/admin/groups/${id}/add`}
            acting={acting}
            title="Add people…"
            text="We email them. Anyone without an account needs to sign up with that address."
            button="Add them"
          >
            {(typed, error) => <PeopleField typed={typed} error={error} />}
          </ActForm>
          {people.length ? (
            <ActForm
              id={REMOVE}
              action={`/admin/groups/${id}/remove`}
              acting={acting}
              title="Remove people…"
              text={`Removes the people you checked and emails them. A running server keeps running.${code ? ' The group gets a new code.' : ''}`}
              button="Remove them"
            />
          ) : null}
        </>
      ) : null}
    </Card>
  )
}
