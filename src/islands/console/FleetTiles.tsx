import type { FleetFigures } from '../../domain/instance.ts'
import type { InstanceShow, InstanceView } from '../../domain/instance-view.ts'
import { dollars } from '../../domain/money/money.ts'
import { type OnView, ViewLink } from './ViewLink.tsx'

type Props = { figures: FleetFigures; view: InstanceView; onView: OnView }

/** Totals for all instances. Press one to show only those; press it again to show all. */
export function FleetTiles({ figures, view, onView }: Props) {
  const only = (show: InstanceShow): InstanceView => ({ ...view, show: view.show === show ? 'all' : show, page: 1 })
  const byCost = view.sort === 'cost_dollars' && view.order === 'desc'
  const tiles = [
    { label: 'Running', value: figures.running, to: only('running'), on: view.show === 'running' },
    { label: 'Starting or stopping', value: figures.changing, to: only('changing'), on: view.show === 'changing' },
    { label: 'Impaired', value: figures.unwell, to: only('impaired'), on: view.show === 'impaired' },
  ]
  return (
    <nav className="stats tiles" aria-label="Totals for all instances">
      {tiles.map(({ label, value, to, on }, i) => (
        <ViewLink key={label} to={to} onView={onView} current={on}>
          <span>{label}</span> <strong>{value.toLocaleString('en-US')}</strong>
          {i ? null : <span>{` of ${figures.all.toLocaleString('en-US')} instances`}</span>}
        </ViewLink>
      ))}
      <ViewLink to={{ ...view, sort: 'cost_dollars', order: 'desc', page: 1 }} onView={onView} current={byCost}>
        <span>Cost so far</span> <strong>{dollars(figures.dollars)}</strong> <span>at list price</span>
      </ViewLink>
    </nav>
  )
}
