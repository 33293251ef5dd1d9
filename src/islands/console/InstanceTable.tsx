import type { MouseEvent } from 'react'
import { INSTANCE_COLUMNS, type InstanceView, instanceViewPath, sortedBy } from '../../domain/instance-view.ts'
import type { Instance } from '../../domain/wire.ts'
import { InstanceRow } from './InstanceRow.tsx'

type Props = {
  instances: Instance[]
  view: InstanceView
  /** Uptimes count up to this moment. */
  now: number
  local: boolean
  onView: (view: InstanceView) => void
}

/** Each row is its own grid with the same columns, so the browser lays out only the rows in view. */
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

/** A click that opens no new tab: we handle it, and the browser doesn't. */
function isPlainClick(event: MouseEvent): boolean {
  const plain = !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) && event.button === 0
  if (plain) event.preventDefault()
  return plain
}
