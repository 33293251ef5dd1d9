import type { WarmLine } from '../../domain/views.ts'
import { costText } from '../../domain/warm-hours.ts'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { type Column, DataTable } from '../../ui/DataTable.tsx'
import { Field, Select } from '../../ui/Field.tsx'
import { ActForm } from './ActForm.tsx'
import type { Acting } from './AdminPage.tsx'

const COLUMNS: Column[] = [
  { key: 'kind', label: 'Type and zone', rowHeader: true },
  { key: 'hours', label: 'Kept warm' },
  { key: 'now', label: 'Now' },
  { key: 'week', label: 'A week, at most' },
  { key: 'suggested', label: 'Suggested' },
]

/** Hours that an operator is considering, to see their cost. */
export type WarmQuestion = { hours: string; count: string; price: string; answer: string | null }

type Props = { lines: WarmLine[]; question: WarmQuestion; acting: Acting }

export function WarmMachines({ lines, question, acting }: Props) {
  const { hours, count, price, answer } = question
  const rows = lines.map((line) => ({
    id: `${line.type} ${line.zone}`,
    cells: {
      kind: (
        <span>
          <span className="whole">{line.type}</span> in <span className="whole">{line.zone}</span>
        </span>
      ),
      hours: line.hours ? `${line.hours} (${line.time_zone})` : '—',
      now:
        line.hours || line.ready || line.others
          ? `${line.ready} of ${line.wanted} ready${line.others ? `, ${line.others} starting or ending` : ''}`
          : '—',
      week: line.week ? costText(line.week) : '—',
      suggested: line.suggested ? `${line.suggested} (${line.time_zone})` : '—',
    },
  }))
  return (
    <Card title="Warm machines" className="stack">
      <p className="hint">
        A warm machine has already booted and pulled the catalog’s images, so a start that gets one is ready in seconds.
        We suggest hours from the last four weeks of starts.
      </p>
      {rows.length ? <DataTable caption="Warm machines" hideCaption columns={COLUMNS} rows={rows} /> : null}
      <form className="row filters filters-few" action="/admin/places">
        <Field
          id="cost-hours"
          name="hours"
          label="Hours"
          placeholder="sat 9-12"
          autoComplete="off"
          defaultValue={hours}
        />
        <Field
          id="cost-count"
          name="count"
          label="How many"
          inputMode="numeric"
          autoComplete="off"
          defaultValue={count}
        />
        <Field
          id="cost-price"
          name="price"
          label="Dollars an hour for one"
          placeholder="1.40"
          autoComplete="off"
          defaultValue={price}
        />
        <Button type="submit">See the cost</Button>
      </form>
      {answer ? <p>{answer}</p> : null}
      {acting.confirmAt || !lines.length ? null : <KeepWarm lines={lines} question={question} acting={acting} />}
    </Card>
  )
}

/** Starts with the hours, number, and price that the operator last priced. */
function KeepWarm({ lines, question, acting }: Props) {
  return (
    <ActForm
      id="warm"
      action="/admin/places/warm"
      acting={acting}
      title="Keep machines warm…"
      text="We launch them 15 minutes before their hours, replace each after a day, and end them after their hours. Other hours stay as they are. Enter 0 to keep none."
      button="Keep them warm"
    >
      {(typed, error) => {
        const field = (name: string, label: string, asked?: string) =>
          ({
            id: `warm-${name}`,
            name,
            label,
            autoComplete: 'off',
            defaultValue: typed(name) ?? asked,
            error: error(name),
          }) as const
        return (
          <>
            <Select
              id="warm-kind"
              name="kind"
              label="Type and zone"
              options={lines.map(({ type, zone }) => ({ value: `${type} ${zone}`, label: `${type} in ${zone}` }))}
              defaultValue={typed('kind')}
              error={error('type') ?? error('zone')}
            />
            <Field {...field('hours', 'Hours', question.hours)} placeholder="mon-fri 8-18, sat 9-12" required />
            <Field {...field('count', 'How many', question.count)} inputMode="numeric" required />
            <Field
              {...field('time_zone', 'Time zone')}
              placeholder="Europe/Berlin"
              hint="For all hours of this type and zone. Leave empty to keep the current one (UTC if none is set)."
            />
            <Field
              {...field('price', 'Dollars an hour for one', question.price)}
              placeholder="1.40"
              hint="To show the cost. Leave empty to keep it."
            />
          </>
        )
      }}
    </ActForm>
  )
}
