import { planName } from '../../domain/money/plan.ts'
import type { EnvironmentLine } from '../../domain/views.ts'
import { PLAN_TYPES, smallestPlan } from '../../domain/worlds.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Card } from '../../ui/Card.tsx'
import { type Column, DataTable } from '../../ui/DataTable.tsx'
import { Field, Select } from '../../ui/Field.tsx'
import { Time } from '../../ui/Time.tsx'
import { ActForm } from './ActForm.tsx'
import { type Acting, AdminPage } from './AdminPage.tsx'

const COLUMNS: Column[] = [
  { key: 'name', label: 'Environment', rowHeader: true },
  { key: 'description', label: 'Description' },
  { key: 'from', label: 'From' },
  { key: 'image', label: 'Image' },
  { key: 'position', label: 'Position', numeric: true },
  { key: 'state', label: 'State', lead: true },
]
const PLANS = PLAN_TYPES.map((value) => ({ value, label: planName(value) }))
const IMAGE = 'A reference such as ghcr.io/example/harbor:1.2, or :tag for a tag of the machine’s own image.'

/** The catalog of environments, and what an admin can do with it. */
export function Environments({ lines, acting }: { lines: EnvironmentLine[]; acting: Acting }) {
  const offered = lines.filter(({ retiredAt }) => retiredAt === null)
  const names = offered.map(({ name }) => name)
  const rows = lines.map((line, i) => ({
    id: String(i),
    cells: {
      name: line.name,
      description: line.description,
      from: <span className="whole">{smallestPlan(line)}</span>,
      image: line.image ? <span className="mono address">{line.image}</span> : '(machine)',
      position: line.position,
      state: line.retiredAt ? (
        <>
          <Badge color="gray">retired</Badge> <Time at={line.retiredAt} />
        </>
      ) : (
        <Badge color="green">offered</Badge>
      ),
    },
  }))
  return (
    <AdminPage
      here="/admin/environments"
      title="Environments"
      aside={<span className="hint">{`${offered.length} offered`}</span>}
      acting={acting}
    >
      {acting.confirmAt ? null : (
        <Card title="Act">
          <div className="stack">
            <Add acting={acting} />
            <Change acting={acting} names={names} />
            <Retire acting={acting} names={names} />
          </div>
        </Card>
      )}
      <div className="card">
        <DataTable caption="Environments" hideCaption columns={COLUMNS} rows={rows} />
      </div>
    </AdminPage>
  )
}

function Add({ acting }: { acting: Acting }) {
  return (
    <ActForm
      id="add"
      action="/admin/environments"
      acting={acting}
      title="Add an environment…"
      text="People can choose it at once. Its name goes to the machine, so it can't change later."
      button="Add the environment"
    >
      {(typed, error) => (
        <>
          <Field
            id="add-name"
            name="name"
            label="Name"
            autoComplete="off"
            defaultValue={typed('name')}
            error={error('name')}
            required
          />
          <Fields form="add" typed={typed} error={error} imageHint={`${IMAGE} Leave empty for the machine’s own.`} />
        </>
      )}
    </ActForm>
  )
}

function Change({ acting, names }: { acting: Acting; names: string[] }) {
  return (
    <ActForm
      id="change"
      action="/admin/environments/change"
      acting={acting}
      title="Change an environment…"
      text="Applies from the next start. Fields you leave empty stay as they are."
      button="Change the environment"
    >
      {(typed, error) => (
        <>
          <Select id="change-name" name="name" label="Environment" options={names} defaultValue={typed('name')} />
          <Fields
            form="change"
            typed={typed}
            error={error}
            imageHint={`${IMAGE} machine: back to the machine’s own.`}
            keep
          />
        </>
      )}
    </ActForm>
  )
}

function Retire({ acting, names }: { acting: Acting; names: string[] }) {
  return (
    <ActForm
      id="retire"
      action="/admin/environments/retire"
      acting={acting}
      title="Retire an environment…"
      text="Nothing new starts in it. Servers that run in it keep running. You can add its name again later."
      button="Retire the environment"
    >
      {(typed) => (
        <Select id="retire-name" name="name" label="Environment" options={names} defaultValue={typed('name')} />
      )}
    </ActForm>
  )
}

type FieldsProps = {
  form: string
  typed: (name: string) => string | undefined
  error: (name: string) => string | null
  imageHint: string
  /** An empty field changes nothing. */
  keep?: boolean
}

function Fields({ form, typed, error, imageHint, keep = false }: FieldsProps) {
  const field = (name: string, label: string) =>
    ({
      id: `${form}-${name}`,
      name,
      label,
      autoComplete: 'off',
      defaultValue: typed(name),
      error: error(name),
    }) as const
  return (
    <>
      <Field {...field('description', 'Description')} hint="One sentence." required={!keep} />
      <Field {...field('image', 'Image')} hint={imageHint} spellCheck={false} />
      <div className="pair">
        <Select
          id={`${form}-from`}
          name="from"
          label="Included from"
          options={PLANS}
          {...(keep && { placeholder: 'As it is' })}
          defaultValue={typed('from') ?? (keep ? '' : 'demo')}
          error={error('from')}
        />
        <Field {...field('position', 'Position')} hint="The lowest comes first." inputMode="numeric" />
      </div>
    </>
  )
}
