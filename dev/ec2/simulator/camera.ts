import type { Vehicle } from './vehicle.ts'
import { raycast, type Vec, type World } from './world.ts'

export type CameraMode = 'follow' | 'free'

/** Where the camera is, and its direction in radians: clockwise from north, and up. */
export type Eye = { x: number; y: number; z: number; yaw: number; tilt: number }

/** `look` is the tilt of the picture, which shows more of what lies ahead. */
const follow = { far: 6.6, tilt: -0.3, look: -0.12 }
const lookAbove = 0.5

/** Follows behind the vehicle, or circles it the way you drag. */
export class Camera {
  mode: CameraMode = 'follow'
  /** Null until it has seen the vehicle. */
  #yaw: number | null = null
  #orbit = { yaw: 0, tilt: -0.5, far: 14 }

  toggle(): void {
    this.mode = this.mode === 'follow' ? 'free' : 'follow'
    if (this.mode === 'free') this.#orbit = { yaw: this.#yaw ?? 0, tilt: -0.45, far: 13 }
  }

  /** Jumps behind the vehicle, as after a reset. */
  snap(): void {
    this.#yaw = null
  }

  /** Turns by radians, and scales the distance. Only the free camera can turn. */
  turn(yaw: number, tilt: number, far = 1): void {
    const orbit = this.#orbit
    this.#orbit = {
      yaw: orbit.yaw + yaw,
      tilt: Math.max(-1.45, Math.min(0.05, orbit.tilt + tilt)),
      far: Math.max(4, Math.min(90, orbit.far * far)),
    }
  }

  /** @param dt seconds since the last look. The camera lags behind, so that turns are visible. */
  look(world: World, vehicle: Vehicle, dt: number): Eye {
    const behind = this.#yaw ?? vehicle.heading
    const lag = Math.atan2(Math.sin(vehicle.heading - behind), Math.cos(vehicle.heading - behind))
    this.#yaw = behind + lag * (1 - Math.exp(-3 * dt))
    const free = { ...this.#orbit, look: this.#orbit.tilt }
    const { yaw, tilt, far, look } = this.mode === 'follow' ? { ...follow, yaw: this.#yaw } : free
    const from = [vehicle.x, vehicle.y + lookAbove, vehicle.z] as const
    const back: Vec = [-Math.sin(yaw) * Math.cos(tilt), -Math.sin(tilt), -Math.cos(yaw) * Math.cos(tilt)]
    // Stay in front of a wall that would hide the vehicle.
    const room = Math.max(2.2, (raycast(world, from, back, far + 0.6) ?? far + 0.6) - 0.6)
    const [x, y, z] = [from[0] + back[0] * room, from[1] + back[1] * room, from[2] + back[2] * room]
    return { x, y: Math.max(y, world.ground(x, z) + 0.7), z, yaw, tilt: look }
  }
}
