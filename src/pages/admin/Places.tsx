import type { PlaceLine, WarmLine } from '../../domain/views.ts'
import { Badge, type BadgeColor } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { type Column, DataTable } from '../../ui/DataTable.tsx'
import { Field, Select } from '../../ui/Field.tsx'
import { EmptyState } from '../../ui/States.tsx'
import { Time } from '../../ui/Time.tsx'
import { ActForm } from './ActForm.tsx'
import { type Acting, AdminPage } from './AdminPage.tsx'
import { WarmMachines } from './WarmMachines.tsx'

const MOST_SHOWN = 200
const COLUMNS: Column[] = [
  { key: 'id', label: 'Place', rowHeader: true },
  { key: 'type', label: 'Type' },
  { key: 'zone', label: 'Zone' },
  { key: 'gpus', label: 'GPUs', numeric: true },
  { key: 'template', label: 'Launch template' },
  { key: 'state', label: 'State', lead: true },
  { key: 'since', label: 'Since' },
]

const color = (state: PlaceLine['state']): BadgeColor =>
  state.startsWith('free') ? 'green' : state === 'reserved' ? 'yellow' : state === 'set aside' ? 'red' : 'gray'

type PlacesProps = { places: PlaceLine[]; warm: WarmLine[]; q: string; acting: Acting }

export function Places({ places, warm, q, acting }: PlacesProps) {
  const counts = new Map<string, number>()
  for (const { state } of places) counts.set(state, (counts.get(state) ?? 0) + 1)
  const wanted = q.toLowerCase().split(/\s+/).filter(Boolean)
  const found = places.filter((place) =>
    wanted.every((word) => Object.values(place).join(' ').toLowerCase().includes(word)),
  )
  const rows = found.slice(0, MOST_SHOWN).map(({ id, type, zone, gpus, template, state, since }) => ({
    id,
    cells: {
      id: <span className="mono address">{id}</span>,
      type: <span className="whole">{type}</span>,
      zone: <span className="whole">{zone}</span>,
      gpus,
      template,
      state: <Badge color={color(state)}>{state}</Badge>,
      since: since ? <Time at={since} /> : null,
    },
  }))
  // Most places use their zone's template, and a free one has no moment.
  const columns = COLUMNS.filter(({ key }) => rows.some(({ cells }) => cells[key as keyof typeof cells] !== null))
  return (
    <AdminPage
      here="/admin/places"
      title="Places"
      aside={<span className="hint">{[...counts].map(([state, count]) => `${count} ${state}`).join(', ')}</span>}
      acting={acting}
    >
      {acting.confirmAt ? null : (
        <Card title="Act">
          <div className="stack">
            <AddPlaces acting={acting} />
            <ChangePlace acting={acting} />
          </div>
        </Card>
      )}
      <form className="row filters" action="/admin/places">
        <Field
          name="q"
          label="Filter"
          placeholder="free g6 us-east-1a"
          type="search"
          autoComplete="off"
          defaultValue={q}
        />
        <Button type="submit">Filter</Button>
      </form>
      {rows.length ? (
        <div className="card">
          <DataTable caption="Places" hideCaption columns={columns} rows={rows} />
        </div>
      ) : (
        <EmptyState>No places found.</EmptyState>
      )}
      {found.length > rows.length ? <p className="hint">{`${found.length} match. Narrow your filter.`}</p> : null}
      <WarmMachines lines={warm} acting={acting} />
    </AdminPage>
  )
}

function AddPlaces({ acting }: { acting: Acting }) {
  return (
    <ActForm
      id="add"
      action="/admin/places"
      acting={acting}
      title="Add places…"
      text="Starts use them at once, after the existing ones of the same size. Check the vCPU quota with npm run doctor first."
      button="Add places"
    >
      {(typed, error) => {
        const field = (name: string, label: string, otherwise?: string) =>
          ({ name, label, autoComplete: 'off', defaultValue: typed(name) ?? otherwise, error: error(name) }) as const
        return (
          <>
            <div className="pair">
              <Field {...field('type', 'Instance type')} placeholder="g6.4xlarge" required />
              <Field {...field('zone', 'Zone')} placeholder="us-east-1a" required />
            </div>
            <Field {...field('template', 'Launch template')} hint="Leave empty for the zone's own." />
            <div className="pair">
              <Field {...field('gpus', 'GPUs', '1')} inputMode="numeric" required />
              <Field {...field('count', 'How many', '1')} inputMode="numeric" required />
            </div>
          </>
        )
      }}
    </ActForm>
  )
}

function ChangePlace({ acting }: { acting: Acting }) {
  return (
    <ActForm
      id="change"
      action="/admin/places/change"
      acting={acting}
      title="Drain, resume, or retire a place…"
      text="We stop offering a drained place until you resume it, and a retired one for good. A server in it keeps running."
      button="Change the place"
    >
      {(typed, error) => (
        <div className="pair">
          <Field
            name="place"
            label="Place"
            placeholder="srv_…"
            autoComplete="off"
            defaultValue={typed('place')}
            error={error('place')}
            required
          />
          <Select
            name="act"
            label="What"
            options={['drain', 'resume', 'retire']}
            defaultValue={typed('act')}
            error={error('act')}
          />
        </div>
      )}
    </ActForm>
  )
}
