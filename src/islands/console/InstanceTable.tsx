import { INSTANCE_COLUMNS, type InstanceView, sortedBy } from '../../domain/instance-view.ts'
import type { Instance } from '../../domain/wire/fleet.ts'
import { InstanceRow } from './InstanceRow.tsx'
import { type OnView, ViewLink } from './ViewLink.tsx'

type Props = {
  instances: Instance[]
  view: InstanceView
  /** Uptimes count up to this moment. */
  now: number
  local: boolean
  onView: OnView
}

/** Each row is its own grid with the same columns, so the browser lays out only the rows in view. */
export function InstanceTable({ instances, view, now, local, onView }: Props) {
  return (
    <table className="fleet">
      <caption className="visually-hidden">Cloud instances</caption>
      <thead>
        <tr>
          {INSTANCE_COLUMNS.map(({ key, label }) => {
            const sorted = view.sort === key ? (view.order === 'asc' ? 'ascending' : 'descending') : undefined
            return (
              <th key={key} scope="col" aria-sort={sorted}>
                <ViewLink to={sortedBy(view, key)} onView={onView}>
                  {label}
                </ViewLink>
              </th>
            )
          })}
        </tr>
      </thead>
      <tbody>
        {instances.map((instance) => (
          <InstanceRow key={instance.instance_id} instance={instance} now={now} local={local} />
        ))}
      </tbody>
    </table>
  )
}
