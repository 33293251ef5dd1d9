import { HEIGHT, profile, profiles, project, WIDTH } from '../../islands/hero/scene.ts'
import { line } from './line.ts'

/** A stretch of the landing page's ground with hills on both sides. */
const SHIFT = 2.6
const TOP = 150

let grounds: string[] | undefined

/** Decorates the foot of pages that have just one form or one sentence. */
export function Contours() {
  grounds ??= profiles(16).map((z) => {
    const points = profile(z, 40, SHIFT).map((point) => project(point, SHIFT))
    return `${line(points)}h9V${HEIGHT}H0`
  })
  return (
    <svg
      className="contours"
      viewBox={`0 ${TOP} ${WIDTH} ${HEIGHT - TOP}`}
      preserveAspectRatio="xMidYMin slice"
      aria-hidden="true"
    >
      {grounds.map((d) => (
        <path key={d} d={d} />
      ))}
    </svg>
  )
}
