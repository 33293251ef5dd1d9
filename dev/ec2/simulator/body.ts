import type { Vehicle } from './vehicle.ts'
import type { Vec } from './world.ts'

/** From a vehicle's own axes (right, up, forward, in meters) to the world. */
export function bodyOf({ x, y, z, heading, pitch, roll }: Vehicle): (right: number, up: number, ahead: number) => Vec {
  const [sinH, cosH, sinP, cosP] = [Math.sin(heading), Math.cos(heading), Math.sin(pitch), Math.cos(pitch)]
  const [sinR, cosR] = [Math.sin(roll), Math.cos(roll)]
  const forward: Vec = [sinH * cosP, sinP, cosH * cosP]
  const level: Vec = [cosH, 0, -sinH]
  const upright: Vec = [-sinH * sinP, cosP, -cosH * sinP]
  const mix = (a: Vec, s: number, b: Vec, t: number): Vec => [
    a[0] * s + b[0] * t,
    a[1] * s + b[1] * t,
    a[2] * s + b[2] * t,
  ]
  const rightward = mix(level, cosR, upright, -sinR)
  const upward = mix(upright, cosR, level, sinR)
  return (r, u, a) => [
    x + r * rightward[0] + u * upward[0] + a * forward[0],
    y + r * rightward[1] + u * upward[1] + a * forward[1],
    z + r * rightward[2] + u * upward[2] + a * forward[2],
  ]
}
