import { clamp, type Kind, type Stick, type Vehicle, wrap } from './vehicle.ts'
import { type Gate, raycast, topAt, type World } from './world.ts'

/** Steers through `gate` toward the one after it, and slows down for turns. */
export function autopilot(world: World, kind: Kind, vehicle: Vehicle, gate: Gate, after: Gate): Stick {
  const [sin, cos] = [Math.sin(gate.heading), Math.cos(gate.heading)]
  const behind = (gate.x - vehicle.x) * sin + (gate.z - vehicle.z) * cos
  const aside = Math.abs((gate.x - vehicle.x) * cos - (gate.z - vehicle.z) * sin)
  // It must enter from the front, so if it is beside or past the gate, it first goes to a point before it.
  const before = behind < 1 + aside ? 10 : Math.min(6, behind * 0.35)
  const [x, z] = [gate.x - before * sin, gate.z - before * cos]
  const error = wrap(Math.atan2(x - vehicle.x, z - vehicle.z) - vehicle.heading)
  const far = Math.hypot(gate.x - vehicle.x, gate.z - vehicle.z)
  const bend = Math.abs(wrap(Math.atan2(after.x - gate.x, after.z - gate.z) - gate.heading))
  const hurry = clamp(far / 22 + 0.9 - bend, 0.45, 1)
  const forward = clamp(hurry * Math.cos(clamp(error * 1.3, -1.5, 1.5)), kind === 'uav' ? 0 : 0.3, 0.95)
  const stick = { forward, side: 0, turn: clamp(error * (kind === 'uav' ? 1.9 : 2.4)), climb: 0 }
  return kind === 'uav' ? { ...stick, ...heightOf(world, vehicle, gate, far, forward) } : swerve(world, vehicle, stick)
}

/** Stays above what lies ahead, then takes the gate's height. */
function heightOf(world: World, vehicle: Vehicle, gate: Gate, far: number, forward: number): Partial<Stick> {
  const [sin, cos] = [Math.sin(vehicle.heading), Math.cos(vehicle.heading)]
  // Look only as far as the gate: there may be a wall right behind it.
  const tops = [0, 3, 6, 9, 13, 18]
    .filter((d) => d < far - 1)
    .map((d) => topAt(world, vehicle.x + d * sin, vehicle.z + d * cos, vehicle.y + 1.5) + 1.6)
  const wanted = Math.max(gate.y, ...tops)
  const climb = clamp((wanted - vehicle.y) * 0.55)
  return { climb, forward: wanted - vehicle.y > 3 ? forward * 0.15 : forward }
}

/** Turns away from obstacles within 7 m. */
function swerve(world: World, vehicle: Vehicle, stick: Stick): Stick {
  const feel = (angle: number) => {
    const [sin, cos] = [Math.sin(vehicle.heading + angle), Math.cos(vehicle.heading + angle)]
    return raycast({ ...world, flat: true }, [vehicle.x, vehicle.y + 0.6, vehicle.z], [sin, 0, cos], 7) ?? 7
  }
  const [left, right] = [feel(-0.45), feel(0.45)]
  const nearest = Math.min(left, right, feel(0))
  if (nearest >= 7) return stick
  const away = left < right ? 1 : -1
  return {
    ...stick,
    turn: clamp(stick.turn + away * (1.4 - nearest / 7)),
    forward: stick.forward * (0.35 + nearest / 11),
  }
}
