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
  { key: 'price', label: 'Price', numeric: true },
]

/** A run's part of each bill. */
type ReceiptProps = {
  lines: CostLine[]
  startup: { from: string; until: string; seconds: number }
  said: string | null
}

export function ReceiptCard({ lines, startup, said }: ReceiptProps) {
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
              from: utc(startup.from),
              until: utc(startup.until),
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
        cents. Times are in UTC.
      </p>
    </Card>
  )
}

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
    from: line.correction ? '—' : utc(line.start),
    until: line.correction ? '—' : utc(line.end),
    ...figures({ ...line, included_seconds: line.included, billed_seconds: billed }, fineDollars(line.dollars)),
  }
}

export const utc = (iso: string | null) => (iso ? `${iso.slice(0, 10)} ${iso.slice(11, 19)}` : '—')

function figures({ seconds, included_seconds, billed_seconds }: Omit<RunCostSum, 'dollars'>, price: string) {
  const number = (n: number) => n.toLocaleString('en-US')
  return {
    seconds: number(seconds),
    included: number(included_seconds),
    billed: number(billed_seconds),
    price,
  }
}

/** In dollars: below it, the chart's axis has four decimals. */
const SMALL = 0.1

export function CostChart({ lines, free }: { lines: CostLine[]; free: string }) {
  const bars = costSoFar(lines)
  const top = bars.at(-1)?.value ?? 0
  return (
    <Card title="Cost over time">
      <BarChart bars={bars} unit="USD" digits={top < SMALL ? 4 : 2} caption="Cost so far (UTC)" empty={free} />
    </Card>
  )
}
