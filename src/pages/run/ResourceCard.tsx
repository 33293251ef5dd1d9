import { sizeText } from '../../domain/files.ts'
import { HOUR_MS, toIso } from '../../domain/instant.ts'
import { memoryOfType } from '../../domain/machine.ts'
import { condenseBy, type MachineUse, type Metric, ratesOf, type Sample } from '../../domain/run-metrics.ts'
import { niceCeiling } from '../../ui/BarChart.tsx'
import { Card } from '../../ui/Card.tsx'
import { DataTable } from '../../ui/DataTable.tsx'
import { Time } from '../../ui/Time.tsx'

type ResourceProps = { runId: string; instanceType: string; use: MachineUse }

/** More would be finer than the chart's lines. */
const POINTS = 120
const ROWS = 20

/** How busy the run's machine is: what people look at to tell a slow program from a full machine. */
export function ResourceCard({ runId, instanceType, use }: ResourceProps) {
  const { tier, tiers, since, until } = use
  const samples = condenseBy(tier.reachMs / POINTS, use.samples)
  const rows = condenseBy(tier.reachMs / ROWS, use.samples)
  const charts = chartsOf(samples, instanceType)
  const place = { times: samples.map(({ at }) => at), since, until }
  return (
    <Card title="Resource usage" id="resources">
      <div className="grid resources">
        {charts.map((chart) => (
          <Chart key={chart.title} {...chart} {...place} words={tier.words} />
        ))}
      </div>
      <div className="row">
        <span className="hint">
          <Time at={toIso(since)} layout={tier.reachMs > HALF_DAY_MS ? 'brief' : 'clock'} /> –{' '}
          <Time at={toIso(until)} layout={tier.reachMs > HALF_DAY_MS ? 'brief' : 'clock'} />
        </span>
        {tiers.length > 1 ? (
          <nav className="row no-print" aria-label="How far back">
            {tiers.map(({ last, words }) => (
              <a
                key={last}
                href={`/servers/${runId}?last=${last}#resources`}
                aria-current={last === tier.last || undefined}
              >
                {words}
              </a>
            ))}
          </nav>
        ) : null}
      </div>
      <details className="fold">
        <summary>Show as table</summary>
        <DataTable caption="Resource usage" hideCaption columns={COLUMNS} rows={rowsOf(rows)} />
      </details>
    </Card>
  )
}

const HALF_DAY_MS = 12 * HOUR_MS

/** `lines`: one, or what is sent and received. `top`: the scale's end. */
type ChartData = {
  title: string
  lines: (number | null)[][]
  top: number
  text: (value: number) => string
  /** The last values in words. */
  value: string
  legend?: string
}

function chartsOf(samples: Sample[], instanceType: string): ChartData[] {
  const memory = memoryOfType(instanceType)
  const disk = samples.findLast(({ disk_total_bytes }) => disk_total_bytes)?.disk_total_bytes ?? null
  const network = [ratesOf(samples, 'sent_bytes'), ratesOf(samples, 'received_bytes')]
  const [sent, received] = network.map(lastKnown)
  return [
    share('GPU', samples, 'gpu_percent'),
    part('GPU memory', samples, 'gpu_memory_bytes', memory?.gpu ?? null),
    share('CPU', samples, 'cpu_percent'),
    part('Memory', samples, 'memory_bytes', memory?.own ?? null),
    part('Disk', samples, 'disk_bytes', disk),
    {
      title: 'Network',
      lines: network,
      top: topOf(network.flat()),
      text: rateText,
      legend: 'solid: sent, dashed: received',
      value: `${rateText(sent ?? null)} sent, ${rateText(received ?? null)} received`,
    },
  ]
}

function share(title: string, samples: Sample[], metric: Metric): ChartData {
  const values = samples.map((sample) => sample[metric])
  return { title, lines: [values], top: 100, text: percentText, value: percentText(lastKnown(values)) }
}

