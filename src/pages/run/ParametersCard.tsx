import type { Server } from '../../domain/wire/fleet.ts'
import { Card } from '../../ui/Card.tsx'
import { DataTable } from '../../ui/DataTable.tsx'

const COLUMNS = [
  { key: 'name', label: 'Name', rowHeader: true },
  { key: 'value', label: 'Value' },
]

type Props = { server: Pick<Server, 'parameters' | 'until' | 'command'>; secrets: string[] }

/** The parameters that its start gave the container. Shows nothing if there were none. */
export function ParametersCard({ server, secrets }: Props) {
  const { parameters, until, command } = server
  const rows = [
    ...(until ? [{ id: 'until', name: 'Ends', value: 'With its program' }] : []),
    ...(command ? [{ id: 'command', name: 'Command', value: <code>{commandText(command)}</code> }] : []),
    ...Object.entries(parameters).map(([name, value]) => ({
      id: name,
      name: <code>{name}</code>,
      value: <code>{value}</code>,
    })),
    ...secrets.map((name) => ({ id: name, name: <code>{name}</code>, value: 'A secret' })),
  ]
  if (!rows.length) return null
  return (
    <Card title={until ? 'Program' : secrets.length ? 'Parameters and secrets' : 'Parameters'}>
      <DataTable
        caption="What its container was told"
        hideCaption
        columns={COLUMNS}
        rows={rows.map(({ id, name, value }) => ({ id, cells: { name, value } }))}
      />
    </Card>
  )
}

/** Quoted for a shell. */
const commandText = (words: string[]) =>
  words.map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
