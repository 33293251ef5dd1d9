import { sizeText } from '../../domain/files.ts'
import { HOUR_MS, toIso } from '../../domain/instant.ts'
import { memoryOfType } from '../../domain/machine.ts'
import { condenseBy, type MachineUse, type Metric, ratesOf, type Sample } from '../../domain/run-metrics.ts'
import { niceCeiling } from '../../ui/BarChart.tsx'
import { Card } from '../../ui/Card.tsx'
import { DataTable } from '../../ui/DataTable.tsx'
import { Time } from '../../ui/Time.tsx'

type ResourceProps = { runId: string; instanceType: string; use: MachineUse }

/** More points would be finer than the chart's lines. */
const POINTS = 120
const ROWS = 20

/** How busy the run's machine is, to tell a slow program from a full machine. */
export function ResourceCard({ runId, instanceType, use }: ResourceProps) {
  const { tier, tiers, since, until } = use
  const finestMs = tier.everySeconds * 1_000
  const periodMs = Math.max(finestMs, (until - since) / POINTS)
  const samples = condenseBy(periodMs, use.samples)
  const rows = condenseBy(Math.max(finestMs, (until - since) / ROWS), use.samples)
  const charts = chartsOf(samples, instanceType)
  const place = { times: samples.map(({ at }) => at), since, until, gap: 2.5 * periodMs }
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

/** `lines`: one, or what is sent and received. `top`: the scale's end. `hint`: what the value doesn't say. */
type ChartData = {
  title: string
  lines: (number | null)[][]
  top: number
  text: (value: number) => string
  /** The last values in words. */
  value: string
  hint: string | null
}

function chartsOf(samples: Sample[], instanceType: string): ChartData[] {
  const memory = memoryOfType(instanceType)
  const disk = samples.findLast(({ disk_total_bytes }) => disk_total_bytes)?.disk_total_bytes ?? null
  const network = [ratesOf(samples, 'sent_bytes'), ratesOf(samples, 'received_bytes')]
  const [sent, received] = network.map(lastKnown)
  const isKnown = known(network.flat()).length > 0
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
      hint: isKnown ? `Up to ${rateText(topOf(network.flat()))}. Sent: solid, received: dashed` : null,
      value: isKnown ? `${rateText(sent ?? null)} sent, ${rateText(received ?? null)} received` : NOTHING,
    },
  ]
}

function share(title: string, samples: Sample[], metric: Metric): ChartData {
  const values = samples.map((sample) => sample[metric])
  return { title, lines: [values], top: 100, text: percentText, value: percentText(lastKnown(values)), hint: null }
}

/** Out of `whole` bytes, if known. */
function part(title: string, samples: Sample[], metric: Metric, whole: number | null): ChartData {
  const values = samples.map((sample) => sample[metric])
  const last = lastKnown(values)
  const value = last !== null && whole ? `${percentText((100 * last) / whole)}, ${bytesText(last)}` : bytesText(last)
  const top = whole ?? topOf(values)
  return {
    title,
    lines: [values],
    top,
    text: bytesText,
    value,
    hint: whole || last === null ? null : `Up to ${bytesText(top)}`,
  }
}

const NOTHING = '—'
const percentText = (value: number | null) => (value === null ? NOTHING : `${Math.round(value)} %`)
const bytesText = (value: number | null) => (value === null ? NOTHING : sizeText(value))
const rateText = (value: number | null) => (value === null ? NOTHING : `${sizeText(Math.round(value))}/s`)
const known = (values: (number | null)[]) => values.filter((value) => value !== null)
const lastKnown = (values: (number | null)[]) => values.at(-1) ?? null
const topOf = (values: (number | null)[]) => niceCeiling(Math.max(0, ...known(values)))

const [WIDTH, HEIGHT] = [240, 56]

type ChartProps = ChartData & { times: number[]; since: number; until: number; gap: number; words: string }

function Chart({ title, lines, top, text, value, hint, times, since, until, gap, words }: ChartProps) {
  const x = (at: number) => Math.round((WIDTH * (at - since)) / (until - since))
  const y = (of: number) => Math.round(HEIGHT * (1 - Math.min(1, of / top)) * 10) / 10
  const range = known(lines.flat())
  const between = range.length ? `, from ${text(Math.min(...range))} to ${text(Math.max(...range))}` : ''
  const drawn = lines.map((values) =>
    strokesOf(values, times, gap).map((stroke) => stroke.map(([at, of]) => `${x(at)} ${y(of)}`)),
  )
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
        {lines.length === 1 ? <path className="usage-area" d={drawn[0]?.map(areaOf).join('')} /> : null}
        {drawn.map((strokes, i) => (
          // A point without neighbors becomes a dot.
          <path
            key={LINE_KEYS[i]}
            className="usage-line"
            d={strokes.map((points) => `M${points.join('L')}h.5`).join('')}
          />
        ))}
      </svg>
      {hint ? <span className="hint">{hint}</span> : null}
    </figure>
  )
}

const LINE_KEYS = ['first', 'second']

/** Points drawn without lifting the pen: a gap in time, or an unknown value, ends the line. */
function strokesOf(values: (number | null)[], times: number[], gap: number): [at: number, of: number][][] {
  const strokes: [number, number][][] = []
  let before = -Infinity
  for (const [i, of] of values.entries()) {
    const at = times[i] ?? 0
    if (of === null) {
      before = -Infinity
      continue
    }
    if (at - before > gap) strokes.push([])
    strokes.at(-1)?.push([at, of])
    before = at
  }
  return strokes
}

function areaOf(points: string[]): string {
  const [first, last] = [points[0], points.at(-1)].map((point) => point?.split(' ')[0])
  return `M${first} ${HEIGHT}L${points.join('L')}L${last} ${HEIGHT}Z`
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
