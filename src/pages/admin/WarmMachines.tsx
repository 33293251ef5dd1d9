import { Fragment } from 'react'
import type { WarmLine } from '../../domain/views.ts'
import { costText } from '../../domain/warm-hours.ts'
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

type Props = { lines: WarmLine[]; acting: Acting }

export function WarmMachines({ lines, acting }: Props) {
  const rows = lines.filter(isWorthARow).map((line) => ({
    id: `${line.type} ${line.zone}`,
    cells: {
      kind: <span className="whole">{kindText(line)}</span>,
      hours: line.hours ? <Hours text={line.hours} timeZone={line.time_zone} /> : '—',
      now:
        line.wanted || line.ready || line.others
          ? `${line.ready} of ${line.wanted} ready${line.others ? `, ${line.others} starting or ending` : ''}`
          : '—',
      week: line.week ? costText(line.week) : '—',
      suggested: line.suggested ? <Hours text={line.suggested} timeZone={line.time_zone} /> : '—',
    },
  }))
  return (
    <Card title="Warm machines" className="stack">
      <p className="hint">
        A warm machine has already booted and pulled the catalog’s images, so a start that gets one is ready in seconds.
        We suggest hours from the last four weeks of starts.
      </p>
      {rows.length ? (
        <DataTable caption="Warm machines" hideCaption columns={COLUMNS} rows={rows} />
      ) : (
        <p>None are kept warm, and none are suggested.</p>
      )}
      {acting.confirmAt || !lines.length ? null : <KeepWarm lines={lines} acting={acting} />}
    </Card>
  )
}

const kindText = ({ type, zone }: WarmLine) => `${type} in ${zone}`
const isWorthARow = ({ hours, ready, others, suggested }: WarmLine) => Boolean(hours || ready || others || suggested)

/** A long time zone may break after its slashes. */
function Hours({ text, timeZone }: { text: string; timeZone: string }) {
  return (
    <span>
      {`${text} (`}
      {timeZone.split('/').map((part, i) => (
        <Fragment key={part}>
          {i ? (
            <>
              /<wbr />
            </>
          ) : null}
          {part}
        </Fragment>
      ))}
      )
    </span>
  )
}

/** The time zone of all hours that are set; UTC before the first; empty if they differ, so that none moves unnoticed. */
function commonTimeZone(lines: WarmLine[]): string {
  const [first = 'UTC', ...others] = new Set(lines.filter(({ hours }) => hours).map((line) => line.time_zone))
  return others.length ? '' : first
}

/** Says what the hours would cost, or keeps machines warm in them. */
function KeepWarm({ lines, acting }: Props) {
  return (
    <ActForm
      id="warm"
      action="/admin/places/warm"
      acting={acting}
      title="Keep machines warm…"
      text="We launch them 15 minutes before their hours, replace each after a day, and end them after their hours. Other hours stay as they are. Enter 0 to keep none."
      button="Keep them warm"
      ask={{ name: 'only', value: 'cost', label: 'See the cost' }}
    >
      {(typed, error) => {
        const field = (name: string, label: string, otherwise?: string) =>
          ({
            id: `warm-${name}`,
            name,
            label,
            autoComplete: 'off',
            defaultValue: typed(name) ?? otherwise,
            error: error(name),
          }) as const
        return (
          <>
            <Select
              id="warm-kind"
              name="kind"
              label="Type and zone"
              options={lines.map((line) => ({ value: `${line.type} ${line.zone}`, label: kindText(line) }))}
              defaultValue={typed('kind')}
              error={error('type') ?? error('zone')}
            />
            <div className="pair">
              <Field {...field('hours', 'Hours')} placeholder="mon-fri 8-18, sat 9-12" required />
              <Field {...field('count', 'How many')} inputMode="numeric" required />
            </div>
            <div className="pair">
              <Field
                {...field('time_zone', 'Time zone', commonTimeZone(lines))}
                placeholder="Europe/Berlin"
                hint="For all hours of this type and zone. Leave empty to keep the current one."
              />
              <Field
                {...field('price', 'Dollars an hour for one')}
                placeholder="1.40"
                hint="To show the cost. Leave empty to keep it."
              />
            </div>
          </>
        )
      }}
    </ActForm>
  )
}
