import type { ReactNode } from 'react'
import { costSoFar } from '../../domain/money/cost-chart.ts'
import { costText, fineDollars } from '../../domain/money/money.ts'
import { type CostLine, type RunCostSum, sumOfLines } from '../../domain/money/run-cost.ts'
import { BarChart } from '../../ui/BarChart.tsx'
import { Card } from '../../ui/Card.tsx'
import { DataTable } from '../../ui/DataTable.tsx'
import { Time } from '../../ui/Time.tsx'

const COLUMNS = [
  { key: 'what', label: 'Bill', rowHeader: true },
  { key: 'from', label: 'From' },
  { key: 'until', label: 'Until' },
  { key: 'seconds', label: 'Seconds', numeric: true },
  { key: 'included', label: 'Included', numeric: true },
  { key: 'billed', label: 'Billed', numeric: true },
  { key: 'price', label: 'Price', numeric: true, lead: true },
]

/** A run's part of each bill. */
type ReceiptProps = {
  lines: CostLine[]
  startup: { from: string; until: string; seconds: number }
  said: string | null
  /** Below the table. */
  children?: ReactNode
}

export function ReceiptCard({ lines, startup, said, children }: ReceiptProps) {
  const total = sumOfLines(lines)
  return (
    <Card title="Receipt" id="receipt">
      {said ? <p>{said}</p> : null}
      <DataTable
        caption="What this server cost, by bill"
        hideCaption
        columns={COLUMNS}
        rows={[
          {
            id: 'startup',
            cells: {
              what: 'Startup',
              from: <When at={startup.from} />,
              until: <When at={startup.until} />,
              seconds: startup.seconds.toLocaleString('en-US'),
              included: '—',
              billed: '0',
              price: 'Free',
            },
          },
          ...lines.map((line, i) => ({ id: `${line.bill?.id ?? 'open'} ${i}`, cells: cellsOf(line) })),
        ]}
        foot={{ what: 'Total', ...figures(total, costText(total.dollars)) }}
      />
      <p className="hint table-note">
        Startup, failed starts, and shutdown are free. Included hours are used up first. Each bill is rounded once, to
        cents.
      </p>
      {children}
    </Card>
  )
}

const When = ({ at }: { at: string }) => (
  <span className="when">
    <Time at={at} layout="day" />
    <Time at={at} layout="clock" />
  </span>
)

function cellsOf(line: CostLine) {
  const billed = line.seconds - line.included
  return {
    what: line.bill ? (
      <a href={`/billing_history/${line.bill.id}`}>
        {line.correction ? 'Correction' : 'Bill'} <Time at={line.bill.start_date} /> – <Time at={line.bill.end_date} />
      </a>
    ) : line.trial ? (
      'Free trial'
    ) : (
      'Not billed yet'
    ),
    from: line.correction ? '—' : <When at={line.start} />,
    until: line.correction ? '—' : <When at={line.end} />,
    ...figures({ ...line, included_seconds: line.included, billed_seconds: billed }, fineDollars(line.dollars)),
  }
}

function figures({ seconds, included_seconds, billed_seconds }: Omit<RunCostSum, 'dollars'>, price: string) {
  const number = (n: number) => n.toLocaleString('en-US')
  return {
    seconds: number(seconds),
    included: number(included_seconds),
    billed: number(billed_seconds),
    price,
  }
}

/** In dollars: below the table, the chart's axis has four decimals. */
const SMALL = 0.1

/** Shows nothing for a run that costs nothing. */
export function CostChart({ lines }: { lines: CostLine[] }) {
  const bars = costSoFar(lines)
  const top = bars.at(-1)?.value ?? 0
  if (!top) return null
  return (
    <Card title="Cost over time">
      <BarChart bars={bars} unit="USD" digits={top < SMALL ? 4 : 2} caption="Cost so far" empty="" />
    </Card>
  )
}
