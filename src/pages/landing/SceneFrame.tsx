import {
  beam,
  drift,
  drone,
  ground,
  HEIGHT,
  type Point,
  profile,
  profiles,
  project,
  rover,
  STILL,
  sweeps,
  trail,
  type Vec,
  WIDTH,
} from '../../islands/hero/scene.ts'

const ROWS = 30
const COLUMNS = 40

/** Whole numbers, relative to the point before: the shortest spelling of a line. */
function line(points: readonly Point[]): string {
  let [x, y] = [0, 0]
  return points
    .map(([px, py], i) => {
      const [dx, dy] = [Math.round(px) - x, Math.round(py) - y]
      x += dx
      y += dy
      return `${i ? (i === 1 ? 'l' : dx < 0 ? '' : ' ') : 'm'}${dx}${dy < 0 ? '' : ' '}${dy}`
    })
    .join('')
}

const shift = drift(STILL)
const onScreen = (at: Vec) => project(at, shift)

/** Ground profiles and the lidar rows between them, from far to near, each hiding what is behind it. */
function layers() {
  const grounds = profiles(ROWS).map((z, i) => ({
    z,
    className: 'profile',
    d: `${line(profile(z, COLUMNS, shift))}V${HEIGHT + 9}H0`,
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

function Vehicles() {
  const { at } = drone(STILL)
  const [x, y] = onScreen(at)
  const [rx, ry] = onScreen(rover(STILL))
  const at0 = (a: number, b: number) => `translate(${Math.round(a)} ${Math.round(b)})`
  return (
    <>
      <path className="beam" d={`${line(beam(STILL).map(onScreen))}z`} />
      <path className="trail" d={line(trail(STILL, 14).map(onScreen))} />
      <g className="uav" transform={at0(x, y)}>
        <path d="M-17-5 17 5M17-5-17 5" />
        <path d="M-27-6a10 4 0 1 0 20 0a10 4 0 1 0-20 0M7-6a10 4 0 1 0 20 0a10 4 0 1 0-20 0M-27 5a10 4 0 1 0 20 0a10 4 0 1 0-20 0M7 5a10 4 0 1 0 20 0a10 4 0 1 0-20 0" />
        <text x="36" y="-6">
          UAV-01
        </text>
      </g>
      <g className="ugv" transform={at0(rx, ry)}>
        <path d="M-15-6h30v-9h-9l-5-7h-9v7h-7zM-14-3a4 4 0 1 0 8 0a4 4 0 1 0-8 0M6-3a4 4 0 1 0 8 0a4 4 0 1 0-8 0" />
        <text x="24" y="-8">
          UGV-02
        </text>
      </g>
    </>
  )
}

/** One frame of the survey, drawn on the server. `id` names the drawing so that another picture can `<use>` it. */
export function SceneFrame({ id }: { id: string }) {
  return (
    <svg className="frame" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="xMidYMid slice" aria-hidden="true">
      <g id={id} className="survey">
        {layers().map(({ z, className, d, opacity }) => (
          <path key={z} className={className} d={d} strokeOpacity={opacity} />
        ))}
        <Vehicles />
      </g>
    </svg>
  )
}
