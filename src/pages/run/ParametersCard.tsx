import type { Server } from '../../domain/wire.ts'
import { Card } from '../../ui/Card.tsx'
import { DataTable } from '../../ui/DataTable.tsx'

const COLUMNS = [
  { key: 'name', label: 'Name', rowHeader: true },
  { key: 'value', label: 'Value' },
]

/** What its start told the container. Nothing, if that was nothing. */
export function ParametersCard({ parameters }: Pick<Server, 'parameters'>) {
  const all = Object.entries(parameters)
  if (!all.length) return null
  return (
    <Card title="Parameters">
      <DataTable
        caption="What its container was told"
        hideCaption
        columns={COLUMNS}
        rows={all.map(([name, value]) => ({
          id: name,
          cells: { name: <code>{name}</code>, value: <code>{value}</code> },
        }))}
      />
    </Card>
  )
}