/** Of `whole` bytes, if that is known. */
function part(title: string, samples: Sample[], metric: Metric, whole: number | null): ChartData {
  const values = samples.map((sample) => sample[metric])
  const last = lastKnown(values)
  const value = last !== null && whole ? `${percentText((100 * last) / whole)}, ${bytesText(last)}` : bytesText(last)
  return { title, lines: [values], top: whole ?? topOf(values), text: bytesText, value }
}

const NOTHING = '—'
const percentText = (value: number | null) => (value === null ? NOTHING : `${Math.round(value)} %`)
const bytesText = (value: number | null) => (value === null ? NOTHING : sizeText(value))
const rateText = (value: number | null) => (value === null ? NOTHING : `${sizeText(Math.round(value))}/s`)
const known = (values: (number | null)[]) => values.filter((value) => value !== null)
const lastKnown = (values: (number | null)[]) => values.at(-1) ?? null
const topOf = (values: (number | null)[]) => niceCeiling(Math.max(0, ...known(values)))

const [WIDTH, HEIGHT] = [240, 56]

type ChartProps = ChartData & { times: number[]; since: number; until: number; words: string }

function Chart({ title, lines, top, text, value, legend, times, since, until, words }: ChartProps) {
  const x = (at: number) => Math.round((WIDTH * (at - since)) / (until - since))
  const y = (of: number) => Math.round(HEIGHT * (1 - Math.min(1, of / top)) * 10) / 10
  const gap = (2.5 * (until - since)) / POINTS
  const range = known(lines.flat())
  const between = range.length ? `, from ${text(Math.min(...range))} to ${text(Math.max(...range))}` : ''
  return (
    <figure className="usage-chart">
      <figcaption>
        {title} <strong>{value}</strong>
      </figcaption>
      <svg
        viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} in ${words}: ${value}${between}`}
      >
        <path className="axis" d={`M0 0H${WIDTH}M0 ${HEIGHT}H${WIDTH}`} strokeDasharray="2 4" />
        {lines.map((values, i) => (
          <path
            key={i === 0 ? 'first' : 'second'}
            className="usage-line"
            d={values
              .map((of, k) => {
                const at = times[k] ?? 0
                if (of === null) return ''
                const goesOn = k > 0 && values[k - 1] !== null && at - (times[k - 1] ?? 0) < gap
                // A point of its own is a dot.
                return goesOn ? `L${x(at)} ${y(of)}` : `M${x(at)} ${y(of)}h.5`
              })
              .join('')}
          />
        ))}
      </svg>
      <span className="hint">{[text(top), legend].filter(Boolean).join(' · ')}</span>
    </figure>
  )
}

const COLUMNS = [
  { key: 'at', label: 'Until', rowHeader: true },
  { key: 'gpu', label: 'GPU', numeric: true },
  { key: 'gpuMemory', label: 'GPU memory', numeric: true },
  { key: 'cpu', label: 'CPU', numeric: true },
  { key: 'memory', label: 'Memory', numeric: true },
  { key: 'disk', label: 'Disk', numeric: true },
  { key: 'sent', label: 'Sent', numeric: true },
  { key: 'received', label: 'Received', numeric: true },
]

/** The newest first. */
function rowsOf(samples: Sample[]) {
  const [sent, received] = [ratesOf(samples, 'sent_bytes'), ratesOf(samples, 'received_bytes')]
  const rows = samples.map((sample, i) => ({
    id: String(sample.at),
    cells: {
      at: <Time at={toIso(sample.at)} layout="brief" />,
      gpu: percentText(sample.gpu_percent),
      gpuMemory: bytesText(sample.gpu_memory_bytes),
      cpu: percentText(sample.cpu_percent),
      memory: bytesText(sample.memory_bytes),
      disk: bytesText(sample.disk_bytes),
      sent: rateText(sent[i] ?? null),
      received: rateText(received[i] ?? null),
    },
  }))
  return rows.reverse()
}
