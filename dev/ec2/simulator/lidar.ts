import { bodyOf } from './body.ts'
import type { Kind, Vehicle } from './vehicle.ts'
import { raycast, type Vec, type World } from './world.ts'

const reach = 38
/** Turns per step. */
const rate = 1.25 / 120
/** Degrees up from level, per beam. A UAV's looks down. */
const beams: Record<Kind, number[]> = {
  uav: [-70, -58, -48, -40, -33, -27, -22, -17, -12, -7],
  ugv: [-26, -19, -14, -10.5, -8, -6, -4, -2, 2, 7],
}
const mount: Record<Kind, Vec> = { uav: [0, -0.2, 0], ugv: [0, 1.22, 0.25] }
const keep = 3600

/** A spinning lidar, and the last points it saw. The flight doesn't depend on it. */
export class Lidar {
  readonly #world: World
  readonly #kind: Kind
  points: Vec[] = []
  #oldest = 0

  constructor(world: World, kind: Kind) {
    this.#world = world
    this.#kind = kind
  }

  scan(vehicle: Vehicle, step: number): void {
    const body = bodyOf(vehicle)
    const from = body(...mount[this.#kind])
    const turn = step * rate * 2 * Math.PI
    for (const degrees of beams[this.#kind]) {
      const tilt = (degrees * Math.PI) / 180
      const bearing = vehicle.heading + turn
      const along: Vec = [Math.sin(bearing) * Math.cos(tilt), Math.sin(tilt), Math.cos(bearing) * Math.cos(tilt)]
      const far = raycast(this.#world, from, along, reach)
      if (far === null) continue
      const point: Vec = [from[0] + along[0] * far, from[1] + along[1] * far, from[2] + along[2] * far]
      if (this.points.length < keep) this.points.push(point)
      else this.points[this.#oldest++ % keep] = point
    }
  }
}
