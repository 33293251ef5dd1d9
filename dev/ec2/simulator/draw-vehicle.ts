import { bodyOf } from './body.ts'
import type { Brush } from './brush.ts'
import { uavParts } from './draw-uav.ts'
import { ugvParts } from './draw-ugv.ts'
import type { Part } from './parts.ts'
import type { Kind, Vehicle } from './vehicle.ts'
import type { Vec, World } from './world.ts'

/** @param spin how far the rotors have turned; null to hold them still */
export function paintVehicle(brush: Brush, kind: Kind, vehicle: Vehicle, spin: number | null): void {
  const body = bodyOf(vehicle)
  const parts = kind === 'uav' ? uavParts(brush, body, spin) : ugvParts(brush, body, vehicle)
  const ahead = ({ at }: Part) => brush.lens.see(at)[2]
  for (const { paint } of parts.sort((a, b) => ahead(b) - ahead(a))) paint()
}

/** What it covers of the ground, softer the higher it is. */
export function paintShadow(brush: Brush, world: World, kind: Kind, { x, y, z, heading }: Vehicle): void {
  const above = y - world.ground(x, z)
  const [long, wide] = kind === 'uav' ? [0.95, 0.95] : [1, 0.75]
  const [sx, sz] = [x + above * 0.5, z + above * 0.5]
  const points = Array.from({ length: 14 }, (_, i): Vec => {
    const angle = (i / 14) * 2 * Math.PI
    const [a, r] = [long * Math.cos(angle), wide * Math.sin(angle)]
    const [px, pz] = [
      sx + a * Math.sin(heading) + r * Math.cos(heading),
      sz + a * Math.cos(heading) - r * Math.sin(heading),
    ]
    return [px, world.ground(px, pz) + 0.04, pz]
  })
  brush.face(points, brush.palette.of('ink', Math.max(0.08, 0.42 - above * 0.02)))
}
