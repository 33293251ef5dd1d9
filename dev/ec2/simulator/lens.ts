import type { Eye } from './camera.ts'
import type { Vec } from './world.ts'

/** A point as the eye sees it: to the right, up, and ahead, in meters. */
export type Seen = readonly [right: number, up: number, ahead: number]
export type Spot = readonly [x: number, y: number]

const near = 0.4

/** Maps points of the world to the picture. */
export class Lens {
  readonly eye: Eye
  readonly width: number
  readonly height: number
  readonly focal: number
  /** The horizon. */
  readonly horizon: number
  readonly #sinYaw: number
  readonly #cosYaw: number
  readonly #sinTilt: number
  readonly #cosTilt: number

  constructor(eye: Eye, width: number, height: number) {
    this.eye = eye
    this.width = width
    this.height = height
    this.focal = Math.min(height * 1.05, Math.max(width * 0.95, height * 0.6))
    this.#sinYaw = Math.sin(eye.yaw)
    this.#cosYaw = Math.cos(eye.yaw)
    this.#sinTilt = Math.sin(eye.tilt)
    this.#cosTilt = Math.cos(eye.tilt)
    this.horizon = height / 2 + (this.focal * this.#sinTilt) / this.#cosTilt
  }

  see([x, y, z]: Vec): Seen {
    const dx = x - this.eye.x
    const dy = y - this.eye.y
    const dz = z - this.eye.z
    const level = dx * this.#sinYaw + dz * this.#cosYaw
    const right = dx * this.#cosYaw - dz * this.#sinYaw
    return [right, dy * this.#cosTilt - level * this.#sinTilt, level * this.#cosTilt + dy * this.#sinTilt]
  }

  spot([right, up, ahead]: Seen): Spot {
    const scale = this.focal / ahead
    return [this.width / 2 + right * scale, this.height / 2 - up * scale]
  }

  /** Null if it is behind the eye. */
  project(point: Vec): Spot | null {
    const seen = this.see(point)
    return seen[2] < near ? null : this.spot(seen)
  }

  /** Pixels per meter at a point; 0 behind the eye. */
  scale(point: Vec): number {
    const ahead = this.see(point)[2]
    return ahead < near ? 0 : this.focal / ahead
  }

  /** A polygon in the picture, clipped at the eye; null if none of it is visible. */
  polygon(points: readonly Vec[]): Spot[] | null {
    const seen = points.map((point) => this.see(point))
    const found: Spot[] = []
    seen.forEach((to, i) => {
      const from = seen.at(i - 1) as Seen
      if (from[2] < near !== to[2] < near) found.push(this.spot(between(from, to)))
      if (to[2] >= near) found.push(this.spot(to))
    })
    return found.length > 2 && found.some(([x]) => x > 0) && found.some(([x]) => x < this.width) ? found : null
  }

  /** A line in the picture, clipped at the eye. */
  segment(a: Vec, b: Vec): [Spot, Spot] | null {
    const [from, to] = [this.see(a), this.see(b)]
    if (from[2] < near && to[2] < near) return null
    const cut = from[2] < near || to[2] < near ? between(from, to) : null
    return [this.spot(from[2] < near && cut ? cut : from), this.spot(to[2] < near && cut ? cut : to)]
  }

  /** Its distance over the ground. */
  distance(x: number, z: number): number {
    return Math.hypot(x - this.eye.x, z - this.eye.z)
  }
}

function between(from: Seen, to: Seen): Seen {
  const t = (near - from[2]) / (to[2] - from[2])
  return [from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1]), near]
}
