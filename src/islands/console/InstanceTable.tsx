import type { MouseEvent } from 'react'
import { INSTANCE_COLUMNS, type InstanceView, instanceViewPath, sortedBy } from '../../domain/instance-view.ts'
import type { Instance } from '../../domain/wire.ts'
import { InstanceRow } from './InstanceRow.tsx'

type Props = {
  instances: Instance[]
  view: InstanceView
  /** What uptimes are counted to. */
  now: number
  local: boolean
  onView: (view: InstanceView) => void
}

/** Every row is a grid of its own with the same columns, so that the browser lays out only those that are seen. */
export function InstanceTable({ instances, view, now, local, onView }: Props) {
  return (
    <table className="fleet">
      <caption className="visually-hidden">Cloud instances</caption>
      <thead>
        <tr>
          {INSTANCE_COLUMNS.map(({ key, label }) => {
            const next = sortedBy(view, key)
            const sorted = view.sort === key ? (view.order === 'asc' ? 'ascending' : 'descending') : undefined
            return (
              <th key={key} scope="col" aria-sort={sorted}>
                <a href={instanceViewPath(next)} onClick={(event) => isPlainClick(event) && onView(next)}>
                  {label}
                </a>
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

/** One that does not ask for another tab; it is then ours and not the browser's. */
function isPlainClick(event: MouseEvent): boolean {
  const plain = !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) && event.button === 0
  if (plain) event.preventDefault()
  return plain
}
