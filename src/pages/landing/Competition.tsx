import { DataTable } from '../../ui/DataTable.tsx'
import { Section } from './Section.tsx'

/** A made-up example; `turns` and `reach` give each path its shape. */
const ENTRIES = [
  { name: 'Kestrel', vehicle: 'UAV', seconds: 71.4, penalties: 0, turns: 3, reach: 8 },
  { name: 'Basalt', vehicle: 'UGV', seconds: 74.9, penalties: 0, turns: 2, reach: 5 },
  { name: 'Tern', vehicle: 'UAV', seconds: 73.2, penalties: 2, turns: 5, reach: 7 },
  { name: 'Marmot', vehicle: 'UGV', seconds: 88.0, penalties: 1, turns: 4, reach: 10 },
]

/** A path over the course, from the start on the left to the finish on the right. */
function Path({ turns, reach }: { turns: number; reach: number }) {
  const step = 88 / turns
  const half = step / 2
  return (
    <svg className="path" width="96" height="24" viewBox="0 0 96 24" aria-hidden="true">
      <path d={`M4 12q${half}-${reach * 2} ${step} 0${`t${step} 0`.repeat(turns - 1)}`} />
      <path d="M4 9v6M92 9v6" />
    </svg>
  )
}

export function Competition() {
  const ranked = ENTRIES.map((entry) => ({ ...entry, total: entry.seconds + 5 * entry.penalties })).sort(
    (a, b) => a.total - b.total,
  )
  return (
    <Section id="competition" label="Competition" title="Same course, same wind, same clock">
      <p className="muted lead">
        Every entry runs in the same world, so the ranking is fair: course time plus 5 s per missed gate.
      </p>
      <DataTable
        caption="Sample leaderboard"
        columns={[
          { key: 'rank', label: 'Rank' },
          { key: 'name', label: 'Entry', rowHeader: true },
          { key: 'vehicle', label: 'Vehicle' },
          { key: 'path', label: 'Path' },
          { key: 'missed', label: 'Gates missed', numeric: true },
          { key: 'total', label: 'Total', numeric: true },
        ]}
        rows={ranked.map(({ name, vehicle, penalties, total, turns, reach }, i) => ({
          id: name,
          cells: {
            rank: i + 1,
            name,
            vehicle,
            path: <Path turns={turns} reach={reach} />,
            missed: penalties,
            total: `${total.toFixed(1)} s`,
          },
        }))}
      />
    </Section>
  )
}
