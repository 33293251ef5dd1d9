import type { Course } from './course.ts'
import { type Kind, type Vehicle, wrap } from './vehicle.ts'
import { type Gate, raycast, type World } from './world.ts'

export type Telemetry = {
  /** m/s over the ground. */
  speed: number
  /** Meters above whatever is right below. */
  height: number
  /** Degrees, 0 to 359. */
  heading: number
  /** Meters to the next obstacle ahead; null if there is none within 40. */
  range: number | null
  /** Meters, and degrees to the right. */
  gate: { distance: number; bearing: number }
  /** Seconds in the current lap; null before the first gate. */
  lap: number | null
}

const degrees = (angle: number) => (angle * 180) / Math.PI
const feelers = [-0.2, -0.1, 0, 0.1, 0.2]

export function readTelemetry(world: World, kind: Kind, vehicle: Vehicle, course: Course, gate: Gate): Telemetry {
  const { x, y, z, vx, vz, heading } = vehicle
  const from = [x, y + (kind === 'ugv' ? 0.7 : 0), z] as const
  const ranges = feelers.map((off) => raycast(world, from, [Math.sin(heading + off), 0, Math.cos(heading + off)], 40))
  const near = Math.min(...ranges.map((range) => range ?? 40))
  const below = raycast(world, [x, y, z], [0, -1, 0], 100)
  return {
    speed: Math.hypot(vx, vz),
    height: kind === 'uav' ? (below ?? 100) : y,
    heading: ((Math.round(degrees(heading)) % 360) + 360) % 360,
    range: near < 40 ? near : null,
    gate: {
      distance: Math.hypot(gate.x - x, gate.y - y, gate.z - z),
      bearing: Math.round(degrees(wrap(Math.atan2(gate.x - x, gate.z - z) - heading))),
    },
    lap: course.lapFrom === null ? null : course.time - course.lapFrom,
  }
}

/** `1:02.35` */
export function lapText(seconds: number): string {
  const hundredths = Math.floor(seconds * 100 + 1e-6)
  const [minutes, rest] = [Math.floor(hundredths / 6000), hundredths % 6000]
  return `${minutes}:${String(Math.floor(rest / 100)).padStart(2, '0')}.${String(rest % 100).padStart(2, '0')}`
}

/** A compass heading in three digits: `005°`. */
export const headingText = (heading: number) => `${String(heading).padStart(3, '0')}°`

/** What "Read telemetry" says to screen readers. */
export function spokenTelemetry(kind: Kind, course: Course, gates: number, t: Telemetry): string {
  const side = t.gate.bearing < 0 ? 'left' : 'right'
  const turn = Math.abs(t.gate.bearing) < 3 ? 'straight ahead' : `${Math.abs(t.gate.bearing)} degrees to the ${side}`
  return [
    `Gate ${course.next + 1} of ${gates}: ${t.gate.distance.toFixed(0)} meters, ${turn}.`,
    `Speed ${t.speed.toFixed(1)} meters per second, heading ${t.heading} degrees${kind === 'uav' ? `, height ${t.height.toFixed(1)} meters` : ''}.`,
    t.range === null ? 'Nothing ahead within 40 meters.' : `Next obstacle ahead: ${t.range.toFixed(0)} meters.`,
    t.lap === null ? 'The clock starts at gate 1.' : `Lap ${course.laps + 1}: ${t.lap.toFixed(1)} seconds.`,
    ...(course.best === null ? [] : [`Best lap: ${course.best.toFixed(2)} seconds.`]),
  ].join(' ')
}
