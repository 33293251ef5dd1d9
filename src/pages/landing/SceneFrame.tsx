import {
  ASIDE,
  beam,
  drift,
  drone,
  ground,
  HEIGHT,
  profile,
  profiles,
  project,
  rover,
  STILL,
  sweeps,
  trail,
  UAV,
  UGV,
  type Vec,
  WIDTH,
} from '../../islands/hero/scene.ts'
import { line } from './line.ts'

const ROWS = 30
const COLUMNS = 40

const shift = drift(STILL)
const onScreen = (at: Vec) => project(at, shift)

/** Ground profiles and the lidar rows between them, from far to near, each hiding what is behind it. */
function layers() {
  const grounds = profiles(ROWS).map((z, i) => ({
    z,
    className: 'profile',
    d: `${line(profile(z, COLUMNS, shift).map(onScreen))}h9V${HEIGHT + 9}H0`,
    opacity: Math.round((0.3 + 0.6 * (i / ROWS)) * 100) / 100,
  }))
  const returns = sweeps(STILL)
    .filter(({ from, to }, i) => to - from > 0.2 && i % 2 === 0)
    .map(({ z, from, to }) => {
      const steps = Math.ceil((to - from) / 0.6)
      const points = Array.from({ length: steps + 1 }, (_, i) => from + ((to - from) * i) / steps)
      return { z, className: 'returns', d: line(points.map((x) => onScreen([x, ground(x, z), z]))), opacity: undefined }
    })
  return [...grounds, ...returns].sort((a, b) => b.z - a.z)
}

function Vehicle({ at, shape, className }: { at: Vec; shape: typeof UAV | typeof UGV; className: string }) {
  const [name, outline] = shape
  const [x, y] = onScreen(at).map(Math.round)
  return (
    <g className={className} transform={`translate(${x} ${y})`}>
      <path d={outline} />
      <text x={ASIDE[0]} y={ASIDE[1]}>
        {name}
      </text>
    </g>
  )
}

function Vehicles() {
  return (
    <>
      <path className="beam" d={`${line(beam(STILL).map(onScreen))}z`} />
      <path className="trail" d={line(trail(STILL, 14).map(onScreen))} />
      <Vehicle className="uav" at={drone(STILL).at} shape={UAV} />
      <Vehicle className="ugv" at={rover(STILL)} shape={UGV} />
    </>
  )
}

/** One frame of the survey, drawn on the server. */
export function SceneFrame() {
  return (
    <svg className="frame" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="xMidYMid slice" aria-hidden="true">
      <g className="survey">
        {layers().map(({ z, className, d, opacity }) => (
          <path key={z} className={className} d={d} strokeOpacity={opacity} />
        ))}
        <Vehicles />
      </g>
    </svg>
  )
}
