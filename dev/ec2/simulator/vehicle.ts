import type { Gate, World } from './world.ts'

export type Kind = 'uav' | 'ugv'

/** The pilot's input, each from -1 to 1: forward, right, turn right, up. */
export type Stick = { forward: number; side: number; turn: number; climb: number }

/** Meters, seconds, radians. Heading is clockwise from north; pitch is nose up; roll is right side down. */
export type Vehicle = {
  x: number
  y: number
  z: number
  vx: number
  vy: number
  vz: number
  heading: number
  pitch: number
  roll: number
  /** Its turn rate, per second. */
  turning: number
  /** The angle of a UGV's front wheels. */
  steer: number
  /** How far it has traveled, which turns a UGV's wheels. */
  travel: number
  /** How often it has hit something. */
  bumps: number
}

/** The physics of one kind of vehicle. `step` is pure: the same vehicle and stick give the same vehicle, bit for bit. */
export type Model = {
  kind: Kind
  name: string
  /** How far its middle must stay from obstacles. */
  radius: number
  start(world: World, gate: Gate): Vehicle
  step(world: World, vehicle: Vehicle, stick: Stick): Vehicle
}

export const STEPS_PER_SECOND = 120
export const DT = 1 / STEPS_PER_SECOND
export const GRAVITY = 9.81

export const NEUTRAL: Stick = { forward: 0, side: 0, turn: 0, climb: 0 }

export const clamp = (value: number, low = -1, high = 1) => Math.max(low, Math.min(high, value))

/** The share of a difference that remains after one step, if it closes at `rate` per second. */
export const settle = (value: number, target: number, rate: number) =>
  value + (target - value) * (1 - Math.exp(-rate * DT))

export const wrap = (angle: number) => Math.atan2(Math.sin(angle), Math.cos(angle))

/** At rest, facing its first gate. */
export function atRest(x: number, y: number, z: number, heading: number): Vehicle {
  const still = { vx: 0, vy: 0, vz: 0, pitch: 0, roll: 0, turning: 0, steer: 0, travel: 0, bumps: 0 }
  return { x, y, z, heading, ...still }
}

/** Pushes a vehicle out of obstacles and keeps it inside the world. It loses the speed it hit them with. */
export function pushOut(world: World, vehicle: Vehicle, radius: number): Vehicle {
  let { x, y, z, vx, vy, vz, bumps } = vehicle
  const hit = (speed: number) => {
    if (Math.abs(speed) > 1) bumps += 1
    return 0
  }
  for (const s of world.solids) {
    const outs = [
      [x - (s.x0 - radius), 'x', -1],
      [s.x1 + radius - x, 'x', 1],
      [y - (s.y0 - radius), 'y', -1],
      [s.y1 + radius - y, 'y', 1],
      [z - (s.z0 - radius), 'z', -1],
      [s.z1 + radius - z, 'z', 1],
    ] as const
    if (outs.some(([depth]) => depth <= 0)) continue
    const [depth, axis, way] = outs.reduce((least, next) => (next[0] < least[0] ? next : least))
    if (axis === 'x') {
      x += depth * way
      if (vx * way < 0) vx = hit(vx)
    } else if (axis === 'y') {
      y += depth * way
      if (vy * way < 0) vy = hit(vy)
    } else {
      z += depth * way
      if (vz * way < 0) vz = hit(vz)
    }
  }
  const far = Math.sqrt(x * x + z * z)
  if (far > world.edge) {
    const outward = (vx * x + vz * z) / far
    if (outward > 0) {
      vx -= (outward * x) / far
      vz -= (outward * z) / far
    }
    x *= world.edge / far
    z *= world.edge / far
  }
  return { ...vehicle, x, y, z, vx, vy, vz, bumps }
}
