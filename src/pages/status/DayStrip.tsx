import { instantText } from '../../domain/instant.ts'
import type { StatusDay } from '../../domain/status.ts'

const STEP = 8
const WIDTH = 6
const HEIGHT = 40
const DAY_MINUTES = 24 * 60
/** The shortest red bar that people can see. */
const LEAST = 8

/** One bar per day, red from the bottom up for the time lost, and a table of the days that lost any. */
export function DayStrip({ days }: { days: StatusDay[] }) {
  const lost = days.filter(({ minutes }) => minutes)
  return (
    <figure className="days">
      <svg
        viewBox={`0 0 ${days.length * STEP - (STEP - WIDTH)} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${days.length - lost.length} of ${days.length} days without an interruption.`}
      >
        {days.map(({ day, minutes }, i) => (
          <g key={day}>
            <title>{`${instantText(day, false)}: ${inWords(minutes)}`}</title>
            <rect
              className={minutes === null ? 'unknown' : minutes ? 'some' : 'good'}
              x={i * STEP}
              width={WIDTH}
              height={HEIGHT}
            />
            {minutes ? <Lost x={i * STEP} minutes={minutes} /> : null}
          </g>
        ))}
      </svg>
      <figcaption>
        <span>90 days ago</span>
        <span>Today</span>
      </figcaption>
      {lost.length ? (
        <details>
          <summary>Show the days with interruptions</summary>
          <table className="table table-fixed">
            <caption className="visually-hidden">Days with interruptions</caption>
            <tbody>
              {lost.toReversed().map(({ day, minutes }) => (
                <tr key={day}>
                  <th scope="row">{instantText(day, false)}</th>
                  <td className="num">{inWords(minutes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      ) : null}
    </figure>
  )
}

function Lost({ x, minutes }: { x: number; minutes: number }) {
  const height = Math.round(Math.max(LEAST, (minutes / DAY_MINUTES) * HEIGHT))
  return <rect className="lost" x={x} y={HEIGHT - height} width={WIDTH} height={height} />
}

function inWords(minutes: number | null): string {
  if (minutes === null) return 'not checked yet'
  if (minutes === 0) return 'no interruption'
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  return `${hours ? `${hours}h ` : ''}${rest}m`
}
