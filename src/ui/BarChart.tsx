import type { InstantLayout } from '../domain/instant.ts'
import { EmptyState } from './States.tsx'
import { Time } from './Time.tsx'

/**
 * `tick`: the label below it. By default, as many bars are labeled as fit, five at most. `at`: the instant that its
 * label gives in UTC, which `showLocalTimes` shows by the reader's clock.
 */
type Bar = { label: string; value: number; tick?: string; at?: string; layout?: InstantLayout }

type BarChartProps = {
  bars: Bar[]
  unit: string
  caption: string
  /** Shown when every bar is zero. */
  empty: string
  /** The most decimals of a figure. */
  digits?: number
}

const WIDTH = 440
const HEIGHT = 130
/** A letter's width on a phone, where the chart's text is larger. */
const LETTER = 9

/** The next of 1, 2, 5, 10, 20, 50 … at or above `n`: a scale that people read at a glance. */
export function niceCeiling(n: number): number {
  if (n <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(n))
  return ([1, 2, 5, 10].find((step) => step * power >= n) ?? 10) * power
}

/** Bars drawn on the server, with the same figures in a table for people who can't or don't want to read bars. */
export function BarChart({ bars, unit, caption, empty, digits = 2 }: BarChartProps) {
  if (bars.every(({ value }) => value === 0))
    return (
      <figure className="chart">
        <figcaption>{caption}</figcaption>
        <EmptyState>{empty}</EmptyState>
      </figure>
    )
  const top = niceCeiling(Math.max(0, ...bars.map((bar) => bar.value)))
  const step = WIDTH / Math.max(1, bars.length)
  const width = Math.min(36, step * 0.7)
  const longest = Math.max(...bars.map(({ label }) => label.length))
  const every = Math.ceil(bars.length / Math.min(5, Math.floor(WIDTH / (longest + 1) / LETTER)))
  const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: digits })
  const format = (value: number) => `${number.format(value)} ${unit}`
  return (
    <figure className="chart stack">
      <figcaption>{caption}</figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT + 28}`}
        role="img"
        aria-label={`${caption}. See the table below for the figures.`}
      >
        <path className="axis" d={`M0 14H${WIDTH}M0 ${HEIGHT + 0.5}H${WIDTH}`} strokeDasharray="2 4" />
        <text y="8">{format(top)}</text>
        {bars.map(({ label, value, tick, at, layout }, i) => {
          const time = { 'data-at': at, 'data-layout': layout }
          const below = tick ?? (i % every === 0 ? label : '')
          const height = Math.round((value / top) * (HEIGHT - 14) * 10) / 10
          const x = Math.round((i * step + (step - width) / 2) * 10) / 10
          return (
            <g key={label}>
              <rect
                className="bar-fill"
                x={x}
                y={HEIGHT - height}
                width={Math.round(width * 10) / 10}
                height={height}
                rx="2"
              >
                <title {...time} data-after={at && `: ${format(value)}`}>{`${label}: ${format(value)}`}</title>
              </rect>
              {below ? (
                <text
                  {...time}
                  x={i || bars.length === 1 ? Math.round((i + 0.5) * step) : 0}
                  y={HEIGHT + 20}
                  textAnchor={i || bars.length === 1 ? 'middle' : 'start'}
                >
                  {below}
                </text>
              ) : null}
            </g>
          )
        })}
      </svg>
      <details>
        <summary>Show as table</summary>
        <table className="table table-fixed">
          <caption className="visually-hidden">{caption}</caption>
          <tbody>
            {bars.map(({ label, value, at, layout = 'full' }) => (
              <tr key={label}>
                <th scope="row">{at ? <Time at={at} layout={layout} /> : label}</th>
                <td className="num">{format(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  )
}
