import { DT, type Kind, type Vehicle } from './vehicle.ts'
import type { Gate, World } from './world.ts'

export type Course = {
  /** Index of the next gate. */
  next: number
  /** Seconds. */
  time: number
  /** When the current lap began; null before the first gate. */
  lapFrom: number | null
  laps: number
  last: number | null
  best: number | null
}

const sizes: Record<Kind, { width: number; height: number }> = {
  uav: { width: 6, height: 4.4 },
  ugv: { width: 6.4, height: 3 },
}

/** How far above or below a frame a vehicle's middle may pass, because the ground under it isn't level. */
const slack = 0.5

export function gatesOf(world: World, kind: Kind): Gate[] {
  const { spots } = world
  return spots.map(([x, z, lift], i) => {
    const [fromX, fromZ] = spots.at(i - 1) as (typeof spots)[number]
    const [toX, toZ] = spots[(i + 1) % spots.length] as (typeof spots)[number]
    const size = sizes[kind]
    const y = world.ground(x, z) + (kind === 'uav' ? Math.max(lift, size.height / 2 + 0.6) : size.height / 2)
    return { x, y, z, heading: Math.atan2(toX - fromX, toZ - fromZ), ...size }
  })
}

export const startCourse = (): Course => ({ next: 0, time: 0, lapFrom: null, laps: 0, last: null, best: null })

/** Counts the step from `before` to `after`. A lap goes from the first gate, through all the others, back to the first. */
export function advance(course: Course, gates: Gate[], before: Vehicle, after: Vehicle): Course {
  const time = course.time + DT
  const gate = gates[course.next]
  const share = gate ? crossing(gate, before, after) : null
  if (share === null) return { ...course, time }
  const next = (course.next + 1) % gates.length
  if (course.next > 0) return { ...course, time, next }
  // It crosses the line within the step.
  const now = course.time + share * DT
  if (course.lapFrom === null) return { ...course, time, next, lapFrom: now }
  const last = now - course.lapFrom
  return { time, next, lapFrom: now, laps: course.laps + 1, last, best: Math.min(last, course.best ?? last) }
}

/** The share of the step before the gate; null if the step doesn't pass through it forward. */
function crossing(gate: Gate, before: Vehicle, after: Vehicle): number | null {
  const [sin, cos] = [Math.sin(gate.heading), Math.cos(gate.heading)]
  const ahead = ({ x, z }: Vehicle) => (x - gate.x) * sin + (z - gate.z) * cos
  const [from, to] = [ahead(before), ahead(after)]
  if (!(from < 0 && to >= 0)) return null
  const share = from / (from - to)
  const x = before.x + share * (after.x - before.x)
  const y = before.y + share * (after.y - before.y)
  const z = before.z + share * (after.z - before.z)
  const aside = (x - gate.x) * cos - (z - gate.z) * sin
  return Math.abs(aside) <= gate.width / 2 && Math.abs(y - gate.y) <= gate.height / 2 + slack ? share : null
}
